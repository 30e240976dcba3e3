//! What holds for any text.

mod support;

use ctx_macros::{Dialect, Limits, Scope, State};
use ctx_types::is_partition;
use proptest::prelude::*;
use support::{env, origin, parse};

fn dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Aio), Just(Dialect::SillyTavern)]
}

/// Texts made of the pieces that matter to the parser.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "{{", "}}", "{", "}", "::", ":", "\\", " ", "\n", "é", "界", "a", "{{}}",
            "{{user}}", "{{trim}}", "{{time}}", "{{nobody}}", "{{setvar::a::", "{{getvar::a}}", "{{addvar::a::",
            "{{incvar::", "{{newline}}", "{{user", "{{nobody::", "{{getvar a", "{{GetVar:a",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn segments_partition_the_output(text in text(), dialect in dialect()) {
        let template = parse(&text, dialect);
        let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
        let segments = expansion.segments();
        prop_assert!(segments.is_empty() || is_partition(&segments, expansion.text.len()));
    }

    #[test]
    fn equal_states_give_equal_results(text in text(), dialect in dialect()) {
        let template = parse(&text, dialect);
        let state = State::new(Limits::default());
        let (mut one, mut two) = (state.clone(), state);
        let first = template.expand(&env(), &mut one, &origin());
        let second = template.expand(&env(), &mut two, &origin());
        prop_assert_eq!(&first.text, &second.text);
        prop_assert_eq!(first.segments(), second.segments());
        prop_assert_eq!(first.diagnostics, second.diagnostics);
        prop_assert!(one.variables(Scope::Local).eq(two.variables(Scope::Local)));
    }

    #[test]
    fn a_text_without_calls_and_escapes_is_unchanged(text in any::<String>(), dialect in dialect()) {
        prop_assume!(!text.contains("{{") && !text.contains('\\'));
        let template = parse(&text, dialect);
        let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
        prop_assert!(template.is_plain());
        prop_assert!(expansion.text.is_shared_with(template.text()));
    }

    #[test]
    fn without_steps_every_text_stays_but_for_escapes(text in text()) {
        prop_assume!(!text.contains("\\{{"));
        let limits = Limits { steps: 0, ..Limits::default() };
        let template = parse(&text, Dialect::Aio);
        let expansion = template.expand(&env(), &mut State::new(limits), &origin());
        prop_assert_eq!(expansion.text, text.as_str());
    }

    #[test]
    fn calls_lie_in_the_text_in_order(text in text(), dialect in dialect()) {
        let template = parse(&text, dialect);
        let spans: Vec<_> = template.macros().map(|used| used.span).collect();
        prop_assert!(spans.is_sorted_by_key(|span| span.start));
        prop_assert!(spans.iter().all(|span| text[span.start..span.end].starts_with("{{")));
        prop_assert!(spans.iter().all(|span| text[span.start..span.end].ends_with("}}")));
    }
}
