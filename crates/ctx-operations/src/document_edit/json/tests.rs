//! What an edit changes, and what it leaves.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::*;

/// Edits a text by changing its value, and compares what comes out.
#[track_caller]
fn check(text: &str, change: impl FnOnce(&mut Value), expected: &str) {
    let json = text.trim_start_matches('\u{FEFF}');
    let mut value = Json::of(json.as_bytes()).unwrap().value;
    change(&mut value);
    let bytes = edited(text.as_bytes(), &value).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn only_what_changed_is_written() {
    check(r#"{"id": "s"}"#, |_| {}, r#"{"id": "s"}"#);
    check(r#"{"id": "s"}"#, |v| v["id"] = json!("t"), r#"{"id": "t"}"#);
    check("{ \"a\":1 ,\n  \"b\" : [1,2] }\n", |v| v["b"][1] = json!(3), "{ \"a\":1 ,\n  \"b\" : [1,3] }\n");
    check("\u{FEFF}{\r\n\t\"a\": 1\r\n}", |v| v["a"] = json!(2), "\u{FEFF}{\r\n\t\"a\": 2\r\n}");
    check(
        r#"{"n":123456789012345678901,"e":1E5,"z":-0.0,"u":"\u00e9\/","x":1}"#,
        |v| v["x"] = json!(2),
        r#"{"n":123456789012345678901,"e":1E5,"z":-0.0,"u":"\u00e9\/","x":2}"#,
    );
    check(r#"{"a":1,"a":2}"#, |v| v["a"] = json!(3), r#"{"a":1,"a":3}"#);
    check("[1]", |v| *v = json!({ "a": [1] }), r#"{"a":[1]}"#);
}

#[test]
fn what_is_new_is_laid_out_as_its_neighbours_are() {
    check(r#"{"id": "s"}"#, |v| v["n"] = json!([1, 2]), r#"{"id": "s", "n": [1, 2]}"#);
    check(r#"{"id":"s"}"#, |v| v["n"] = json!({ "a": 1 }), r#"{"id":"s","n":{"a":1}}"#);
    check(
        "{\n  \"a\": 1\n}\n",
        |v| v["b"] = json!({ "c": [1], "d": {} }),
        "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [\n      1\n    ],\n    \"d\": {}\n  }\n}\n",
    );
    check("{\r\n\t\"a\": {}\r\n}", |v| v["a"]["b"] = json!(1), "{\r\n\t\"a\": {\r\n\t\t\"b\": 1\r\n\t}\r\n}");
    check(
        "{\n  \"a\": [\"x\", \"y\"]\n}",
        |v| v["a"] = json!(["x", "y", "z"]),
        "{\n  \"a\": [\"x\", \"y\", \"z\"]\n}",
    );
    check("{\n  \"a\": []\n}", |v| v["a"] = json!([1, 2]), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
    check("[1, 3]", |v| *v = json!([0, 1, 2, 3, 4]), "[0, 1, 2, 3, 4]");
    check("{}", |v| v["a"] = json!(1), r#"{"a":1}"#);
}

#[test]
fn what_goes_takes_its_comma_with_it() {
    let remove = |key: &'static str| move |v: &mut Value| drop(v.as_object_mut().unwrap().shift_remove(key));
    check(r#"{"a": 1, "b": 2, "c": 3}"#, remove("a"), r#"{"b": 2, "c": 3}"#);
    check(r#"{"a": 1, "b": 2, "c": 3}"#, remove("b"), r#"{"a": 1, "c": 3}"#);
    check(r#"{"a": 1, "b": 2, "c": 3}"#, remove("c"), r#"{"a": 1, "b": 2}"#);
    check("{\n  \"a\": 1\n}", remove("a"), "{}");
    check(r#"{"a":1,"b":2,"a":3}"#, remove("a"), r#"{"b":2}"#);
    check("[1, 2, 3, 4]", |v| *v = json!([2, 4]), "[2, 4]");
    check("[1, 2, 3]", |v| *v = json!([9]), "[9]");
}

#[test]
fn numbers_keep_their_digits_wherever_their_objects_go() {
    let move_away = |v: &mut Value| {
        let node = v["nodes"].as_object_mut().unwrap().shift_remove("a").unwrap();
        v["log"] = json!([{ "removed": node }]);
    };
    check(
        r#"{"nodes": {"a": {"id": 123456789012345678901, "x": 1E2}, "b": {"id": 123456789012345678902}}}"#,
        move_away,
        r#"{"nodes": {"b": {"id": 123456789012345678902}}, "log": [{"removed": {"id": 123456789012345678901, "x": 1E2}}]}"#,
    );
}

/// The parts of a list, each with a number that memory holds alike, and how it is written.
fn parts(order: &[usize]) -> (String, Vec<String>) {
    let part = |at: &usize| format!(r#"{{"id": "p{at}", "n": 12345678901234567890{at}}}"#);
    (format!("[{}]", order.iter().map(part).collect::<Vec<_>>().join(", ")), order.iter().map(part).collect())
}

proptest! {
    #[test]
    fn numbers_that_memory_holds_alike_stay_with_their_ids(
        old in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(),
        new in proptest::sample::subsequence((0..8).collect::<Vec<usize>>(), 0..=8).prop_shuffle(),
        moved in 0_usize..9, wrapped in any::<bool>(),
    ) {
        let (text, _) = parts(&old);
        let text = format!(r#"{{"list": {text}}}"#);
        let (kept, texts) = parts(&new);
        let mut value = serde_json::json!({ "list": serde_json::from_str::<Value>(&kept).unwrap() });
        let mut others: Vec<Value> = value["list"].as_array_mut().unwrap().split_off(moved.min(new.len()));
        if wrapped {
            // Moved and changed: what it shares with what it was tells where its number comes from.
            for part in &mut others {
                part["more"] = json!(1);
            }
        }
        if !others.is_empty() {
            value["others"] = others.into();
        }
        let bytes = String::from_utf8(edited(text.as_bytes(), &value).unwrap()).unwrap();
        for part in texts {
            prop_assert!(bytes.contains(part.trim_end_matches('}')), "{bytes} has no {part}");
        }
    }
}

#[test]
fn a_number_that_could_be_several_is_not_written() {
    let text = r#"{"a": 123456789012345678901, "b": 123456789012345678902}"#;
    let mut value: Value = serde_json::from_str(text).unwrap();
    value["c"] = value["a"].clone();
    assert!(edited(text.as_bytes(), &value).unwrap_err().to_string().contains("long numbers"));
    let list = "[123456789012345678901, 123456789012345678902]";
    assert!(edited(list.as_bytes(), &json!([123_456_789_012_345_678_901_f64])).is_err());
    check(list, |_| {}, list);
}

#[test]
fn what_a_parser_refuses_in_texts_and_numbers_stays() {
    check(
        r#"{"a": "\ud83d", "b": 1e400, "c": 1}"#,
        |v| v["c"] = json!(2),
        r#"{"a": "\ud83d", "b": 1e400, "c": 2}"#,
    );
}

#[test]
fn what_is_no_plain_json_is_not_edited() {
    for text in ["a: 1", "{} {}", "{\"a\": 1,}", "// x\n{}"] {
        assert!(!is_editable(text.as_bytes()) && edited(text.as_bytes(), &json!({})).is_err());
    }
    assert!(!is_editable(b"\xFF\xFE{\0}\0"));
}

/// A value, written with blanks, lines and numbers as somebody might.
fn written() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null"),
        Just("true"),
        Just("0"),
        Just("-0.0"),
        Just("1.50"),
        Just("1E5"),
        Just("123456789012345678901"),
        Just("\"\\u00e9\\/\""),
        Just("\"a,b]}{[:\\\"\""),
        Just("\"\"")
    ];
    let blank = || prop_oneof![Just(""), Just(" "), Just("\n"), Just("\r\n\t"), Just("\n    ")];
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 4, move |inner| {
        let items = prop::collection::vec((blank(), inner.clone(), blank()), 0..4);
        let list = (items, blank()).prop_map(|(items, end)| {
            let items: Vec<String> = items.iter().map(|(a, item, b)| format!("{a}{item}{b}")).collect();
            format!("[{}{end}]", items.join(","))
        });
        let keys = prop_oneof![Just("\"a\""), Just("\"b\""), Just("\"\\u0063\""), Just("\"d:,\"")];
        let members = prop::collection::vec((blank(), keys, blank(), inner, blank()), 0..4);
        let object = (members, blank()).prop_map(|(members, end)| {
            let members: Vec<String> =
                members.iter().map(|(a, key, b, value, c)| format!("{a}{key}{b}:{b}{value}{c}")).collect();
            format!("{{{}{end}}}", members.join(","))
        });
        prop_oneof![list, object]
    })
}

/// The number tokens and texts of a document, in order.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches('\u{FEFF}').as_bytes();
    while let Some(byte) = rest.first() {
        let length = match byte {
            b'"' => end_of_text(rest, 0),
            b'-' | b'0'..=b'9' => rest.iter().take_while(|byte| !b",]} \r\n\t".contains(byte)).count(),
            _ => 1,
        };
        found.push(String::from_utf8_lossy(&rest[..length]).into_owned());
        rest = &rest[length..];
    }
    found
}

/// The pointers of all values.
fn places(value: &Value) -> Vec<String> {
    let below = |key: &str, value: &Value| {
        places(value).into_iter().map(|place| format!("/{key}{place}")).collect::<Vec<_>>()
    };
    let inner: Vec<String> = match value {
        Value::Object(map) => map.iter().flat_map(|(key, value)| below(key, value)).collect(),
        Value::Array(list) => {
            list.iter().enumerate().flat_map(|(index, value)| below(&index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    std::iter::once(String::new()).chain(inner).collect()
}

/// The members or elements of a container as they are written, with their keys.
fn children(raw: &str) -> Vec<(String, &str)> {
    match raw.as_bytes().first() {
        Some(b'{') => members(raw).into_iter().map(|(key, value)| (key.clone(), value.get())).collect(),
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(raw).unwrap();
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item.get())).collect()
        }
        _ => Vec::new(),
    }
}

/// A value as it is written; of two members with one key the last counts.
fn raw_at<'t>(text: &'t str, pointer: &str) -> &'t str {
    let root: &RawValue = serde_json::from_str(text).unwrap();
    pointer
        .split('/')
        .skip(1)
        .fold(root.get(), |raw, step| children(raw).into_iter().rev().find(|(key, _)| key == step).unwrap().1)
}

/// Sets a value, or takes something out of it or puts something into it, and returns what in it has to stay as it is
/// written.
fn change(target: &mut Value, new: Value, action: i32, item: Index) -> Vec<String> {
    match (action, target) {
        (1, Value::Object(map)) if !map.is_empty() => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let gone = item.get(&keys);
            map.shift_remove(gone);
            keys.iter().filter(|key| *key != gone).cloned().collect()
        }
        (1, Value::Array(list)) if !list.is_empty() => {
            // Of equal ones nobody can say which is gone.
            let is_clear = list.iter().enumerate().all(|(index, value)| !list[..index].contains(value));
            let gone = item.index(list.len());
            let kept = (0..list.len()).filter(|index| is_clear && *index != gone);
            let kept = kept.map(|index| index.to_string()).collect();
            list.remove(gone);
            kept
        }
        (2, Value::Object(map)) => {
            let kept = map.keys().cloned().collect();
            map.shift_insert(item.index(map.len() + 1), "new".to_owned(), new);
            kept
        }
        (2, Value::Array(list)) => {
            let kept = (0..list.len()).map(|index| index.to_string()).collect();
            list.insert(item.index(list.len() + 1), new);
            kept
        }
        (_, target) => {
            *target = new;
            Vec::new()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_can_take_the_place_of_any_other(old in written(), new in written()) {
        let value: Value = serde_json::from_str(&new).unwrap();
        let bytes = edited(old.as_bytes(), &value).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), value);
    }

    #[test]
    fn an_equal_value_changes_no_byte(text in written()) {
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(edited(text.as_bytes(), &value).unwrap(), text.into_bytes());
    }

    #[test]
    fn bytes_outside_of_what_changed_stay(
        text in written(), new in written(), action in 0..3, which in any::<Index>(), item in any::<Index>(),
    ) {
        let mut wanted: Value = serde_json::from_str(&text).unwrap();
        let pointer = which.get(&places(&wanted)).clone();
        let raw = raw_at(&text, &pointer);
        let kept = change(wanted.pointer_mut(&pointer).unwrap(), serde_json::from_str(&new).unwrap(), action, item);
        let after = String::from_utf8(edited(text.as_bytes(), &wanted).unwrap()).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Value>(&after).unwrap(), &wanted);
        let start = raw.as_ptr() as usize - text.as_ptr() as usize;
        let (before, behind) = (&text[..start], &text[start + raw.len()..]);
        prop_assert!(after.len() >= before.len() + behind.len(), "{text} became {after}");
        prop_assert!(after.starts_with(before) && after.ends_with(behind), "{text} became {after}");
        let inside = &after[start..after.len() - behind.len()];
        let mut inside = children(inside).into_iter();
        let kept = children(raw).into_iter().filter(|(key, _)| kept.contains(key));
        for (_, kept) in kept {
            prop_assert!(inside.any(|(_, other)| other == kept), "{kept} of {text} is not in {after}");
        }
    }

    #[test]
    fn what_is_inserted_and_taken_out_again_leaves_the_bytes(text in written(), new in written()) {
        let old: Value = serde_json::from_str(&text).unwrap();
        prop_assume!(old.as_object().is_some_and(|map| !map.is_empty()));
        let mut more = old.clone();
        more["new"] = serde_json::from_str(&new).unwrap();
        let with = edited(text.as_bytes(), &more).unwrap();
        prop_assert_eq!(edited(&with, &old).unwrap(), text.clone().into_bytes());
        // A number that was there stands there still, digit for digit.
        let with = tokens(&String::from_utf8(with).unwrap());
        let mut rest = with.iter();
        prop_assert!(tokens(&text).iter().filter(|token| token.len() > 1).all(|token| rest.any(|other| other == token)));
    }
}
