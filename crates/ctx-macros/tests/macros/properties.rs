use crate::support;

use std::sync::LazyLock;

use ctx_macros::{Dialect, Expansion, Limits, Registry, Scope, State, Template};
use ctx_types::internal::is_partition;
use ctx_types::{Segment, Text, Trust};
use proptest::prelude::*;
use proptest::sample::select;
use support::{env, origin};

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::builtin);

/// Low enough to be reached.
const NARROW: Limits = Limits { steps: 60, depth: 6, output_bytes: 600, variables: 6, variable_bytes: 200 };

fn dialect() -> impl Strategy<Value = Dialect> {
    select(Dialect::ALL.to_vec())
}

/// Nested valid syntax: calls, blocks, conditions, variable operators, comments, legacy markers, and escapes.
fn template_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => select(LEAVES.to_vec()).prop_map(str::to_owned),
        1 => "[ a-c\\n]{0,6}",
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let several = prop::collection::vec(inner, 0..4).prop_map(|pieces| pieces.concat()).boxed();
        prop_oneof![
            several.clone(),
            call(several.clone()),
            block(several.clone()),
            condition(several.clone()),
            variable(several.clone()),
            comment(several)
        ]
    })
}

#[rustfmt::skip] // Several per line.
const LEAVES: [&str; 34] = [
    "text", " ", "\n", "界é", "::", ":", ",", "|", "\\{", "\\}", "\\{{", "\\", "<USER>", "<bot>", "<GROUP>",
    "{{time_UTC+3}}", "{{user}}", "{{ CHAR }}", "{{{char}}}", "{{nobody}}", "{{trim}}", "{{newline}}",
    "{{else}}", "{{time}}", "{{description}}", "{{persona}}", "{{original}}", "{{random::a::b}}",
    "{{pick: a, b}}", "{{roll 2d6}}", "{{getvar::a}}", "{{incvar::n}}", "{{.a}}", "{{$b}}",
];

#[rustfmt::skip] // Several per line.
const NAMES: [&str; 14] = [
    "setvar", "getvar", "addvar", "GetVar", "setglobalvar", "hasvar", "reverse", "random", "pick", "if",
    "repeat", "trim", "user", "nobody",
];

const OPERATORS: [&str; 17] =
    ["", "=", "+=", "-=", "++", "--", "||", "??", "||=", "??=", "==", "!=", ">", ">=", "<", "<=", "-"];

fn flags() -> impl Strategy<Value = &'static str> {
    select(vec!["", "", "", "!", "#", "?~", " # ", ">", "/"])
}

fn call(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let arguments = prop::collection::vec((select(vec!["::", "::", ":", " ", " :: ", ":: \n"]), inner), 0..4);
    (flags(), select(NAMES.to_vec()), arguments).prop_map(|(flags, name, arguments)| {
        let arguments: String =
            arguments.into_iter().flat_map(|(separator, text)| [separator.to_owned(), text]).collect();
        format!("{{{{{flags}{name}{arguments}}}}}")
    })
}

/// A block with a closing tag that may be missing or wrong.
fn block(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let ends = select(vec!["", "same", "same", "same", "if", "reverse"]);
    (flags(), select(NAMES.to_vec()), inner.clone(), inner, ends).prop_map(
        |(flags, name, argument, text, end)| {
            let end = if end == "same" { name } else { end };
            let argument = if argument.is_empty() { argument } else { format!("::{argument}") };
            let end = if end.is_empty() { String::new() } else { format!("{{{{/{end}}}}}") };
            format!("{{{{{flags}{name}{argument}}}}}{text}{end}")
        },
    )
}

fn condition(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let test = prop_oneof![
        inner.clone(),
        select(vec!["1", "0", "!1", ".a", "!$b", "description", "noop"]).prop_map(str::to_owned)
    ];
    (flags(), test, inner.clone(), inner, any::<bool>()).prop_map(|(flags, test, then, other, is_inline)| {
        if is_inline {
            format!("{{{{{flags}if::{test}::{then}{{{{else}}}}{other}}}}}")
        } else {
            format!("{{{{{flags}if {test}}}}}\n  {then}\n{{{{else}}}}\n  {other}\n{{{{/if}}}}")
        }
    })
}

fn variable(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let name = select(vec![".a", ".n", "$b", ". a", ".c-d", "."]);
    (name, select(OPERATORS.to_vec()), inner)
        .prop_map(|(name, operator, value)| format!("{{{{{name} {operator} {value}}}}}"))
}

fn comment(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    inner.prop_map(|text| format!("{{{{// {text}}}}}"))
}

/// Syntax fragments in random order.
fn broken() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => select(BROKEN.to_vec()).prop_map(str::to_owned),
        2 => select(LEAVES.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

#[rustfmt::skip] // Several per line.
const BROKEN: [&str; 26] = [
    "{{", "}}", "{", "}", "a", "{{}}", "{{setvar::a::", "{{addvar::a::", "{{incvar::", "{{user",
    "{{nobody::", "{{getvar a", "{{GetVar:a", "{{if ", "{{if::", "{{/if}}", "{{/", "{{//", "{{///}}",
    "{{.a +=", "{{$b ??", "{{#reverse}}", "{{/reverse}}", "{{banned \"", "\"}}", "{{datetimeformat ",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => template_text(), 2 => broken()]
}

fn parse(text: &str, dialect: Dialect, registry: &Registry) -> Template {
    Template::parse(&Text::from(text), dialect, registry)
}

fn expand(text: &str, dialect: Dialect, state: &mut State) -> Expansion {
    parse(text, dialect, &REGISTRY).expand(&env(), state, &origin())
}

fn run<'v>(limits: Limits, variables: impl Iterator<Item = &'v (&'static str, &'static str)>) -> State {
    let mut state = State::new(limits);
    for (name, value) in variables {
        state.set_variable(Scope::Local, name, Text::from(*value), Trust::User).unwrap();
    }
    state
}

const VARIABLES: [(&str, &str); 3] = [("a", "{{user}} \\{x\\}"), ("n", "007"), ("c-d", "[1]")];

fn is_subsequence(part: &[u8], whole: &[u8]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|byte| whole.any(|other| other == byte))
}

/// Whether a text has no syntax.
fn is_plain(text: &str, dialect: Dialect) -> bool {
    let lower = text.to_ascii_lowercase();
    let has_markers =
        ["<user>", "<bot>", "<char>", "<group>", "<charifnotgroup>"].iter().any(|word| lower.contains(word));
    let has_escapes = text.contains("\\{") || text.contains("\\}");
    !text.contains("{{")
        && match dialect {
            Dialect::SillyTavern => !has_markers && !has_escapes,
            _ => true,
        }
}

proptest! {
    #[test]
    fn expands_within_limits(text in text(), dialect in dialect()) {
        let mut state = run(NARROW, VARIABLES.iter());
        let expansion = expand(&text, dialect, &mut state);
        let written = NARROW.output_bytes - state.output_left();
        prop_assert!(expansion.text.len() <= text.len() + written, "{} bytes", expansion.text.len());
        let sets = [Scope::Local, Scope::Global];
        let bytes = |scope| state.variables(scope).map(|(name, value)| name.len() + value.len()).sum::<usize>();
        prop_assert!(sets.into_iter().map(bytes).sum::<usize>() <= NARROW.variable_bytes);
        let count = sets.into_iter().map(|scope| state.variables(scope).count()).sum::<usize>();
        prop_assert!(count <= NARROW.variables);
    }

    #[test]
    fn assigns_every_byte_to_one_segment(text in text(), dialect in dialect()) {
        let mut state = run(Limits::default(), VARIABLES.iter());
        let expansion = expand(&text, dialect, &mut state);
        let segments = expansion.segments();
        prop_assert!(segments.is_empty() || is_partition(&segments, expansion.text.len()));
        prop_assert!(segments.iter().all(|segment| !segment.span.is_empty()));
        let of_template = |segment: &&Segment| segment.source == origin() && segment.via.is_empty();
        let copied = segments.iter().filter(of_template);
        let copied: String = copied.map(|segment| &expansion.text[segment.span.start..segment.span.end]).collect();
        prop_assert!(is_subsequence(copied.as_bytes(), text.as_bytes()), "{:?} is not of the template", copied);
    }

    #[test]
    fn expands_independently_of_map_order(text in text(), dialect in dialect()) {
        let (mut one, mut two) = (run(NARROW, VARIABLES.iter()), run(NARROW, VARIABLES.iter().rev()));
        let first = parse(&text, dialect, &REGISTRY).expand(&env(), &mut one, &origin());
        // A separate registry, template, and run, because map order could differ.
        let second = parse(&text, dialect, &Registry::builtin()).expand(&env(), &mut two, &origin());
        prop_assert_eq!(&first.text, &second.text);
        prop_assert_eq!(first.segments(), second.segments());
        prop_assert_eq!(first.diagnostics, second.diagnostics);
        prop_assert!(one.variables(Scope::Local).eq(two.variables(Scope::Local)));
        prop_assert!(one.variables(Scope::Global).eq(two.variables(Scope::Global)));
        prop_assert_eq!((one.steps_left(), one.output_left()), (two.steps_left(), two.output_left()));
    }

    #[test]
    fn keeps_text_without_calls(text in plain(), dialect in dialect()) {
        prop_assume!(is_plain(&text, dialect));
        let template = parse(&text, dialect, &REGISTRY);
        let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
        prop_assert!(expansion.text.is_shared_with(template.text()) || expansion.text == text.as_str());
        prop_assert_eq!(expansion.segments(), []);
        prop_assert_eq!(expansion.diagnostics, []);
        prop_assert_eq!(template.diagnostics(), []);
    }

    #[test]
    fn keeps_text_without_steps(text in text()) {
        let text = text.replace('\\', "");
        let expansion = expand(&text, Dialect::Aio, &mut State::new(Limits { steps: 0, ..NARROW }));
        prop_assert_eq!(expansion.text, text.as_str());
    }

    #[test]
    fn lists_calls_in_text_order(text in text(), dialect in dialect()) {
        let template = parse(&text, dialect, &REGISTRY);
        let spans: Vec<_> = template.macros().map(|used| used.span).collect();
        prop_assert!(spans.is_sorted_by_key(|span| span.start));
        let is_call = |call: &str| call.starts_with("{{") && call.ends_with("}}") || call.starts_with('<') && call.ends_with('>');
        // A condition may be a bare macro or variable name.
        let is_name = |call: &str| call.chars().all(|c| c.is_ascii_alphanumeric() || ".$-_".contains(c));
        for span in spans {
            let call = &text[span.start..span.end];
            prop_assert!(is_call(call) || is_name(call), "{call}");
        }
    }
}

/// Texts without calls but with fragments of calls.
fn plain() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        select(vec!["{", "}", "}}", "::", "\\", "<", "user>", " ", "\n", "$5", "é"]).prop_map(str::to_owned),
        any::<String>()
    ];
    let without_calls = |mut text: String| {
        while text.contains("{{") {
            text = text.replace("{{", "{");
        }
        text
    };
    prop::collection::vec(piece, 0..12).prop_map(move |pieces| without_calls(pieces.concat()))
}
