//! Rules and worldbook keys with exponential backtracking still give a context.

#[path = "../../../ctx-regex/tests/regex/catastrophic/cases.rs"]
mod cases;

use std::sync::Arc;

use cases::{Case, End};
use ctx_engine::{Compile, Engine};
use ctx_types::session::Session;
use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
use ctx_types::{Agent, Persist as _, Reader, TurnInput};
use serde_json::{Value, json};

/// Codes: a rule gave up; a worldbook key gave up.
const GAVE_UP: [u16; 2] = [773, 960];

#[track_caller]
fn assemble(agent: Value, book: Option<Value>, text: &str) -> (String, Vec<u16>) {
    let agent = Agent::read(agent, &mut Reader::new());
    let book = book.map(|book| LoadedWorldbook {
        id: "b".into(),
        name: "b".into(),
        book: Arc::new(Worldbook::read(book, &mut Reader::new())),
        is_global: true,
    });
    let with = Compile::default().with(|compile| compile.worldbooks = book.into_iter().collect());
    let turn = TurnInput::new(text);
    let context = Engine::new().compile(&agent, &with).assemble_blocking(&Session::new("s"), &turn).unwrap();
    let sent = context.messages.last().unwrap().text().into_owned();
    let found = context.report.diagnostics.iter().map(|finding| finding.code.number());
    (sent, found.filter(|code| *code >= 750).collect())
}

fn literal(case: &Case, flags: &str) -> String {
    format!("/{}/{}{flags}", case.pattern, case.flags)
}

#[test]
fn reports_stopped_rule_and_changes_nothing() {
    for case in cases::all() {
        let rule = json!({ "id": "evil", "regex": literal(&case, "g"), "replacement": "" });
        let after = json!({ "id": "good", "regex": "/$/g", "replacement": " [seen]", "order": 1 });
        let agent = json!({
            "presetMessages": [{ "type": "chat_history" }],
            "regexConfig": { "presets": [{ "rules": [rule, after] }] },
        });
        let (sent, found) = assemble(agent, None, &case.text);
        assert!(sent.ends_with(" [seen]"), "the other rule runs after {}", case.pattern);
        match case.end {
            End::Linear(_) => assert!(found.is_empty(), "{} {found:?}", case.pattern),
            End::GivenUp => {
                assert_eq!(found, [GAVE_UP[0]], "{}", case.pattern);
                assert_eq!(sent, format!("{} [seen]", case.text), "{}", case.pattern);
            }
        }
    }
}

#[test]
fn reports_stopped_key_and_activates_other_entries() {
    for case in cases::all() {
        let agent = json!({ "presetMessages": [{ "type": "chat_history" }] });
        let book = json!({ "entries": [
            { "key": [literal(&case, "")], "content": "evil", "position": 4, "depth": 1 },
            { "constant": true, "content": "good", "position": 4, "depth": 0 },
        ] });
        let (sent, found) = assemble(agent, Some(book), &case.text);
        assert_eq!(sent, "good", "{}", case.pattern);
        // A mark precedes each message, so `^` does not match. Without the required letters there is no
        // search.
        let has_letters = !case.pattern.contains(r"<\/") || case.text.contains("</");
        let gives_up = case.end == End::GivenUp && !case.pattern.starts_with('^') && has_letters;
        assert_eq!(found, if gives_up { vec![GAVE_UP[1]] } else { Vec::new() }, "{}", case.pattern);
    }
}
