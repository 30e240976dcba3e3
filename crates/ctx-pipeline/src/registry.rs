use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::processor::{ContextProcessor, Descriptor};
use crate::spelling::{canonical_id, group_members};

/// The processors of an application, in order of registration. A value, not a global.
#[derive(Clone, Default)]
pub struct ProcessorRegistry {
    processors: Vec<RegisteredProcessor>,
}

#[derive(Clone)]
pub(crate) struct RegisteredProcessor {
    pub(crate) descriptor: Descriptor,
    pub(crate) processor: Arc<dyn ContextProcessor>,
}

/// Error of registering a processor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The id is already registered.
    #[error("processor `{id}` is registered already")]
    Duplicate {
        /// The id.
        id: Arc<str>,
    },
    /// The id is blank, or names a group of processors.
    #[error("`{id}` cannot be the id of a processor")]
    Reserved {
        /// The id.
        id: Arc<str>,
    },
    /// A setting is declared twice, or has an invalid default.
    #[error("setting `{key}` of processor `{id}` {fault}")]
    Field {
        /// Processor id.
        id: Arc<str>,
        /// Key of the setting.
        key: Arc<str>,
        /// Description of the fault.
        fault: String,
    },
}

impl ProcessorRegistry {
    /// Adds a processor. Removes AIO Hub's prefixes from its id. O(processors).
    ///
    /// # Errors
    ///
    /// [`RegistryError::Duplicate`], [`RegistryError::Reserved`], [`RegistryError::Field`].
    pub fn register(&mut self, processor: Arc<dyn ContextProcessor>) -> Result<(), RegistryError> {
        let mut descriptor = processor.descriptor();
        let id: Arc<str> = Arc::from(canonical_id(&descriptor.id));
        if id.is_empty() || group_members(&id).is_some() {
            return Err(RegistryError::Reserved { id });
        }
        if self.place(&id).is_some() {
            return Err(RegistryError::Duplicate { id });
        }
        check_fields(&id, &descriptor)?;
        descriptor.id = id;
        self.processors.push(RegisteredProcessor { descriptor, processor });
        Ok(())
    }

    /// Returns the descriptor of a processor; accepts AIO Hub's spellings of ids.
    pub fn get(&self, id: &str) -> Option<&Descriptor> {
        Some(&self.processors[self.place(id)?].descriptor)
    }

    /// Returns all descriptors, in order of registration.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.processors.iter().map(|known| &known.descriptor)
    }

    pub(crate) fn processors(&self) -> &[RegisteredProcessor] {
        &self.processors
    }

    pub(crate) fn place(&self, id: &str) -> Option<usize> {
        let id = canonical_id(id);
        self.processors.iter().position(|known| *known.descriptor.id == *id)
    }
}

impl fmt::Debug for ProcessorRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.descriptors().map(|descriptor| &descriptor.id)).finish()
    }
}

fn check_fields(id: &Arc<str>, descriptor: &Descriptor) -> Result<(), RegistryError> {
    let mut keys = BTreeSet::new();
    for field in &descriptor.config_fields {
        let fault = match field.check(&field.default) {
            Err(expected) => format!("has the default `{}`, expected {expected}", field.default),
            Ok(()) if !keys.insert(&field.key) => "is declared twice".to_owned(),
            Ok(()) => continue,
        };
        return Err(RegistryError::Field { id: id.clone(), key: field.key.clone(), fault });
    }
    Ok(())
}
