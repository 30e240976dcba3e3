use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// Values that processors share during one run, by type.
///
/// Copy-on-write: a clone is O(1). The runner restores it after a failure.
#[derive(Clone, Default)]
pub struct Blackboard(
    /// Never iterated, so its order does not matter.
    Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
);

impl Blackboard {
    /// Stores a value, replacing an earlier value of its type.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        Arc::make_mut(&mut self.0).insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// Returns the value of a type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

ctx_types::opaque!(Blackboard);
