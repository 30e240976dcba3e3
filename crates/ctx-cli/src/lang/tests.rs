//! What the command says in Chinese, text by text.

use std::ffi::OsString;

use super::*;
use crate::explanations;

#[track_caller]
fn check_asked(arguments: &[&str], variable: Option<&str>, expected: Language) {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    assert_eq!(asked(&arguments, variable.map(OsString::from)), expected);
}

#[test]
fn the_option_counts_over_the_variable_and_nothing_else_counts() {
    check_asked(&["check"], None, Language::En);
    check_asked(&["check"], Some("zh"), Language::Zh);
    check_asked(&["--lang", "en", "check"], Some("zh"), Language::En);
    check_asked(&["check", "--lang=zh"], None, Language::Zh);
    check_asked(&["check", "--", "--lang=zh"], Some(""), Language::En);
}

#[test]
fn the_variable_may_be_written_as_a_locale_and_an_unknown_one_is_english() {
    for name in ["ZH", "zh-CN", "zh_CN.UTF-8", "zh_TW", "zh.UTF-8", "zh-Hans-CN", " zh "] {
        check_asked(&["check"], Some(name), Language::Zh);
    }
    for name in ["", "C", "C.UTF-8", "fr_FR", "en_GB.UTF-8", "zhuang"] {
        check_asked(&["check"], Some(name), Language::En);
    }
}

/// Checks what becomes of the message of a code.
#[track_caller]
fn check(code: u16, english: &str, expected: &str) {
    assert_eq!(catalogue::chinese().of_code(code, english).as_deref(), Some(expected));
}

#[test]
fn what_is_quoted_stays_and_what_is_a_term_is_translated() {
    check(300, "no macro is called `a list`", "没有名为 `a list` 的宏");
    check(100, "expected true or false, found the text `a list`", "应为 true 或 false，实为文本 `a list`");
    check(100, "expected one of `system` or `user`, found null", "应为 `system` 或 `user` 之一，实为 null");
    check(100, "expected `a`, `b` or `c`, found a number", "应为 `a`、`b` 或 `c`，实为数字");
    check(
        307,
        "`user` in an argument of `setvar` is not expanded: in this dialect the argument ends at the first `}`",
        "`setvar` 的参数中的 `user` 不会展开：在该方言中参数到第一个 `}` 为止",
    );
    check(9999, "did you mean `user`?", "是不是想写 `user`？");
}

#[test]
fn each_code_has_a_title_and_a_way_out() {
    let missing: Vec<&str> = explanations::all()
        .map(|known| known.code)
        .filter(|code| catalogue::chinese().explanation(code).is_none())
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn holes_agree() {
    assert_eq!(catalogue::chinese().disagreeing(), [""; 0]);
}

/// What findings of the fixtures say, and decisions about their messages.
#[test]
fn each_finding_and_each_reason_of_the_fixtures_has_a_translation() {
    let mut missing = Vec::new();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    walk(&fixtures, &mut |snapshot| {
        for line in snapshot.lines().map(str::trim) {
            missing.extend(of_line(line).filter(|english| !english.is_empty()));
        }
    });
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "{} are missing:\n{}", missing.len(), missing.join("\n"));
}

const OUTCOMES: [&str; 7] = ["kept ", "dropped ", "cut ", "moved ", "merged ", "hidden ", "degraded "];

/// Returns what has no translation in a line of a snapshot.
fn of_line(line: &str) -> impl Iterator<Item = String> + use<> {
    let catalogue = catalogue::chinese();
    let finding = ["error[CTX", "warning[CTX", "info[CTX"].iter().find_map(|mark| line.strip_prefix(mark));
    let finding = finding.and_then(|rest| {
        let (code, message) = rest.split_once("]: ")?;
        let code = code.parse::<u16>().ok()?;
        let placed = message.strip_suffix(')').and_then(|message| message.rsplit_once(" (at "));
        let message = placed.map_or(message, |(message, _)| message);
        catalogue.of_code(code, message).is_none().then(|| format!("CTX{code:04} {message}"))
    });
    let reason = OUTCOMES.iter().find_map(|outcome| line.strip_prefix(outcome)).and_then(|rest| {
        let (_, reason) = rest.split_once(": ")?;
        let is_figures = |rest: &str| {
            rest.ends_with(" bytes)")
                || rest.ends_with(" tokens)")
                || rest.ends_with(" token)")
                || rest.ends_with(" byte)")
        };
        let reason = if is_figures(reason) { reason.rsplit_once(" (")?.0 } else { reason };
        catalogue.text(reason).is_none().then(|| format!("decision {reason}"))
    });
    finding.into_iter().chain(reason)
}

fn walk(folder: &std::path::Path, read: &mut dyn FnMut(&str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, read);
        } else if path.ends_with("expected.snap") {
            read(&std::fs::read_to_string(&path).unwrap());
        }
    }
}
