use ctx_macros::Dialect;
use ctx_processors::regex_rules::RuleLimits;
use serde_json::{Value, json};

use crate::rules::case::{check, check_in};

fn find(mode: Value) -> Value {
    json!([{ "regex": "/{{char}}/g", "replacement": "C", "substitutionMode": mode }])
}

#[test]
fn an_expression_keeps_its_macros_unless_it_says_otherwise() {
    check(find(Value::Null), "{{char}} A.B", "C A.B");
    check(find(json!("NONE")), "{{char}} A.B", "C A.B");
}

#[test]
fn raw_values_are_a_part_of_the_expression() {
    check(find(json!("RAW")), "A.B AxB {{char}}", "C C {{char}}");
}

#[test]
fn escaped_values_stand_for_themselves() {
    check(find(json!("ESCAPED")), "A.B AxB {{char}}", "C AxB {{char}}");
    let rule = json!([{ "regex": "/(x|{{char}})+/g", "replacement": "C", "substitutionMode": "ESCAPED" }]);
    check(rule, "xA.BA.B AxB", "C ACB");
}

#[test]
fn replacements_are_expanded() {
    check(json!([{ "regex": "I", "replacement": "{{user}}" }]), "I and I", "Mei and Mei");
    let rule =
        json!([{ "regex": r"/(\w+)!/g", "replacement": "{{user}}: $1 {{setvar::x::$1}}{{getvar::x}}" }]);
    check(rule, "hi! ho!", "Mei: hi hi Mei: ho ho");
}

#[test]
fn words_of_the_conversation_are_never_expanded() {
    let rule = json!([{ "regex": "/<(.*?)>/g", "replacement": "{{user}} $1 $&" }]);
    check(rule, r"<{{char}}> <\{>", r"Mei {{char}} <{{char}}> Mei \{ <\{>");
    let rule = json!([{ "regex": "/a(.*)a/", "replacement": "$1 {{user}}", "dialect": "sillytavern" }]);
    check_in(Dialect::SillyTavern, rule, r"a<USER> {{char}} \{a", r"<USER> {{char}} \{ Mei");
}

#[test]
fn trimmed_texts_are_expanded() {
    let rule = json!([{ "regex": "/(.+)/", "replacement": "[$1]", "trimStrings": ["{{user}}: "] }]);
    check(rule, "Mei: hi", "[hi]");
}

#[test]
fn macros_count_on_from_match_to_match() {
    let rule = json!([{ "regex": "x", "replacement": "{{incvar::n}}{{getvar::n}}" }]);
    let (set, found) = crate::rules::case::rules(rule);
    assert_eq!(found, []);
    let texts = [("x x", crate::rules::case::ANSWER), ("x x", crate::rules::case::ANSWER)];
    let (after, _) = crate::rules::case::run(&set, RuleLimits::default(), &texts);
    assert_eq!(
        (after[0].text.as_str(), after[1].text.as_str()),
        ("1 2", "3 4"),
        "nothing of it is remembered"
    );
}
