use ctx_macros::Dialect;
use ctx_processors::regex_rules::RuleLimits;
use serde_json::{Value, json};

use crate::rules::case::{check, check_in};

fn find(mode: Value) -> Value {
    json!([{ "regex": "/{{char}}/g", "replacement": "C", "substitutionMode": mode }])
}

#[test]
fn keeps_macros_in_pattern_by_default() {
    check(find(Value::Null), "{{char}} A.B", "C A.B");
    check(find(json!("NONE")), "{{char}} A.B", "C A.B");
}

#[test]
fn matches_escaped_values_literally() {
    check(find(json!("ESCAPED")), "A.B AxB {{char}}", "C AxB {{char}}");
    let rule = json!([{ "regex": "/(x|{{char}})+/g", "replacement": "C", "substitutionMode": "ESCAPED" }]);
    check(rule, "xA.BA.B AxB", "C ACB");
}

#[test]
fn expands_replacements() {
    check(json!([{ "regex": "I", "replacement": "{{user}}" }]), "I and I", "Mei and Mei");
    let rule =
        json!([{ "regex": r"/(\w+)!/g", "replacement": "{{user}}: $1 {{setvar::x::$1}}{{getvar::x}}" }]);
    check(rule, "hi! ho!", "Mei: hi hi Mei: ho ho");
}

#[test]
fn does_not_expand_conversation_text() {
    let rule = json!([{ "regex": "/<(.*?)>/g", "replacement": "{{user}} $1 $&" }]);
    check(rule, r"<{{char}}> <\{>", r"Mei {{char}} <{{char}}> Mei \{ <\{>");
    let rule = json!([{ "regex": "/a(.*)a/", "replacement": "$1 {{user}}", "dialect": "sillytavern" }]);
    check_in(Dialect::SillyTavern, rule, r"a<USER> {{char}} \{a", r"<USER> {{char}} \{ Mei");
}

#[test]
fn expands_macros_in_trim_strings() {
    let rule = json!([{ "regex": "/(.+)/", "replacement": "[$1]", "trimStrings": ["{{user}}: "] }]);
    check(rule, "Mei: hi", "[hi]");
}

#[test]
fn keeps_variables_between_matches() {
    let rule = json!([{ "regex": "x", "replacement": "{{incvar::n}}{{getvar::n}}" }]);
    let (set, found) = crate::rules::case::rules(rule);
    assert_eq!(found, []);
    let texts = [("x x", crate::rules::case::ANSWER), ("x x", crate::rules::case::ANSWER)];
    let (after, _) = crate::rules::case::run(&set, RuleLimits::default(), &texts);
    assert_eq!(
        (after[0].text.as_str(), after[1].text.as_str()),
        ("1 2", "3 4"),
        "results with variables are not cached"
    );
}
