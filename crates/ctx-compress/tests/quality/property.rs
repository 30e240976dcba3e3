//! What holds for every report, whatever is compared.

use ctx_compress::quality::{Fact, Place, QualityReport};
use ctx_types::{Message, Role, Source, ToolCall};
use proptest::prelude::*;

/// How many texts each rule is tried on; `PROPTEST_CASES` asks for more.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(200), failure_persistence: None, ..default }
}

/// Words, values and signs that meet in ways that nobody would write.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "must", "not", "never", "no more than", "Ada", "Lovelace", "of", "the", "I", "don't", "may", "is", "but", "eats",
            "5 March 2026", "2026-03-05", "7:30", "pm", "$1,500", "1.5k", "five", "thousand", "kg", "%", "-5", "三月五号", "五千元", "千万不要",
            "不吃", "李明哲", "先生", "在北京大学", "《红楼梦》", "\"a title\"", "“", "”", "`code span`", "```", "\n", ". ", "? ", "。", "，", "：", "src/a/b.rs",
            "KX-90820", "https://a.b/c", "a@b.cd", "C:\\x\\y", "late.\\nAda", "\\u00e9Lin", "data:image/png;base64,AAAA", "{\"a\": 1}", "1.", "- ", "## ", "é", "𝕏", "👩‍👧", "\u{301}", "１２",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" "))
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let role = prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
    let message = (role, text(), proptest::option::of(text())).prop_map(|(role, text, arguments)| {
        Message::new(role, text, Source::history("n", role)).with(|message| {
            let call = |arguments: String| ToolCall {
                id: "c".into(),
                name: "do_it".into(),
                arguments: arguments.into(),
            };
            message.tool_calls = arguments.map(call).into_iter().collect();
        })
    });
    prop::collection::vec(message, 0..6)
}

/// Returns the text that a place is in.
fn text_at(messages: &[Message], place: &Place) -> String {
    let message = &messages[place.message];
    match place.call {
        Some(call) => message.tool_calls[call].arguments.to_string(),
        None => message.text().into_owned(),
    }
}

fn check_places<'a>(facts: impl IntoIterator<Item = &'a Fact>, messages: &[Message]) {
    for fact in facts {
        assert!(fact.count >= fact.places.len() && !fact.places.is_empty());
        for place in &fact.places {
            assert!(text_at(messages, place).get(place.start..place.end).is_some(), "{fact:?}");
        }
        let first = &fact.places[0];
        let text = text_at(messages, first);
        assert!(text[first.start..first.end].starts_with(fact.text.trim_end_matches('…')), "{fact:?}");
    }
}

/// Checks that of what somebody said, and of a call with the same arguments, nothing is lost or made up if it stays.
#[track_caller]
fn check_same(text: &str) {
    let message = Message::new(Role::User, text, Source::history("n", Role::User));
    let call = ToolCall { id: "c".into(), name: "do_it".into(), arguments: text.into() };
    let messages = [message.with(|message| message.tool_calls = vec![call])];
    let report = QualityReport::of(&messages, &messages);
    assert_eq!((report.lost, report.invented), (vec![], vec![]), "{text}");
}

#[test]
fn values_at_letters_of_another_script_stay() {
    check_same("໐: 千万不要 Ééa2 がAda A\u{301}da5 Ada7:30");
}

#[test]
fn a_name_behind_an_escape_stays() {
    check_same(r#"{"note": "It is late.\nAda Bell came.\tKim Moor left.\rLin Park stays."}"#);
    check_same(r#"{"note": "It is late.\\nAda Bell came."}"#);
    check_same(r#"{"note": "We saw \u201cAda Bell\u201d and \u2019Kim Moor."}"#);
    check_same(r#"{"paths": ["C:\\new\\table.txt", "C:\new\table.txt", "\/new\/table.txt"]}"#);
}

#[test]
fn what_only_looks_like_an_escape_is_none() {
    check_same(")\\u\u{9dc}AĘa");
    check_same(r#"{"note": "We saw \uAda Bell, \u20Kim Moor and \u"}"#);
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_place_is_in_its_text(original in messages(), compressed in messages()) {
        let report = QualityReport::of(&original, &compressed);
        check_places(report.kept.iter().chain(&report.lost), &original);
        check_places(&report.invented, &compressed);
        for found in report.kept.iter().filter_map(|fact| fact.found.as_ref()) {
            assert!(text_at(&compressed, found).get(found.start..found.end).is_some());
        }
        let counted: usize = report.kinds.iter().map(|kind| kind.kept + kind.lost + kind.invented).sum();
        assert_eq!(counted, report.kept.len() + report.lost.len() + report.invented.len());
    }

    #[test]
    fn what_stays_as_it_is_loses_and_invents_nothing(messages in messages()) {
        let report = QualityReport::of(&messages, &messages);
        assert_eq!((report.lost, report.invented), (vec![], vec![]));
    }

    #[test]
    fn of_nothing_nothing_is_kept(messages in messages()) {
        let report = QualityReport::of(&messages, &[]);
        assert_eq!((report.kept, report.invented), (vec![], vec![]));
    }

    #[test]
    fn the_same_input_gives_the_same_report(original in messages(), compressed in messages()) {
        assert_eq!(QualityReport::of(&original, &compressed), QualityReport::of(&original, &compressed));
    }

    #[test]
    fn to_leave_messages_out_invents_nothing(messages in messages(), from in 0..6_usize, to in 0..6_usize) {
        let part = messages.get(from..to).unwrap_or_default();
        assert_eq!(QualityReport::of(&messages, part).invented, vec![]);
    }
}
