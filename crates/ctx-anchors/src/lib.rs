//! Named anchors.
mod codes;
mod registry;
pub use registry::{AnchorDefinition, AnchorRegistry, RegistryError};
