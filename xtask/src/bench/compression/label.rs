//! Conversations with the labels of what they say.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::output;

/// A conversation of the set.
pub(super) struct Conversation {
    pub(super) name: String,
    pub(super) messages: Vec<Value>,
    pub(super) facts: Vec<Fact>,
    /// Values that were replaced: the old one and the new one.
    pub(super) updates: Vec<(Fact, Fact)>,
}

/// Something that a reader may need later.
#[derive(Clone)]
pub(super) struct Fact {
    /// The ways to write it, in lower case.
    pub(super) spellings: Vec<String>,
    /// Words of a question about it.
    pub(super) cues: Vec<String>,
}

impl Conversation {
    /// Reads every file of a folder, in the order of their names.
    pub(super) fn read_all(folder: &Path) -> Result<Vec<Self>> {
        let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        paths.sort();
        paths.iter().map(|path| Self::read(path).with_context(|| format!("in {}", path.display()))).collect()
    }

    fn read(path: &Path) -> Result<Self> {
        let value: Value = serde_json::from_slice(&fs::read(path)?)?;
        let list = |key: &str| value.get(key).and_then(Value::as_array).cloned().context(key.to_owned());
        let facts: Vec<Fact> = list("facts")?.iter().map(Fact::read).collect();
        let fact = |update: &Value, key: &str| {
            let place = usize::try_from(update.get(key)?.as_u64()?).ok()?;
            facts.get(place).cloned()
        };
        let updates = list("updates")?
            .iter()
            .filter_map(|update| Some((fact(update, "old")?, fact(update, "new")?)))
            .collect();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, messages: list("messages")?, facts, updates })
    }

    /// What the conversation costs by the estimate.
    pub(super) fn tokens(&self) -> u64 {
        output::tokens(&self.messages)
    }
}

impl Fact {
    fn read(value: &Value) -> Self {
        let texts = |key: &str| {
            let list = value.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_lowercase).collect()
        };
        Self { spellings: texts("spellings"), cues: texts("cues") }
    }
}
