use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// Values that processors share during one run: typed values, and JSON of foreign plug-ins.
///
/// Copy-on-write: a clone is O(1). The runner restores it after a failure.
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
    /// Never iterated, so its order does not matter.
    typed: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    json: BTreeMap<String, BTreeMap<String, Arc<Value>>>,
}

impl Blackboard {
    /// Stores a value, replacing an earlier value of its type.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        Arc::make_mut(&mut self.0).typed.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// Returns the value of a type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.typed.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Stores JSON under the name of a plug-in.
    pub fn set_json(&mut self, plugin: &str, key: &str, value: Value) {
        let values = Arc::make_mut(&mut self.0).json.entry(plugin.to_owned()).or_default();
        values.insert(key.to_owned(), Arc::new(value));
    }

    /// Returns JSON stored under the name of a plug-in.
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
