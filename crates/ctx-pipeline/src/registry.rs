//! The processors of an application, as a value.

use std::fmt;
use std::sync::Arc;

use crate::processor::{ContextProcessor, Descriptor};
use crate::settings::canonical_id;

/// The processors of an application, in the order of registration.
#[derive(Clone, Default)]
pub struct ProcessorRegistry {
    processors: Vec<Registered>,
}

#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) descriptor: Descriptor,
    pub(crate) processor: Arc<dyn ContextProcessor>,
}

/// Why a processor cannot be registered or unregistered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// A processor with this id exists.
    #[error("processor `{id}` is registered already")]
    Duplicate {
        /// The id.
        id: Arc<str>,
    },
    /// The processor is core.
    #[error("processor `{id}` is core and cannot be unregistered")]
    Core {
        /// The id.
        id: Arc<str>,
    },
    /// No processor has this id.
    #[error("no processor `{id}`")]
    Unknown {
        /// The id.
        id: Arc<str>,
    },
}

impl ProcessorRegistry {
    /// Adds a processor.
    pub fn register(&mut self, processor: Arc<dyn ContextProcessor>) -> Result<(), RegistryError> {
        let descriptor = processor.descriptor();
        if self.get(&descriptor.id).is_some() {
            return Err(RegistryError::Duplicate { id: descriptor.id });
        }
        self.processors.push(Registered { descriptor, processor });
        Ok(())
    }

    /// Removes a processor that is not core.
    pub fn unregister(&mut self, id: &str) -> Result<(), RegistryError> {
        let id = canonical_id(id);
        let found = self.processors.iter().position(|known| &*known.descriptor.id == id);
        let index = found.ok_or_else(|| RegistryError::Unknown { id: Arc::from(id) })?;
        if self.processors.get(index).is_some_and(|known| known.descriptor.is_core) {
            return Err(RegistryError::Core { id: Arc::from(id) });
        }
        self.processors.remove(index);
        Ok(())
    }

    /// Returns the descriptor of a processor; AIO Hub's spellings of ids are understood.
    pub fn get(&self, id: &str) -> Option<&Descriptor> {
        let id = canonical_id(id);
        self.descriptors().find(|descriptor| &*descriptor.id == id)
    }

    /// Returns all descriptors, in the order of registration.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.processors.iter().map(|known| &known.descriptor)
    }

    pub(crate) fn processors(&self) -> &[Registered] {
        &self.processors
    }
}

impl fmt::Debug for ProcessorRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.descriptors().map(|descriptor| &descriptor.id)).finish()
    }
}
