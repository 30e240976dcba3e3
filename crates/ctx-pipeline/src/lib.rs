//! The processor trait, processor settings, and the runner of the pipeline.
//!
//! Start with [`ContextProcessor`]: a custom processor implements `descriptor` and `execute`. Processors with typed
//! settings implement [`TypedProcessor`], like the built-in ones in `ctx-processors`. Needs no async runtime and
//! reads no clock.
//!
//! ```
//! use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError, async_trait};
//! use ctx_types::{Message, Role, Source, SourceKind, Trust};
//!
//! struct Signature;
//!
//! #[async_trait]
//! impl ContextProcessor for Signature {
//!     fn descriptor(&self) -> Descriptor {
//!         Descriptor::new("signature", "Signature", "Adds a closing line")
//!     }
//!
//!     async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
//!         let source = Source::new(SourceKind::Plugin, Trust::Preset).with_id("signature");
//!         cx.draft.messages_mut().push(Message::new(Role::System, "Sign as Robin.", source));
//!         Ok(())
//!     }
//! }
//! assert_eq!(Signature.descriptor().priority, 900);
//! ```
#![warn(clippy::disallowed_methods)]

mod blackboard;
pub mod codes;
mod context;
mod control;
mod draft;
mod error;
mod guard;
mod log;
mod pipeline;
mod processor;
mod provenance;
mod registry;
mod run;
mod settings;
mod spelling;
mod trace;
mod typed;

pub use async_trait::async_trait;
pub use blackboard::Blackboard;
pub use context::{Inputs, PipelineContext};
pub use control::Cancel;
pub use ctx_types::{ConfigField, FieldKind, FieldOption};
pub use draft::Draft;
pub use error::{ProcessorError, ProcessorResult, RunError};
pub use processor::{ContextProcessor, Descriptor, PrepareContext, PreparedData};
pub use registry::{ProcessorRegistry, RegistryError};
pub use settings::{Config, SettingOrigin, SettingValue, SettingsReader};
pub use typed::{PrepareInput, TypedProcessor};

// Not part of the API: only for the crates of this workspace. It may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::pipeline::Pipeline;
    pub use crate::processor::CompileContext;
    pub use crate::run::Run;
    pub use crate::settings::{
        ConfigValue, EffectiveSetting, MAX_PRIORITY, ProcessorSetting, SettingPlace, SettingsLayer,
        SourcedValue,
    };
}
