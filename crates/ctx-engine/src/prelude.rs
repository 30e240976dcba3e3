//! What most programs need, so that they depend on this crate alone.
//!
//! Nouns (agents, messages, sessions, decisions), the contract of processors, the ports that a host fills, and
//! what compiles and assembles. `ctx_engine::import` reads the files of other applications, `ctx_engine::compress`
//! writes summaries, and `ctx_engine::inspect` looks at what was made.
//!
//! ```
//! use ctx_engine::prelude::*;
//!
//! let compiled = Engine::new().compile(&Agent::default(), &Compile::default());
//! let context = compiled.assemble_blocking(&Session::new("s1"), &TurnInput::new("Hello"))?;
//! assert_eq!(context.messages[0].role, Role::User);
//! # Ok::<(), AssembleError>(())
//! ```

// What compiles, assembles and encodes.
pub use crate::{
    AssembleError, Compile, CompiledAgent, Context, ConversationMemory, Dialect, Encoded, Engine, Format,
    ImportError, Imported, Limits, Ports, Request, Switches, read_agent, read_conversation, read_profile,
    read_worldbook,
};
pub use ctx_anchors::AnchorDefinition;
pub use ctx_tokens::{Counter, ModelTable};

// The nouns.
pub use ctx_types::{
    Agent, Attachment, CachePolicy, Content, ContentPart, Decision, DepthPoints, Diagnostic, GenerationKind,
    Injection, LoadedWorldbook, Message, Node, NodeId, Order, Outcome, Phrase, Place, Placement,
    PresetMessage, Report, Role, Session, SessionOp, Severity, Source, SourceKind, Text, ToolCall,
    ToolDefinition, Trust, TurnInput, UserProfile, Worldbook, phrase, visible_path,
};

// What a processor is made of.
pub use ctx_pipeline::{
    Cancel, Config, ConfigField, ContextProcessor, Descriptor, FieldKind, FieldOption, PipelineContext,
    PrepareContext, Prepared, ProcessorError, async_trait,
};

// What a host may lend.
pub use ctx_types::{
    AssetStore, AttachmentPorts, Deadline, DocumentText, Embedder, PortError, PortErrorKind, PortFuture,
    Stopwatch, Summarizer, SummaryAnswer, SummaryRequest, SystemInfo, TokenCounter, ToolCatalog, Transcriber,
};
