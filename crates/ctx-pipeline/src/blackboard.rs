//! What processors leave for each other during one run.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// What processors leave for each other during one run: typed values, and JSON of foreign plug-ins.
///
/// Copy-on-write like the draft: a copy is O(1), so that what a failed processor left is taken back, and a
/// run can be repeated from any stage.
///
/// ```
/// use ctx_pipeline::Blackboard;
///
/// struct Mood(&'static str);
/// let mut blackboard = Blackboard::default();
/// blackboard.insert(Mood("calm"));
/// assert_eq!(blackboard.get::<Mood>().map(|mood| mood.0), Some("calm"));
///
/// blackboard.set_json("weather", "sky", serde_json::json!("grey"));
/// assert_eq!(blackboard.json("weather", "sky"), Some(&serde_json::json!("grey")));
/// ```
#[derive(Clone, Default)]
pub struct Blackboard(Arc<Values>);

#[derive(Clone, Default)]
struct Values {
    /// Only looked up by type, never listed, so that its order shows nowhere.
    typed: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// By plug-in, then by key.
    json: BTreeMap<String, BTreeMap<String, Arc<Value>>>,
}

impl Blackboard {
    /// Leaves a value, in place of an earlier one of its type.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        Arc::make_mut(&mut self.0).typed.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// Returns the value of a type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.typed.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Returns the value of a type, to be changed; the value is copied if a saved state of the run has it too.
    pub fn get_mut<T: Any + Send + Sync + Clone>(&mut self) -> Option<&mut T> {
        // Looked up first, so that asking for what is not there copies nothing.
        self.get::<T>()?;
        let value = Arc::make_mut(&mut self.0).typed.get_mut(&TypeId::of::<T>())?;
        if Arc::get_mut(value).is_none() {
            let copy = value.downcast_ref::<T>()?.clone();
            *value = Arc::new(copy);
        }
        Arc::get_mut(value)?.downcast_mut()
    }

    /// Leaves JSON under a plug-in's own name.
    pub fn set_json(&mut self, plugin: &str, key: &str, value: Value) {
        let values = Arc::make_mut(&mut self.0).json.entry(plugin.to_owned()).or_default();
        values.insert(key.to_owned(), Arc::new(value));
    }

    /// Returns JSON that was left under a plug-in's name.
    pub fn json(&self, plugin: &str, key: &str) -> Option<&Value> {
        self.0.json.get(plugin)?.get(key).map(|value| &**value)
    }
}

impl fmt::Debug for Blackboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Values { typed, json } = &*self.0;
        f.debug_struct("Blackboard").field("typed", &typed.len()).field("json", json).finish()
    }
}
