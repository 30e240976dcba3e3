//! Source and trust of each byte.

use crate::support;

use ctx_macros::{Dialect, Env, Limits, State};
use ctx_types::internal::is_partition;
use ctx_types::{Source, SourceKind, Text, Trust};
use support::{env, origin, parse};

/// Checks the segments, each as `source|trust|bytes`.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_from(&origin(), &env(), text, expected);
}

#[track_caller]
fn check_from(origin: &Source, env: &Env, text: &str, expected: &[&str]) {
    let template = parse(text, Dialect::Aio);
    let expansion = template.expand(env, &mut State::new(Limits::default()), origin);
    let segments = expansion.segments();
    assert!(segments.is_empty() || is_partition(&segments, expansion.text.len()));
    let found: Vec<String> = segments
        .iter()
        .map(|segment| {
            let bytes = &expansion.text[segment.span.start..segment.span.end];
            let via =
                if segment.source.kind == SourceKind::Macro { vec![origin.clone()] } else { Vec::new() };
            assert_eq!(segment.via, via);
            format!("{}|{:?}|{bytes}", segment.source, segment.source.trust)
        })
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn merges_literals_around_empty_value() {
    check(
        "a{{setvar::x::1}}b{{nobody}}\\{{c {{user}}",
        &["preset:p1|Preset|ab{{nobody}}{{c ", "macro:user|User|Mei"],
    );
}

#[test]
fn returns_no_segments_without_macro_output() {
    check("a{{setvar::x::1}}b", &[]);
    check("{{nobody}}", &[]);
    check("{{setvar::x::1}}", &[]);
}

#[test]
fn adjusts_segments_after_trim() {
    check("a {{newline}} {{trim}} {{newline}} {{user}}", &["preset:p1|Preset|a", "macro:user|User|Mei"]);
    check("{{user}} {{trim}}\n b", &["macro:user|User|Mei", "preset:p1|Preset|b"]);
    check("{{user}}{{newline}}{{trim}}", &["macro:user|User|Mei"]);
}

#[test]
fn lowers_trust_to_least_trusted_input() {
    check("{{setvar::a::x}}{{getvar::a}}", &["macro:getvar|Preset|x"]);
    check("{{setvar::a::x{{user}}}}{{getvar::a}}", &["macro:getvar|User|xMei"]);
    check("{{setvar::a::{{user}}}}{{addvar::a::!}}{{getvar::a}}", &["macro:getvar|User|Mei!"]);
}

#[test]
fn inherits_trust_of_imported_text() {
    let import = Source::new(SourceKind::Preset, Trust::Import);
    check_from(&import, &env(), "{{setvar::a::x}}{{getvar::a}}", &["macro:getvar|Import|x"]);
}

#[test]
fn shares_plain_text() {
    let text = Text::from("no calls { } here");
    let template = ctx_macros::Template::parse(&text, Dialect::Aio, &ctx_macros::Registry::builtin());
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    assert!(template.is_plain());
    assert!(expansion.text.is_shared_with(&text));
    assert!(!parse("\\{{", Dialect::Aio).is_plain());
}
