use ctx_processors::regex_rules::RuleLimits;
use ctx_types::internal::is_partition;
use ctx_types::{Role, Segment, Source, SourceKind, Span, Trust};
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
fn keeps_source_of_unchanged_bytes() {
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
fn names_all_replaced_sources_with_lowest_trust() {
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
fn lists_earlier_rule_before_original_source() {
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
fn gives_inserted_text_no_replaced_source() {
    check(
        json!([{ "id": "r", "regex": "/$/", "replacement": "!" }]),
        "ab",
        &[r#""a" history:u User"#, r#""b" history:t Tool macro:m"#, r#""!" rule:r Preset"#],
    );
}

#[test]
fn leaves_no_trace_of_deleted_or_unchanged_text() {
    check(
        json!([{ "id": "r", "regex": "/(a)|b/g", "replacement": "$1" }]),
        "aabbaabb",
        &[r#""aa" history:u User"#, r#""aa" history:t Tool macro:m"#],
    );
    check(json!([{ "regex": ".+" }]), "ab", &[]);
}

#[test]
fn names_rules_without_ids_by_position() {
    check(
        json!([{ "regex": "z" }, { "regex": "a", "replacement": "b" }]),
        "aa",
        &[r#""b" rule#1 User history:u"#, r#""b" rule#1 Tool history:t macro:m"#],
    );
}
