use ctx_processors::regex_rules::RuleLimits;
use ctx_types::{Role, Segment, Source, SourceKind, Span, Trust, is_partition};
use serde_json::{Value, json};

use crate::rules::case::{ANSWER, rules, run};

/// The first half of the text is from a user, the rest from a tool.
#[track_caller]
fn check(config: Value, text: &str, expected: &[&str]) {
    let (set, found) = rules(config);
    assert_eq!(found, []);
    let half = text.len() / 2;
    let before = [
        Segment { span: Span::new(0, half), source: Source::history("u", Role::User), via: Vec::new() },
        Segment {
            span: Span::new(half, text.len()),
            source: Source::history("t", Role::Tool),
            via: vec![Source::new(SourceKind::Macro, Trust::File).with_id("m")],
        },
    ];
    let (after, _) = run(&set, RuleLimits::default(), &[(text, ANSWER)]);
    let segments = after[0].segments(&set, &before);
    assert!(is_partition(&segments, after[0].text.len()), "{segments:?}");
    let shown = segments.iter().map(|segment| {
        let text = after[0].text.get(segment.span.start..segment.span.end).unwrap();
        let via: Vec<String> = segment.via.iter().map(ToString::to_string).collect();
        format!("{text:?} {} {:?} {}", segment.source, segment.source.trust, via.join(" "))
            .trim_end()
            .to_owned()
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn bytes_that_no_rule_wrote_keep_their_source() {
    check(
        json!([{ "id": "r", "regex": "b", "replacement": "XY" }]),
        "abcabc",
        &[
            r#""a" history:u User"#,
            r#""XY" rule:r User history:u"#,
            r#""c" history:u User"#,
            r#""a" history:t Tool macro:m"#,
            r#""XY" rule:r Tool history:t macro:m"#,
            r#""c" history:t Tool macro:m"#,
        ],
    );
}

#[test]
fn a_replacement_over_several_sources_names_all_and_is_trusted_as_the_least() {
    check(
        json!([{ "id": "r", "regex": "ca", "replacement": "$&!" }]),
        "abcabc",
        &[
            r#""ab" history:u User"#,
            r#""ca!" rule:r Tool history:u history:t macro:m"#,
            r#""bc" history:t Tool macro:m"#,
        ],
    );
}

#[test]
fn a_rule_over_a_rule_names_it_first() {
    check(
        json!([
            { "id": "one", "regex": "b", "replacement": "XY" },
            { "id": "two", "regex": "/aX/i", "replacement": "Z" },
        ]),
        "abcabc",
        &[
            r#""Z" rule:two User rule:one history:u"#,
            r#""Y" rule:one User history:u"#,
            r#""c" history:u User"#,
            r#""a" history:t Tool macro:m"#,
            r#""XY" rule:one Tool history:t macro:m"#,
            r#""c" history:t Tool macro:m"#,
        ],
    );
}

#[test]
fn what_is_inserted_stands_over_nothing() {
    check(
        json!([{ "id": "r", "regex": "/$/", "replacement": "!" }]),
        "ab",
        &[r#""a" history:u User"#, r#""b" history:t Tool macro:m"#, r#""!" rule:r Preset"#],
    );
}

#[test]
fn what_is_deleted_or_replaced_by_itself_leaves_no_trace() {
    check(
        json!([{ "id": "r", "regex": "/(a)|b/g", "replacement": "$1" }]),
        "aabbaabb",
        &[r#""aa" history:u User"#, r#""aa" history:t Tool macro:m"#],
    );
    check(json!([{ "regex": ".+" }]), "ab", &[]);
}

#[test]
fn rules_without_ids_are_named_by_their_place() {
    check(
        json!([{ "regex": "z" }, { "regex": "a", "replacement": "b" }]),
        "aa",
        &[r#""b" rule#1 User history:u"#, r#""b" rule#1 Tool history:t macro:m"#],
    );
}
