//! Common imports: types, the processor trait, host ports, and functions that compile and assemble.
//!
//! ```
//! use ctx_engine::prelude::*;
//!
//! let compiled = Engine::new().compile(&Agent::default(), &Compile::default());
//! let context = compiled.assemble_blocking(&Session::new("s1"), &TurnInput::new("Hello"))?;
//! assert_eq!(context.messages[0].role, Role::User);
//! # Ok::<(), AssembleError>(())
//! ```

// Compile, assemble and encode.
pub use crate::{
    AssembleError, Compile, CompiledAgent, Context, Dialect, Encoded, Engine, Format, ImportError, Imported,
    Ports, Request, Switches, TurnCache, read_agent, read_conversation, read_profile, read_worldbook,
};
pub use ctx_anchors::AnchorDefinition;
pub use ctx_tokens::{Counter, ModelTable};

// Data types.
pub use ctx_types::DepthPoints;
pub use ctx_types::ports::ToolDefinition;
pub use ctx_types::report::{Decision, Outcome, Report};
pub use ctx_types::session::{Node, NodeId, Session, SessionOp, visible_path};
pub use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
pub use ctx_types::{
    Agent, Attachment, CachePolicy, Content, ContentPart, Diagnostic, GenerationKind, Injection, Message,
    Order, Phrase, Place, Placement, PresetMessage, Role, Severity, Source, SourceKind, Text, ToolCall,
    Trust, TurnInput, UserProfile, phrase,
};

// Processors.
pub use ctx_pipeline::{
    Cancel, Config, ConfigField, ContextProcessor, Descriptor, FieldKind, FieldOption, PipelineContext,
    PrepareContext, PrepareInput, PreparedData, ProcessorError, ProcessorResult, SettingsReader,
    TypedProcessor, async_trait,
};

// Host ports.
pub use ctx_types::ports::{
    AssetStore, AttachmentPorts, Deadline, DocumentText, Embedder, PortError, PortErrorKind, PortFuture,
    Stopwatch, Summarizer, SummaryAnswer, SummaryRequest, SystemInfo, TokenCounter, ToolCatalog, Transcriber,
};
