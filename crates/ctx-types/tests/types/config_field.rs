use ctx_types::{ConfigField, FieldOption};
use serde_json::{Value, json};

#[track_caller]
fn check(field: ConfigField, expected: Value) {
    assert_eq!(serde_json::to_value(field).unwrap(), expected);
}

#[test]
fn serializes_all_properties_of_a_field() {
    check(
        ConfigField::text("word", "Word", "yes")
            .required()
            .with_placeholder("a word")
            .with_description("Said"),
        json!({
            "key": "word", "label": "Word", "description": "Said", "type": "text", "placeholder": "a word",
            "default": "yes", "isRequired": true,
        }),
    );
    check(
        ConfigField::number("limit", "Limit", 5).between(0.0, 100.0),
        json!({
            "key": "limit", "label": "Limit", "type": "number", "default": 5, "minimum": 0.0, "maximum": 100.0,
            "isRequired": false,
        }),
    );
    check(
        ConfigField::boolean("loud", "Loud", true),
        json!({ "key": "loud", "label": "Loud", "type": "boolean", "default": true, "isRequired": false }),
    );
}

#[test]
fn accepts_choices_of_any_json_type() {
    let options =
        vec![FieldOption::new(0, "None"), FieldOption::new("all", "All"), FieldOption::new(Value::Null, "?")];
    let field = ConfigField::choice("scope", "Scope", options).with_default("all");
    assert_eq!(field.check(&json!(0)), Ok(()));
    assert_eq!(field.check(&json!(null)), Ok(()));
    assert_eq!(field.check(&json!("0")).unwrap_err(), "one of `0`, `all`, `null`");
    check(
        field,
        json!({
            "key": "scope", "label": "Scope", "type": "select", "default": "all", "isRequired": false,
            "options": [
                { "label": "None", "value": 0 }, { "label": "All", "value": "all" }, { "label": "?", "value": null },
            ],
        }),
    );
}
