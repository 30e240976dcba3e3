//! `ctx check`: what is wrong with files.

use std::fmt;

use anyhow::{Result, bail};
use ctx_types::Severity;
use serde_json::{Value, json};

use crate::args::CheckArguments;
use crate::commands::explain_code;
use crate::exit::Exit;
use crate::lang;
use crate::show::{self, plural};
use ctx_project::check::{Checked, Checker, Fixes, Kind};
use ctx_project::files;
use ctx_project::inputs;

/// Checks files and folders, one file after the other; or explains a code.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Exit> {
    if let Some(code) = &arguments.explain {
        return explain_code::run(code, arguments.json);
    }
    inputs::check_stdin(arguments.paths.iter().chain(&arguments.worldbooks))?;
    if arguments.fix && arguments.paths.iter().any(|path| files::is_stdin(path)) {
        bail!("standard input cannot be changed; name a file");
    }
    let checker = Checker::new(&arguments.worldbooks)?;
    let mut fixes = arguments.fix.then(|| Fixes::new(arguments.dry_run));
    let mut totals = Totals::default();
    checker.check(&arguments.paths, &mut fixes, &mut |checked| {
        // Programs have the findings in the result; that a file is unreadable people want to know too.
        if !arguments.json || checked.is_unreadable {
            show::findings(&checked.sources, &checked.findings);
        }
        totals.add(&checked, arguments.json);
    });
    match &fixes {
        Some(fixes) => report(&totals, fixes, arguments.json)?,
        None => totals.print(arguments.json)?,
    }
    Ok(totals.exit(arguments.deny_warnings))
}

/// Writes what was mended, and then prints it beside what is left.
fn report(totals: &Totals, fixes: &Fixes, as_json: bool) -> Result<()> {
    fixes.write()?;
    if as_json {
        let mut value = totals.to_json();
        if let Value::Object(map) = &mut value {
            map.insert("changes".to_owned(), fixes.to_json());
        }
        return show::json(&value);
    }
    show_declined(fixes);
    show::drawn(&format!("{}{totals}", changes(fixes)))
}

/// What was found in all files.
#[derive(Default)]
pub(super) struct Totals {
    files: Vec<String>,
    /// What files were taken for, in their order.
    kinds: Vec<(String, Kind)>,
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
    pub(super) fn print(&self, as_json: bool) -> Result<()> {
        match as_json {
            true => show::json(&self.to_json()),
            false => show::result(&self.to_string()),
        }
    }

    pub(super) fn exit(&self, deny_warnings: bool) -> Exit {
        match (self.is_any_unreadable, self.errors, self.warnings) {
            (true, ..) => Exit::Unreadable,
            (false, 0, 0) => Exit::Success,
            (false, 0, _) if !deny_warnings => Exit::Success,
            _ => Exit::Findings,
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_kinds(f, &self.kinds)?;
        let files = plural(self.files.len(), "file");
        let (errors, warnings) = (plural(self.errors, "error"), plural(self.warnings, "warning"));
        let told = format!("{files} checked: {errors}, {warnings}");
        writeln!(f, "{}", lang::text(&told))
    }
}

/// Says why findings that could be mended were not, on standard error.
fn show_declined(fixes: &Fixes) {
    for file in fixes.files() {
        for (finding, reason) in &file.declined {
            let pointer = finding.location.pointer.as_deref().unwrap_or_default();
            show::remark(&format!("{} {pointer}: {} is not fixed: {reason}", file.name, finding.code));
        }
    }
}

/// Writes the changed lines of each file, and how many findings are gone with them.
fn changes(fixes: &Fixes) -> String {
    let mut text = String::new();
    let [verb, fixed_verb] =
        if fixes.is_dry() { ["would change", "would be fixed"] } else { ["changed", "fixed"] };
    let changed = || fixes.files().iter().filter_map(|file| Some((file, file.after.as_deref()?)));
    for (file, after) in changed() {
        text += &lang::text(&format!("{verb} {}", show::clean_line(&file.name)));
        text += "\n";
        text += &show::diff(&String::from_utf8_lossy(&file.before), &String::from_utf8_lossy(after));
    }
    let fixed: usize = fixes.files().iter().map(|file| file.fixed.len()).sum();
    let (fixed, files) = (plural(fixed, "finding"), plural(changed().count(), "file"));
    text + &lang::text(&format!("{fixed} {fixed_verb} in {files}")) + "\n"
}

/// How many files are named.
const MAX_NAMED: usize = 20;

/// Writes what each file was taken for, a line each; of many files the first.
fn write_kinds(f: &mut fmt::Formatter<'_>, kinds: &[(String, Kind)]) -> fmt::Result {
    for (file, kind) in kinds.iter().take(MAX_NAMED) {
        let told = format!("`{}` is checked as {kind}", show::clean_line(file));
        writeln!(f, "{}", lang::text(&told))?;
    }
    let more = kinds.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        let told = format!("and {}; `--json` says of each what it is", plural(more, "more file"));
        writeln!(f, "{}", lang::text(&told))?;
    }
    Ok(())
}
