//! `ctx check`: what is wrong with files.

use ctx_language::Language;
use std::path::PathBuf;

use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, Severity, count_of, phrase};
use serde_json::{Value, json};

use crate::args::CheckArguments;
use crate::commands::explain_code;
use crate::exit::Exit;
use crate::lang;
use crate::show;
use ctx_project::check::{Checked, Checker, DocumentKind, Fixes};
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::inputs;
use ctx_project::sources::Sources;
use ctx_project::unusable;

/// Checks files and folders, one file after the other; or explains a code.
pub(crate) fn run(language: Language, arguments: &CheckArguments) -> Result<Exit> {
    if let Some(code) = &arguments.explain {
        return explain_code::run(language, code, arguments.json);
    }
    inputs::check_stdin(arguments.paths.iter().chain(&arguments.worldbooks))?;
    if arguments.fix && arguments.paths.iter().any(|path| files::is_stdin(path)) {
        return Err(unusable!("cannot change standard input; name a file"));
    }
    let named = arguments.format.as_deref().and_then(DocumentKind::parse);
    let mut checker = Checker::new(&arguments.worldbooks)?.naming(named);
    if let Some(file) = &arguments.models {
        let mut sources = Sources::default();
        let found = checker.read_models(file, &mut sources)?;
        show::findings(language, &sources, &found);
    }
    let mut fixes = arguments.fix.then(|| Fixes::new(arguments.dry_run));
    let mut totals = Totals::default();
    let here = [PathBuf::from(".")];
    let paths = if arguments.paths.is_empty() { &here } else { arguments.paths.as_slice() };
    checker.check(paths, &mut fixes, &mut |checked| {
        // Programs have the findings in the result; that a file is unreadable people want to know too.
        if !arguments.json || checked.is_unreadable {
            show::findings(language, &checked.sources, &checked.findings);
        }
        totals.add(&checked, arguments.json);
    });
    if totals.files.is_empty() && totals.errors == 0 {
        let paths: Vec<String> = paths.iter().map(|path| files::name(path)).collect();
        let paths = Argument::names(paths.iter().map(String::as_str), Divider::Comma);
        let told = phrase!(
            "nothing to check in {paths}: no JSON, JSON Lines or YAML file of a known type, and no `ctx.toml`",
            paths
        );
        return Err(ProjectError::Unusable(told));
    }
    match &fixes {
        Some(fixes) => report(language, &totals, fixes, arguments.json)?,
        None => totals.print(language, arguments.json)?,
    }
    Ok(totals.exit(arguments.deny_warnings))
}

/// Writes what was fixed, and then prints it beside what is left.
fn report(language: Language, totals: &Totals, fixes: &Fixes, as_json: bool) -> Result<()> {
    fixes.write()?;
    if as_json {
        let mut value = totals.to_json();
        if let Value::Object(map) = &mut value {
            map.insert("changes".to_owned(), fixes.to_json());
        }
        return show::json(&value);
    }
    show_declined(language, fixes);
    show::drawn(&format!("{}{}", changes(language, fixes), totals.told(language)))
}

/// What was found in all files.
#[derive(Default)]
pub(super) struct Totals {
    files: Vec<String>,
    /// What files were taken for, in their order.
    kinds: Vec<(String, DocumentKind)>,
    errors: usize,
    warnings: usize,
    is_any_unreadable: bool,
    findings: Vec<Value>,
}

impl Totals {
    pub(super) fn add(&mut self, checked: &Checked, with_findings: bool) {
        let count = |severity| checked.findings.iter().filter(|found| found.severity == severity).count();
        self.errors += count(Severity::Error);
        self.warnings += count(Severity::Warning);
        self.is_any_unreadable |= checked.is_unreadable;
        self.files.extend(checked.files.iter().cloned());
        self.kinds.extend(checked.files.iter().cloned().zip(checked.kind));
        if with_findings {
            self.findings.extend(checked.to_json());
        }
    }

    fn to_json(&self) -> Value {
        let mut value = json!({
            "files": self.files,
            "errors": self.errors,
            "warnings": self.warnings,
            "findings": self.findings,
        });
        if let (Value::Object(map), false) = (&mut value, self.kinds.is_empty()) {
            let kinds = self.kinds.iter().map(|(file, kind)| (file.clone(), Value::from(kind.id())));
            map.insert("kinds".to_owned(), kinds.collect());
        }
        value
    }

    /// Prints how many findings there are, or as JSON each of them.
    pub(super) fn print(&self, language: Language, as_json: bool) -> Result<()> {
        if as_json { show::json(&self.to_json()) } else { show::result(&self.told(language)) }
    }

    pub(super) fn exit(&self, deny_warnings: bool) -> Exit {
        match (self.is_any_unreadable, self.errors, self.warnings) {
            (true, ..) => Exit::Unreadable,
            (false, 0, 0) => Exit::Success,
            (false, 0, _) if !deny_warnings => Exit::Success,
            _ => Exit::Findings,
        }
    }

    /// Writes what files were taken for, and how much was found.
    fn told(&self, language: Language) -> String {
        let told = phrase!(
            "{files} checked: {errors}, {warnings}",
            files = count_of!(self.files.len(), "file"),
            errors = count_of!(self.errors, "error"),
            warnings = count_of!(self.warnings, "warning")
        );
        format!("{}{}\n", kinds(language, &self.kinds), lang::say(language, &told))
    }
}

/// Explains why findings that could be fixed were not, on standard error.
fn show_declined(language: Language, fixes: &Fixes) {
    for file in fixes.files() {
        for (finding, reason) in &file.declined {
            let pointer = finding.location.pointer.as_deref().unwrap_or_default();
            let (file, code) = (&file.name, finding.code.to_string());
            show::remark(
                language,
                &phrase!("{file} {pointer}: cannot fix {code}: {reason}", file, pointer, code, reason),
            );
        }
    }
}

/// Writes the changed lines of each file, and how many findings are gone with them.
fn changes(language: Language, fixes: &Fixes) -> String {
    let mut text = String::new();
    let changed = || fixes.files().iter().filter_map(|file| Some((file, file.after.as_deref()?)));
    for (file, after) in changed() {
        let path = show::clean_line(&file.name);
        let line = if fixes.is_dry() {
            phrase!("would change {path}", path)
        } else {
            phrase!("changed {path}", path)
        };
        text += &(lang::say(language, &line) + "\n");
        text +=
            &show::diff(language, &String::from_utf8_lossy(&file.before), &String::from_utf8_lossy(after));
    }
    let fixed: usize = fixes.files().iter().map(|file| file.fixed.len()).sum();
    let (fixed, files) = (count_of!(fixed, "diagnostic"), count_of!(changed().count(), "file"));
    let told = if fixes.is_dry() {
        phrase!("would fix {fixed} in {files}", fixed, files)
    } else {
        phrase!("fixed {fixed} in {files}", fixed, files)
    };
    text + &lang::say(language, &told) + "\n"
}

/// How many files are named.
const MAX_NAMED: usize = 20;

/// Writes what each file was taken for, a line each; of many files the first.
fn kinds(language: Language, kinds: &[(String, DocumentKind)]) -> String {
    let line = |(file, kind): &(String, DocumentKind)| {
        let (file, kind) = (show::clean_line(file), Phrase::from(kind.as_str()));
        lang::say(language, &phrase!("checked `{file}` as {kind}", file, kind)) + "\n"
    };
    let more = show::omitted(language, kinds.len().saturating_sub(MAX_NAMED), |more| {
        phrase!("and {more}; use `--json` to list all", more = count_of!(more, "more file"))
    });
    kinds.iter().take(MAX_NAMED).map(line).chain(more.map(|more| more + "\n")).collect()
}
