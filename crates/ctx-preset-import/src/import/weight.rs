//! What the documents of one file may hold together, so that a small file cannot become a large import.
//!
//! A picture or an archive of a few kilobytes can hold millions of values, of which each has a row in the report and
//! each object much more than that beside it.

use serde_json::Value;

use crate::error::ImportError;
use crate::format::Format;
use crate::limits::Limits;
use crate::report::Extent;

/// How many values an object counts for, itself included: entries, rules and messages are made of them.
const OBJECT: usize = 10;

/// Lists whose items become objects even where they are none.
const GROWING: [&str; 4] = ["alternate_greetings", "entries", "group_only_greetings", "presetMessages"];

/// How many values a file may hold.
const VALUES: usize = 250_000;

/// How many, of worldbooks and conversations, whose objects become less than those of cards.
const LIGHT_VALUES: usize = 1_000_000;

/// How many bytes the pointers to all fields of a file may have, which repeat the names of what is around them.
const POINTER_BYTES: usize = 32 << 20;

/// What is left to the documents of one file.
pub(super) struct Allowance {
    bytes: usize,
    /// How much of all that is allowed is used, as a share of [`LIGHT_VALUES`].
    used: usize,
    pointer_bytes: usize,
}

impl Allowance {
    /// Allows what a file that is one document may hold.
    pub(super) fn of(limits: &Limits) -> Self {
        Self { bytes: limits.json_bytes, used: 0, pointer_bytes: POINTER_BYTES }
    }

    /// Returns the limits of the next document.
    pub(super) fn limits(&self, limits: &Limits) -> Limits {
        Limits { json_bytes: self.bytes, ..*limits }
    }

    /// Takes what a document needs, and returns how large its report is; an error if there is not so much left.
    /// O(values).
    pub(super) fn take(
        &mut self,
        bytes: usize,
        format: Option<Format>,
        value: &Value,
    ) -> Result<Extent, ImportError> {
        let is_light = format.is_some_and(|format| format.is_conversation() || format == Format::Worldbook);
        let (limit, share) = if is_light { (LIGHT_VALUES, 1) } else { (VALUES, LIGHT_VALUES / VALUES) };
        let mut weight = Weight { values: 0, extent: Extent::default(), most: self.pointer_bytes };
        weight.add(value, 0);
        if weight.extent.pointer_bytes > self.pointer_bytes {
            return Err(ImportError::LongNames { limit: POINTER_BYTES });
        }
        let used = self.used.saturating_add(weight.values.saturating_mul(share));
        if used > LIGHT_VALUES {
            return Err(ImportError::TooHeavy { limit });
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        self.used = used;
        self.pointer_bytes -= weight.extent.pointer_bytes;
        Ok(weight.extent)
    }
}

/// What a document holds.
struct Weight {
    values: usize,
    extent: Extent,
    /// More bytes of pointers than these need not be counted.
    most: usize,
}

impl Weight {
    fn add(&mut self, value: &Value, pointer: usize) {
        match value {
            _ if self.extent.pointer_bytes > self.most => {}
            Value::Object(map) => {
                self.values += OBJECT;
                self.leaf(pointer, map.is_empty());
                for (key, value) in map {
                    if let Value::Array(items) = value
                        && GROWING.contains(&key.as_str())
                    {
                        self.values += items.iter().filter(|item| !item.is_object()).count() * (OBJECT - 1);
                    }
                    self.add(value, pointer + 1 + key.len());
                }
            }
            Value::Array(items) => {
                self.values += 1;
                self.leaf(pointer, items.is_empty());
                let digits = items.len().to_string().len();
                for value in items {
                    self.add(value, pointer + 1 + digits);
                }
            }
            _ => {
                self.values += 1;
                self.leaf(pointer, true);
            }
        }
    }

    fn leaf(&mut self, pointer: usize, is_leaf: bool) {
        if is_leaf {
            self.extent.leaves += 1;
            self.extent.pointer_bytes += pointer;
        }
    }
}
