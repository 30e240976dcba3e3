//! What processors leave for each other during one run.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde_json::Value;

/// What processors leave for each other during one run: typed values, and JSON of foreign plug-ins.
///
/// ```
/// use ctx_pipeline::Blackboard;
///
/// struct Mood(&'static str);
/// let mut blackboard = Blackboard::default();
/// blackboard.insert(Mood("calm"));
/// assert_eq!(blackboard.get::<Mood>().map(|mood| mood.0), Some("calm"));
/// ```
#[derive(Default)]
pub struct Blackboard {
    /// Only looked up by type, never listed, so that its order shows nowhere.
    typed: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    json: BTreeMap<(String, String), Value>,
}

impl Blackboard {
    /// Leaves a value, in place of an earlier one of its type.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        self.typed.insert(TypeId::of::<T>(), Box::new(value));
    }

    /// Returns the value of a type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.typed.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Returns the value of a type, to be changed.
    pub fn get_mut<T: Any + Send + Sync>(&mut self) -> Option<&mut T> {
        self.typed.get_mut(&TypeId::of::<T>())?.downcast_mut()
    }

    /// Leaves JSON under a plug-in's own name.
    pub fn set_json(&mut self, plugin: &str, key: &str, value: Value) {
        self.json.insert((plugin.to_owned(), key.to_owned()), value);
    }

    /// Returns JSON that was left under a plug-in's name.
    pub fn json(&self, plugin: &str, key: &str) -> Option<&Value> {
        self.json.get(&(plugin.to_owned(), key.to_owned()))
    }
}

impl fmt::Debug for Blackboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blackboard").field("typed", &self.typed.len()).field("json", &self.json).finish()
    }
}
