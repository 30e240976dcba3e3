//! What a file says of an entry as one number.

use serde_json::Value;

/// Returns a number that changes with anything that JSON says; the order of its keys is nothing. O(size of the value ·
/// log keys).
pub(crate) fn of(value: &Value) -> u64 {
    let mut hash = Fnv::default();
    hash.value(value);
    hash.0
}

/// The 64-bit hash of Fowler, Noll and Vo (FNV-1a).
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Recursion is as deep as the file nests, which readers of JSON limit.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text("null"),
            Value::Bool(flag) => self.text(if *flag { "true" } else { "false" }),
            Value::Number(number) => self.text(&number.to_string()),
            Value::String(text) => {
                self.byte(b'"');
                self.text(text);
            }
            Value::Array(items) => {
                self.byte(b'[');
                for item in items {
                    self.value(item);
                }
                self.byte(b']');
            }
            Value::Object(map) => {
                let mut fields: Vec<_> = map.iter().collect();
                fields.sort_unstable_by_key(|(key, _)| *key);
                self.byte(b'{');
                for (key, value) in fields {
                    self.text(key);
                    self.value(value);
                }
                self.byte(b'}');
            }
        }
    }

    /// A byte that no text holds ends it.
    fn text(&mut self, text: &str) {
        text.bytes().chain([0xff]).for_each(|byte| self.byte(byte));
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_changes_shows() {
        let values = [
            json!({}),
            json!({ "a": 1 }),
            json!({ "a": "1" }),
            json!({ "a": [1] }),
            json!({ "a": [] }),
            json!({ "a": null }),
            json!({ "b": 1 }),
            json!({ "a": 1, "b": 1 }),
            json!({ "a": { "b": 1 } }),
            json!({ "a": true }),
        ];
        let mut numbers: Vec<u64> = values.iter().map(of).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), values.len());
    }

    #[test]
    fn the_order_of_keys_does_not_show() {
        assert_eq!(
            of(&json!({ "a": 1, "b": { "c": 2, "d": 3 } })),
            of(&json!({ "b": { "d": 3, "c": 2 }, "a": 1 }))
        );
    }
}
