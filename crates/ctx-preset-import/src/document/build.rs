//! Builds one JSON value from a parser's events, and notes what does not fit into it.
//!
//! The same visitor serves JSON and YAML, so that both treat doubled keys and odd numbers alike.

use std::fmt;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, Reader, phrase};
use serde::Deserializer;
use serde::de::{DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::codes;
use crate::document::key::{Key, KeySeed};

/// Collects what is said about a document while its value is built.
#[derive(Debug)]
pub(super) struct Builder {
    nodes_left: usize,
    merge_keys: bool,
    /// In how many objects the value being read is.
    depth: usize,
    /// How many keys the last object of each depth had: the next one mostly has the same.
    keys: Vec<usize>,
    /// What was noted, and the place in the document.
    notes: Reader,
    /// Whether the limit of values was reached, which the parser reports as an error of its own kind.
    pub(super) exhausted: bool,
}

impl Builder {
    /// Creates a builder of at most `nodes` values, which resolves YAML merge keys if asked to.
    pub(super) fn new(nodes: usize, merge_keys: bool) -> Self {
        Self {
            nodes_left: nodes,
            merge_keys,
            depth: 0,
            keys: Vec::new(),
            notes: Reader::new(),
            exhausted: false,
        }
    }

    /// Reads one value.
    pub(super) fn read<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<Value, D::Error> {
        // An object that is broken is not left.
        self.depth = 0;
        Seed { builder: self, step: Step::None }.deserialize(deserializer)
    }

    /// Reads the value of one line of many, at whose index its notes point.
    pub(super) fn read_line<'de, D: Deserializer<'de>>(
        &mut self,
        index: usize,
        deserializer: D,
    ) -> Result<Value, D::Error> {
        let before = self.notes.enter_index(index);
        let value = self.read(deserializer);
        self.notes.leave(before);
        value
    }

    /// Returns what was noted, in the order of the document.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        self.notes.finish()
    }

    /// Notes something about the value being read.
    pub(super) fn note(&mut self, diagnostic: Diagnostic) {
        self.notes.report(diagnostic);
    }

    /// Notes something about one line of many.
    pub(super) fn note_line(&mut self, index: usize, diagnostic: Diagnostic) {
        self.notes.at_index(index, |notes| notes.report(diagnostic));
    }

    /// Goes one step down.
    fn enter(&mut self, step: Step<'_>) -> Option<usize> {
        match step {
            Step::None => None,
            Step::Key(key) => Some(self.notes.enter_key(key)),
            Step::Index(index) => Some(self.notes.enter_index(index)),
        }
    }

    /// Goes back to where it was before a step.
    fn leave(&mut self, before: Option<usize>) {
        if let Some(before) = before {
            self.notes.leave(before);
        }
    }

    fn note_at(&mut self, key: &str, diagnostic: Diagnostic) {
        self.notes.at_key(key, |notes| notes.report(diagnostic));
    }

    fn count<E: Error>(&mut self) -> Result<(), E> {
        let Some(left) = self.nodes_left.checked_sub(1) else {
            self.exhausted = true;
            return Err(E::custom("too many values"));
        };
        self.nodes_left = left;
        Ok(())
    }

    /// Goes into an object; returns for how many keys it should have room.
    fn open_object(&mut self) -> usize {
        self.depth += 1;
        self.keys.get(self.depth - 1).map_or(0, |keys| (*keys).min(MOST_ROOM))
    }

    /// Leaves an object of so many keys.
    fn close_object(&mut self, keys: usize) {
        self.depth -= 1;
        if self.keys.len() <= self.depth {
            self.keys.resize(self.depth + 1, 0);
        }
        self.keys[self.depth] = keys;
    }

    fn number(&mut self, number: f64, written: impl fmt::Display) -> Value {
        let Some(number) = Number::from_f64(number) else {
            let message = phrase!(
                "number `{written}` is not representable in JSON; null is used",
                written = written.to_string()
            );
            self.note(Diagnostic::warning(codes::NUMBER, message));
            return Value::Null;
        };
        Value::Number(number)
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript reads such a number just so, and it is noted")]
    fn huge(&mut self, number: i128) -> Value {
        let message =
            phrase!("number `{number}` is too large to be stored exactly", number = number.to_string());
        self.note(Diagnostic::warning(codes::NUMBER, message));
        self.number(number as f64, number)
    }
}

/// For how many keys an object gets room before they are read, at most.
const MOST_ROOM: usize = 64;

/// Reads one value into its builder.
struct Seed<'b> {
    builder: &'b mut Builder,
    step: Step<'b>,
}

/// The step that leads to a value from what is around it. Most values are simple ones with nothing odd about them, so
/// that it is written only where it is needed.
#[derive(Clone, Copy)]
enum Step<'b> {
    None,
    Key(&'b str),
    Index(usize),
}

impl Seed<'_> {
    /// Lets the builder say something of the value itself.
    fn here<T>(self, say: impl FnOnce(&mut Builder) -> T) -> T {
        let before = self.builder.enter(self.step);
        let said = say(self.builder);
        self.builder.leave(before);
        said
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.builder.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(self.here(|builder| builder.huge(value)))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(self.here(|builder| builder.huge(i128::try_from(value).unwrap_or(i128::MAX))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(match Number::from_f64(value) {
            Some(number) => Value::Number(number),
            None => self.here(|builder| builder.number(value, value)),
        })
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let Self { builder, step } = self;
        let before = builder.enter(step);
        let mut items = Vec::new();
        while let Some(item) =
            access.next_element_seed(Seed { builder: &mut *builder, step: Step::Index(items.len()) })?
        {
            items.push(item);
        }
        builder.leave(before);
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let Self { builder, step } = self;
        let before = builder.enter(step);
        let room = builder.open_object();
        let mut map = Map::with_capacity(room);
        while let Some(Key { text: key, other_type }) = access.next_key_seed(KeySeed)? {
            if let Some(kind) = other_type {
                let message = phrase!(
                    "key `{text}` is {kind}; it is read as a string",
                    text = excerpt(&key),
                    kind = Phrase::from(kind)
                );
                builder.note_at(&key, Diagnostic::info(codes::KEY_TYPE, message));
            }
            let value = access.next_value_seed(Seed { builder: &mut *builder, step: Step::Key(&key) })?;
            match map.entry(key) {
                Entry::Vacant(place) => drop(place.insert(value)),
                // As in JavaScript, the value is the last one's and the place the first one's.
                Entry::Occupied(mut place) => {
                    let shown = excerpt(place.key());
                    let message = phrase!("duplicate key `{shown}`; the last one is used", shown);
                    builder.note_at(place.key(), Diagnostic::error(codes::DUPLICATE_KEY, message));
                    place.insert(value);
                }
            }
        }
        builder.close_object(map.len());
        if map.len() <= room / 2 {
            // The room would stay for as long as the object does.
            map = map.into_iter().collect();
        }
        if builder.merge_keys {
            merge(&mut map, builder);
        }
        builder.leave(before);
        Ok(Value::Object(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        let Self { builder, step } = self;
        let before = builder.enter(step);
        let (tag, content): (String, _) = access.variant()?;
        let value = content.newtype_variant_seed(Seed { builder: &mut *builder, step: Step::None })?;
        let message = phrase!("unknown tag `!{tag}` is ignored", tag = excerpt(&tag));
        builder.note(Diagnostic::warning(codes::UNKNOWN_TAG, message));
        builder.leave(before);
        Ok(value)
    }
}

/// Resolves the merge key `<<` as js-yaml does: keys that the object has itself stay.
fn merge(map: &mut Map<String, Value>, builder: &mut Builder) {
    const MERGE: &str = "<<";
    let sources = match map.get(MERGE) {
        None => return,
        Some(Value::Object(source)) => vec![source.clone()],
        Some(Value::Array(items)) if items.iter().all(Value::is_object) => {
            items.iter().filter_map(Value::as_object).cloned().collect()
        }
        Some(_) => {
            let message = phrase!("merge key `<<` does not refer to objects; it is kept as a normal key");
            builder.note_at(MERGE, Diagnostic::warning(codes::MERGE_KEY, message));
            return;
        }
    };
    map.shift_remove(MERGE);
    for (key, value) in sources.into_iter().flatten() {
        map.entry(key).or_insert(value);
    }
}
