//! What the command says in Chinese, text by text.

use ctx_project::files::Once;
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, phrase};
use std::ffi::OsString;

use super::*;

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

/// Checks what becomes of a phrase.
#[track_caller]
fn check(phrase: &Phrase, expected: &str) {
    assert_eq!(Language::Zh.say(phrase), expected);
}

#[test]
fn what_is_quoted_stays_and_what_is_a_term_is_translated() {
    let expected = |expected, found| phrase!("expected {expected}, found {found}", expected, found);
    check(&phrase!("unknown macro `{name}`", name = "a list"), "未知的宏 `a list`");
    let roles = phrase!("one of {names}", names = Argument::names(["system", "user"], Divider::Or));
    check(&expected(roles, phrase!("null")), "应为 `system` 或 `user` 之一，实为 null");
}

#[test]
fn each_macro_has_a_description() {
    let registry = ctx_macros::Registry::builtin();
    let descriptions = registry.iter().map(|definition| definition.description.clone());
    let mut missing: Vec<String> =
        descriptions.filter(|english| Language::Zh.catalogue().unwrap().word(english).is_none()).collect();
    missing.dedup();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn archives_are_refused_in_chinese() {
    let archive = b"PK\x03\x04PK\x05\x06\0\0\0\0\0\0\0\x04";
    let file = ctx_preset_import::SourceFile { name: "a.zip", bytes: archive };
    let refused = ctx_preset_import::Importer::default().import(&[file]);
    let message = &refused.report.files[0].diagnostics[0].message;
    check(message, "无法从文件中读取数据：压缩包的文件超过 512 个");
}

/// Returns what is left in English of what a finding says.
fn left_in_english(finding: &ctx_types::Diagnostic) -> Vec<String> {
    let texts = [Some(&finding.message), finding.help.as_ref()];
    let written = texts.into_iter().flatten().map(|english| (english.to_string(), Language::Zh.say(english)));
    let names = [
        "RFC 3339",
        "2026-01-31T12:00:00Z",
        "Asia/Shanghai",
        "UTC",
        "Base URL",
        "URL",
        "id",
        "true",
        "false",
        "JSON",
        "Token",
        "API",
        "Schema",
    ];
    let is_english = |other: &str| {
        let own: String = other.split('`').step_by(2).collect();
        let own = names.iter().fold(own, |own, name| own.replace(name, ""));
        own.contains(|c: char| c.is_ascii_alphabetic())
    };
    written.filter(|(_, other)| is_english(other)).map(|(english, _)| english).collect()
}

/// Values of which at most some are what a key takes, as both YAML and TOML write them.
const BAD_VALUES: [&str; 12] =
    ["5", "-1", "1.5", "true", "'zzz'", "''", "'.'", "[]", "[5]", "['zzz']", "'opnai'", "'Europe/Berln'"];

#[test]
fn what_is_wrong_with_values_of_files_is_told_in_chinese() {
    let engine = ctx_engine::Engine::new();
    let keys = |schema: &schemars::Schema| -> Vec<String> {
        let keys = schema.get("properties").and_then(|keys| keys.as_object()).unwrap();
        keys.keys().cloned().collect()
    };
    let mut left = Vec::new();
    for key in keys(&schemars::schema_for!(ctx_types::worldbook::WorldbookEntry)) {
        for value in BAD_VALUES {
            let text = format!("entries: [{{ {key}: {value} }}]");
            let book = ctx_engine::read_worldbook(text.as_bytes(), "book.yaml").unwrap();
            left.extend(book.diagnostics.iter().flat_map(left_in_english));
        }
    }
    for key in keys(&schemars::schema_for!(ctx_project::case::CaseFile)) {
        for value in BAD_VALUES.into_iter().chain(["{ zzz: 1 }"]) {
            let text = format!("{key}: {value}\nzzz: 1\n");
            let path = std::path::Path::new("case.yaml");
            let found = ctx_project::case::check(text.as_bytes(), path, &engine, &Once::default()).unwrap();
            left.extend(found.iter().flat_map(left_in_english));
        }
    }
    let tables = [
        ("", keys(&schemars::schema_for!(ctx_project::config::ConfigFile))),
        ("[endpoint]\n", keys(&schemars::schema_for!(ctx_project::endpoint::EndpointKeys))),
        ("[transcription]\n", keys(&schemars::schema_for!(ctx_project::endpoint::EndpointKeys))),
        ("[tools]\n", keys(&schemars::schema_for!(ctx_project::config::ToolKeys))),
        ("[tools.deny]\n", keys(&schemars::schema_for!(ctx_project::config::ToolRuleKeys))),
        ("[compression]\n", keys(&schemars::schema_for!(ctx_project::config::MaskKeys))),
        ("[[processors]]\n", vec!["id".to_owned(), "enabled".to_owned(), "priority".to_owned()]),
    ];
    for (table, keys) in tables {
        for (key, value) in keys.iter().flat_map(|key| BAD_VALUES.map(|value| (key, value))) {
            let text = format!("{table}{key} = {value}\nzzz = 1\n");
            let mut sources = crate::show::sources(Language::Zh);
            let path = std::path::Path::new("ctx.toml");
            let found =
                ctx_project::config::check(text.as_bytes(), path, &engine, &mut sources, &Once::default())
                    .unwrap();
            left.extend(found.iter().flat_map(left_in_english));
        }
    }
    left.sort();
    left.dedup();
    assert!(left.is_empty(), "{} are left:\n{}", left.len(), left.join("\n"));
}
