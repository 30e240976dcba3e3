use ctx_types::internal::Fingerprint;
use serde_json::Value;

/// Returns a hash that does not depend on the order of keys. O(size · log keys).
pub(crate) fn hash_value(value: &Value) -> u64 {
    with_value(Fingerprint::default(), value).as_u64()
}

/// JSON readers limit the recursion depth.
fn with_value(sum: Fingerprint, value: &Value) -> Fingerprint {
    match value {
        Value::Null => with_text(sum, "null"),
        Value::Bool(flag) => with_text(sum, if *flag { "true" } else { "false" }),
        Value::Number(number) => with_text(sum, &number.to_string()),
        Value::String(text) => with_text(sum.bytes(b"\""), text),
        Value::Array(items) => items.iter().fold(sum.bytes(b"["), with_value).bytes(b"]"),
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            let with_field = |sum, (key, value): (&String, &Value)| with_value(with_text(sum, key), value);
            fields.into_iter().fold(sum.bytes(b"{"), with_field).bytes(b"}")
        }
    }
}

/// Ends a text with a byte that UTF-8 never contains.
fn with_text(sum: Fingerprint, text: &str) -> Fingerprint {
    sum.bytes(text.as_bytes()).bytes(&[0xff])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_with_every_value() {
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
        let mut numbers: Vec<u64> = values.iter().map(hash_value).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), values.len());
    }

    #[test]
    fn ignores_key_order() {
        assert_eq!(
            hash_value(&json!({ "a": 1, "b": { "c": 2, "d": 3 } })),
            hash_value(&json!({ "b": { "d": 3, "c": 2 }, "a": 1 }))
        );
    }
}
