//! SillyTavern's macro syntax: parsing and evaluation.

use crate::support;
use ctx_types::phrase;

use ctx_macros::{Dialect, Limits, State, codes};
use ctx_types::Code;
use support::{env, expand, expand_in, origin, parse};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(expand(text, Dialect::SillyTavern).text, expected, "{text:?}");
}

#[track_caller]
fn check_found(text: &str, expected: &[Code]) {
    let found: Vec<_> = parse(text, Dialect::SillyTavern).diagnostics().iter().map(|f| f.code).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn writes_new_value_after_counting() {
    check("{{setvar::n::5}}{{addvar::n::3}}{{getvar::n}} {{incvar::n}} {{decvar::n}}", "8 9 8");
}

#[test]
fn escapes_one_brace_with_backslash() {
    check(r"\{\{user\}\}", "{{user}}");
    check(r"\{{user}}", r"\Mei");
    check(r"\{{nobody}}", "{{nobody}}");
    check(r"a \\ b \x", r"a \\ b \x");
    check(r"{{setvar::a::\{b}}{{getvar::a}}", "{b");
    check(r"{{if 1}}\{b\}{{/if}}", "{b}");
    check(r"{{reverse::\{b}}", r"b{\");
}

#[test]
fn resolves_escapes_after_storing_variables() {
    let mut state = State::new(Limits::default());
    let expansion =
        expand_in(r"{{setvar::a::\{\{user\}\} }}[{{getvar::a}}]", Dialect::SillyTavern, &mut state);
    assert_eq!(expansion.text, "[{{user}}]");
    assert_eq!(state.variables_json(ctx_macros::Scope::Local)["a"], r"\{\{user\}\}");
}

#[test]
fn keeps_backslashes_of_host_values() {
    let env = ctx_macros::Env { input: Some(r"\{x\}".into()), ..env() };
    let template = parse(r"\{{{input}}\}", Dialect::SillyTavern);
    let expansion = template.expand(&env, &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, r"{\{x\}}");
}

#[test]
fn expands_calls_inside_unknown_calls() {
    check("{{nobody:: {{user}} }} {{ x {{user}} y }}", "{{nobody:: Mei }} {{ x Mei y }}");
    check("{{nobody::{{setvar::a::1}}}}[{{getvar::a}}]", "{{nobody::}}[1]");
    check("{{user::{{char}}}} {{setvar::m::a::{{user}}}}", "{{user::Alice}} {{setvar::m::a::Mei}}");
    check("{{setvar::m::{{nobody:: {{user}} }} }}[{{getvar::m}}]", "[{{nobody:: Mei }}]");
    check("{{用户}} {{setvar::变量::值}}{{getvar::变量}}", "{{用户}} 值");
}

#[test]
fn reads_one_argument_after_colon_or_whitespace() {
    check("{{setvar::a::1}}{{getvar:a}}{{getvar a}}{{getvar : a }}", "111");
    check("{{setvar::a::b::1}}", "{{setvar::a::b::1}}");
    check("{{setvar::x::y::z}}{{getvar x::y}}|", "{{setvar::x::y::z}}|");
    check("{{\nuser\n}} {{setvar::x::\n v \n}}[{{getvar::x}}]", "Mei [v]");
    check("{{setvar::Mei::ok}}{{getvar {{user}}}}", "ok");
}

#[test]
fn trims_only_literal_whitespace() {
    check("{{setvar::a::{{space}}x{{newline}}}}[{{getvar::a}}]", "[ x\n]");
}

#[test]
fn trims_macro_whitespace_in_blocks_and_operators() {
    check("{{.a = x}}{{.a += {{noop}} | y}}{{.a}}[{{.b ?? {{newline}}z{{space}}}}]", "x| y[z]");
    check("a{{if 1}}{{newline}}{{/if}}b{{if 0}}{{else}}{{space}}c{{newline}}{{/if}}d", "abcd");
    check("a{{if::1::{{newline}}b{{space}}}}c", "abc");
    check("{{setvar::m}}{{newline}}x{{space}}{{/setvar}}[{{getvar::m}}]", "[x]");
    check("a{{#if 1}}{{newline}}{{/if}}b{{#setvar::m}} {{space}}{{/setvar}}[{{getvar::m}}]", "a\nb[  ]");
    check("a {{if 1}}{{if 1}}{{space}}{{/if}}{{newline}}b{{/if}} c", "a b c");
}

#[test]
fn trims_around_condition_after_trim_in_branch() {
    check("a\n{{if 1}}{{trim}}{{/if}}\n\nb", "ab");
    check("a\n{{if 1}}{{trim}} b{{newline}}{{/if}}\nc", "a b\nc");
    check("a\n{{if 1}}{{newline}}b{{newline}}{{trim}}{{/if}}\nc", "a\nbc");
}

#[test]
fn treats_extra_braces_as_text() {
    check("{{{user}}}", "{Mei}");
    check("{{{{user}}}}", "{{Mei}}");
}

#[test]
fn trims_line_breaks_only() {
    check("a \r\n\n{{trim}}\n b", "a  b");
    check("a\n{{newline}}{{trim}}{{noop}}\r\nb", "ab");
}

#[test]
fn passes_block_as_last_argument() {
    check("{{setvar::m}} 1 {{/setvar}}[{{getvar::m}}]", "[1]");
    check("{{ setvar m }}\n  a\n    b\n{{ /setvar }}[{{getvar::m}}]", "[a\n  b]");
    check("{{reverse}}abc{{/reverse}} {{trim}}\n x \n{{/trim}}y", "cba xy");
    check("{{#setvar::m}}  keep  {{/setvar}}[{{getvar::m}}]", "[  keep  ]");
    check("{{SETVAR::m}}x{{/SetVar}}{{getvar::m}}", "x");
    check("{{setvar::m}}{{reverse}}{{user}}{{/reverse}}{{/setvar}}{{getvar::m}}", "ieM");
}

#[test]
fn matches_block_closers_by_nesting() {
    check("{{reverse}}a{{reverse}}bc{{/reverse}}{{/reverse}}", "bca");
    check("{{setvar::a::{{reverse}}xy{{/reverse}}}}{{getvar::a}}", "yx");
    check("{{setvar::a::{{reverse}}}}b{{/reverse}}", "b{{/reverse}}");
    check("{{setvar::a::{{reverse}}}}{{getvar::a}}", "{{reverse}}");
}

#[test]
fn keeps_unmatched_block_tags() {
    check("a{{/if}}b {{/nobody}} {{user}}x{{/user}}", "a{{/if}}b {{/nobody}} Meix{{/user}}");
    check("{{reverse}} {{user}}", "{{reverse}} Mei");
    check("{{setvar::{{user}}}} {{char}}", "{{setvar::Mei}} Alice");
    check("{{if 1}}a {{user}}", "{{if 1}}a Mei");
    check("{{setvar::a::1}}x{{/setvar}}{{getvar::a}}", "x{{/setvar}}1");
    check_found("{{/if}}", &[codes::UNMATCHED_CLOSER]);
    check_found("{{if 1}}", &[codes::MISSING_ARGUMENT]);
}

#[test]
fn expands_calls_after_unclosed_call() {
    check("{{if 1}}a{{setvar b {{/if}}", "a{{setvar b");
    check("{{nobody {{user}} {{ {{if 0}}x{{else}}y{{/if}}", "{{nobody Mei {{ y");
    check_found("{{setvar::a::{{user}}", &[codes::UNCLOSED_CALL]);
}

#[test]
fn removes_indentation_of_first_block_line() {
    check("A\n{{if 1}}\n    # Head\n      deep\n    back\n{{/if}}\nB", "A\n# Head\n  deep\nback\nB");
    check("{{if 1}}\n\n  a\n b\n\n   c\n{{/if}}", "a\nb\n\n c");
    check("{{if 1}}\n  a\n  {{if 1}}\n    b\n    c\n  {{/if}}\n  d\n{{/if}}", "a\nb\nc\nd");
    check("{{if 1}}\n  {{user}}\n  {{char}}\n{{/if}}", "Mei\nAlice");
    check("{{#if 1}}\n  a\n{{/if}}", "\n  a\n");
}

#[test]
fn chooses_branch_by_condition() {
    check("{{if 1}}a{{else}}b{{/if}}{{if 0}}a{{else}}b{{/if}}{{if 0}}a{{/if}}", "ab");
    check("{{if::1::yes}}{{if::0::no}}[{{if::1::y{{else}}n}}][{{if::0::y {{else}} n}}]", "yes[y][n]");
    check("{{if 1}}\n  a\n{{else}}\n  b\n{{/if}}|{{if off}}\n a\n{{ else }}\n  b\n  c\n{{/if}}", "a|b\n c");
    check("{{if 1}}a{{if 0}}b{{else}}c{{/if}}d{{else}}e{{/if}}", "acd");
    check("{{if::1}}a{{/if}}{{IF :: 1 }}b{{/If}}", "ab");
    check("{{if::1::a::b}}", "{{if::1::a::b}}");
}

#[test]
fn treats_empty_zero_false_and_off_as_falsy() {
    check("{{if {{noop}}}}1{{/if}}{{if 0}}2{{/if}}{{if FALSE}}3{{/if}}{{if Off}}4{{/if}}", "");
    check("{{if no}}1{{/if}}{{if 00}}2{{/if}}{{if null}}3{{/if}}", "123");
}

#[test]
fn negates_condition_with_exclamation_mark() {
    check("{{if !0}}a{{/if}}{{if ! 1}}b{{else}}c{{/if}}{{if !{{user}}}}d{{/if}}", "ac");
    check("{{if !description}}a{{else}}b{{/if}}{{if !.nothing}}c{{/if}}", "bc");
    check("{{setvar::x::!}}{{if {{getvar::x}}}}a{{else}}b{{/if}}", "a");
}

#[test]
fn reads_bare_name_as_its_value() {
    check(
        "{{if description}}D{{else}}N{{/if}} {{if nosuchthing}}lit{{/if}} {{if noop}}x{{else}}E{{/if}}",
        "D lit E",
    );
    check("{{.a = 0}}{{$b = 1}}{{if .a}}1{{else}}2{{/if}}{{if $b}}3{{/if}}{{if .c}}4{{/if}}", "23");
    check(
        "{{if roll}}a macro that needs an argument is a word{{/if}}",
        "a macro that needs an argument is a word",
    );
}

#[test]
fn evaluates_only_chosen_branch() {
    check("{{if 0}}{{.a = 1}}{{else}}{{.b = 1}}{{/if}}{{hasvar::a}} {{hasvar::b}}", "false true");
    check("{{.a ?? {{.b = 1}}}}{{.c = 1}}{{.c || {{.d = 1}}}}{{hasvar::b}}{{hasvar::d}}", "1truefalse");
}

#[test]
fn drops_else_outside_of_condition() {
    check("a{{else}}b {{setvar::a::x{{else}}y}}{{getvar::a}}", "ab xy");
    check("{{setvar::a}}x {{ else }} y{{/setvar}}{{getvar::a}}", "x  y");
    check("{{if 1}}a{{else}}b", "{{if 1}}ab");
    check("{{if 1}}a{{if 0}}b{{else}}c{{/if}}", "{{if 1}}ac");
    check("{{if 0}}a{{else}}b{{else}}c{{/if}}{{if::0::a{{else}}b{{else}}c}}", "bcbc");
    check("{{// {{else}} }}", "");
    check_found("{{if 1}}a{{else}}b", &[codes::MISSING_ARGUMENT, codes::UNMATCHED_CLOSER]);
    check_found("{{else}}{{if 0}}a{{else}}b{{else}}c{{/if}}", &[codes::UNMATCHED_CLOSER; 2]);
}

#[test]
fn ignores_flags() {
    check("{{!user}} {{?user}} {{~user}} {{ ! ? user }} {{>user}} {{#user}}", "Mei Mei Mei Mei Mei Mei");
}

#[test]
fn drops_comments_and_their_content() {
    check("a{{// {{setvar::x::1}} | :: note}}b{{hasvar::x}}", "abfalse");
    check("a{{//}} {{.x = 1}}\n note {{///}}b{{ // }}c{{ /// }}{{hasvar::x}}", "a \n note bctrue");
    check("{{//no space}}{{// }}x{{hasvar::x}}", "xfalse");
    check("a{{//}}b", "ab");
    check_found("{{// {{nobody}} }}{{///}}", &[codes::UNKNOWN_MACRO]);
}

#[test]
fn reads_braces_before_filter_name_as_text() {
    check("{{addvar::n::a | {{getvar::C}} :: b}}", "{{addvar::n::a | {{getvar::C}} :: b}}");
    check("{{reverse::a | b {{user}}}}", "{{reverse::a | b Mei}}");
    check("{{reverse::{{user}} | {{user}}}} {{user}}", "{{reverse::Mei | {{user}}}} Mei");
    check("{{reverse::a | b::{{user}}}}", "{{reverse::a | b::Mei}}");
    check("{{reverse::a|}} {{user}} {{user}}", "{{reverse::a|}} {{user}} Mei");
    check("{{reverse::a|", "{{reverse::a|");
}

#[test]
fn uses_default_reasoning_texts() {
    check("{{reasoningPrefix}}{{reasoningSeparator}}{{reasoningSuffix}}", "<think>\n</think>");
}

#[test]
fn expands_legacy_markers() {
    check("<USER> <bot> <Char> <GROUP> <CHARIFNOTGROUP> <b>", "Mei Alice Alice Alice Alice <b>");
    check("{{setvar::a::<USER>}}{{getvar::a}} {{if <bot>}}x{{/if}} {{getvar <user>}}", "Mei x ");
    check(
        "{{time_UTC+3}} {{time_UTC-3}} {{{time_utc+0}}} {{time_UTC}}",
        "1:30 AM 7:30 PM {10:30 PM} {{time_UTC}}",
    );
}

#[test]
fn supports_variable_operators() {
    check("{{.a = 5}}{{.a}} {{.a++}} {{.a--}} {{.a += 10}}{{.a}} {{.a -= 3}}{{.a}}", "5 6 5 15 12");
    check(
        "{{$g = hello world}}{{$g}} {{ $g }}{{hasvar::g}}{{getglobalvar::g}}",
        "hello world hello worldfalsehello world",
    );
    check("{{.s = ab}}{{.s += cd}}{{.s}}", "abcd");
    check("{{.my-var--}}{{.my-var}}{{ .n ++ }}", "-1-11");
    check("{{.g = Hello, {{user}}!}}{{.g}}{{.e = }}[{{.e}}]", "Hello, Mei![]");
}

#[test]
fn compares_variables_as_text_and_numbers() {
    check("{{.a = 5.0}}{{.a == 5}} {{.a == 5.0}} {{.a >= 5.0}} {{.a < 0x10}}", "true false true true");
    check(
        "{{.a == }} {{.a != }} {{.a == 0}} {{.a < 1}} {{.a = x}}{{.a <= y}}",
        "true false false true false",
    );
    check(
        "{{.a = 5}}{{.a == 5}} {{.a != 5}} {{.a > 4}} {{.a >= 5}} {{.a < 5}} {{.a <= 4}}",
        "true false true true false false",
    );
    check("{{.a = x}}{{.a == x}} {{.a == y}} {{.a > 1}} {{.b == }}", "true false false true");
    check("{{.a = 10}}{{.a > 9}}{{if {{.a == 10}}}}!{{/if}}", "true!");
}

#[test]
fn adds_lists_numbers_and_texts() {
    check(
        "{{setvar::s::0}}{{addvar::s::x}}{{getvar::s}} {{addvar::t::x}}{{addvar::t::1}}{{getvar::t}}",
        "x x1",
    );
    check(
        "{{setvar::l::[1, \"a\"]}}{{incvar::l}}{{addvar::l::2}}|{{getvar::l}}",
        "[1,\"a\",1]|[1,\"a\",1,\"2\"]",
    );
    check(
        "{{setvar::n::Infinity}}{{addvar::n::-Infinity}}{{getvar::n}} {{.s = ab}}{{.s -= 3}}{{.s}}",
        "Infinity ab-3",
    );
    check("{{.n = 5}}{{.n -= x}}{{.n}} {{.m -= 2}}{{.m}} {{setvar::z::007}}{{getvar::z}} {{.z}}", "5 -2 7 7");
    check(
        "{{addvar::e::}}{{getvar::e}} {{.q ??= 007}} {{.q}} {{setvar::v:: 1e3 }}{{getvar::v}}",
        "0 007 7 1000",
    );
}

#[test]
fn allows_only_latin_names_in_variable_shorthand() {
    check(
        "{{.变量 = 5}}[{{.变量}}] {{.a变 = 1}} {{setvar::变量::值}}{{getvar::变量}}",
        "{{.变量 = 5}}[{{.变量}}] {{.a变 = 1}} 值",
    );
}

#[test]
fn treats_invalid_operators_as_text() {
    check("{{.a - 1}} {{.}} {{$}} {{.1}} {{.a++ x}} {{.a", "{{.a - 1}} {{.}} {{$}} {{.1}} {{.a++ x}} {{.a");
}

#[test]
fn expands_arguments_of_failed_call() {
    let mut registry = ctx_macros::Registry::builtin();
    let broken =
        ctx_macros::Definition::new("broken", |_| Err(ctx_macros::Failure::from_message(phrase!("no"))));
    registry.register(broken.arity(0, None)).unwrap();
    let text = ctx_types::Text::from(r"{{ broken :: {{user}} :: \{b\} c }}!{{broken}} {{char}} {{/broken}}");
    let template = ctx_macros::Template::parse(&text, Dialect::SillyTavern, &registry);
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, "{{ broken :: Mei :: {b} c }}!{{broken}} Alice {{/broken}}");
    assert_eq!(expansion.diagnostics[0].code, codes::MACRO_FAILED);
    let whole = parse("{{time}}", Dialect::SillyTavern);
    let env = ctx_macros::Env { at_millis: None, ..env() };
    assert_eq!(whole.expand(&env, &mut State::new(Limits::default()), &origin()).text, "{{time}}");
}

#[test]
fn keeps_pipe_in_variable_values_and_blocks() {
    check(
        "{{.x = a|b}}{{.x}} {{.y || c|d}} {{.y ?? e||f}} {{.y ||= g|h}}{{.y ??= i}}",
        "a|b c|d e||f g|hg|h",
    );
    check("{{.x = a}}{{.x == a|b}}{{.x != a|b}}{{.x += |b}}{{.x}}", "falsetruea|b");
    check("{{reverse}}a|b{{/reverse}} {{setvar::n}}a|b{{/setvar}}{{getvar::n}}", "b|a a|b");
    check_found("{{reverse::a|b}}", &[codes::RESERVED_PIPE]);
    check("{{reverse::a|b}} {{reverse::{{.z = a|b}}{{.z}}}}", "{{reverse::a|b}} b|a");
}

#[test]
fn returns_documented_value_of_each_operator() {
    check("[{{.n}}][{{.n = 4}}][{{.n += 3}}][{{.n -= 2}}]{{.n++}} {{.n--}} {{.n}}", "[][][][]6 5 5");
    for falsy in ["", "0", "false", "off", "OFF"] {
        check(&format!("{{{{.n = {falsy}}}}}{{{{.n || a}}}}{{{{.n ||= b}}}}{{{{.n}}}}"), "abb");
        check(
            &format!("{{{{.n = {falsy}}}}}[{{{{.n ?? a}}}}][{{{{.n ??= b}}}}]"),
            &format!("[{falsy}][{falsy}]"),
        );
    }
    check("{{.n ?? a}}{{.n ??= b}}{{.n}} {{.n || c}}", "abb b");
    check(
        "{{.n = 10}}{{.n == 10}} {{.n != 10}} {{.n > 9}} {{.n >= 10}} {{.n < 9}} {{.n <= 10}}",
        "true false true true false true",
    );
    check("{{.n = x}}{{.n > 1}} {{.n < 1}} {{.n == X}}", "false false false");
}

#[test]
fn expands_text_after_unclosed_syntax() {
    let expand = |text: &str| expand(text, Dialect::SillyTavern).text.to_string();
    assert_eq!(expand("{{.b<user> {{user}}"), "{{.bMei Mei");
    assert_eq!(expand("{{if 1}}{{setvar::a:: {{/if}}"), "{{setvar::a::");
    assert_eq!(expand("{{if 0}}a{{else}}{{// b }}c{{/if}}"), "c");
}
