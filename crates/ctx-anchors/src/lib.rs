//! Orders preset entries, history, and injections by their placements and anchors.
//!
//! Start with [`assemble`]. The caller expands macros in a render callback.
//!
//! ```
//! use ctx_anchors::{AnchorRegistry, Preset, RenderedText, Target, assemble};
//! use ctx_types::{Agent, Persist, Reader};
//! use ctx_types::session::Window;
//!
//! let file = serde_json::json!({ "presetMessages": [{ "role": "system", "content": "Be kind." }] });
//! let agent = Agent::read(file, &mut Reader::new());
//! let (preset, diagnostics) = Preset::compile(&agent, &AnchorRegistry::system());
//! assert!(diagnostics.is_empty());
//! let assembled = assemble(&preset, Window::default(), Vec::new(), Target::default(), &mut |request| {
//!     RenderedText::unchanged(request.text)
//! });
//! assert_eq!(assembled.messages[0].text(), "Be kind.");
//! ```
#![warn(clippy::disallowed_methods)]

mod assemble;
mod check;
pub mod codes;
mod compile;
mod gaps;
mod model_match;
mod preset;
mod registry;
mod render;
mod slots;

pub use assemble::{AssembledPreset, assemble};
pub use model_match::Target;
pub use preset::Preset;
pub use registry::{AnchorDefinition, AnchorRegistry, RegistryError};
pub use render::{RenderRequest, RenderedText};

// Not part of the API: may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::preset::{Entry, EntryPart};
}
