//! `ctx check`: what is wrong with files.

mod fixes;
mod kind;
mod mend;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use ctx_compress::mask::check_summaries;
use ctx_engine::{Compile, Engine, Format, ImportError, Imported, Limits, read_conversation, read_profile};
use ctx_preset_import::{Document, detect};
use ctx_types::{Diagnostic, Session, Severity};
use ctx_wire::lint;
use serde_json::{Value, json};

use crate::args::CheckArguments;
use crate::commands::explain_code;
use crate::commands::{test, worldbook};
use crate::exit::Exit;
use crate::lang;
use crate::show::{self, plural};
use ctx_project::Sources;
use ctx_project::books::Books;
use ctx_project::codes;
use ctx_project::config;
use ctx_project::edits;
use ctx_project::files::{self, Once};
use ctx_project::folder::{self, Found};
use ctx_project::inputs::{self, AgentFile, InputFile};
use ctx_project::session_file::pointer_in;
use ctx_project::sources::Position;
use fixes::Fixes;
use kind::Kind;

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
    let (mut totals, mut seen) = (Totals::default(), Once::default());
    for path in &arguments.paths {
        let is_folder = path.is_dir();
        let found = if is_folder { folder::files(path) } else { vec![Found::File(path.clone())] };
        let checked = found.into_iter().filter_map(|found| match found {
            // A file that is named in two ways is checked once.
            Found::File(file) if !seen.is_new(&file) => None,
            Found::File(file) => check(&file, is_folder, &checker, &mut fixes),
            Found::Closed(folder, reason) => Some(Checked::closed(&folder, reason)),
        });
        for checked in checked {
            // Programs have the findings in the result; that a file is unreadable people want to know too.
            if !arguments.json || checked.is_unreadable {
                show::findings(&checked.sources, &checked.findings);
            }
            totals.add(&checked, arguments.json);
        }
    }
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
    fixes.show_declined();
    show::drawn(&format!("{}{totals}", fixes.to_text()))
}

/// What all files are checked with.
struct Checker {
    engine: Engine,
    with: Compile,
    books: Books,
}

impl Checker {
    /// Reads the worldbooks that are at hand; what is odd about them is not told, unless they are checked too.
    fn new(worldbooks: &[PathBuf]) -> Result<Self> {
        let files: Vec<InputFile> = worldbooks.iter().map(InputFile::from).collect();
        let (books, _) = Books::read(&files, &mut show::sources())?;
        let with = Compile { worldbooks: books.loaded(), ..Compile::default() };
        Ok(Self { engine: Engine::new(), with, books })
    }
}

/// What was looked at: a file, or several that belong together.
pub(super) struct Checked {
    /// None of a folder that cannot be read: its files are not known.
    files: Vec<String>,
    /// What the one file was taken for, if it is known.
    kind: Option<Kind>,
    sources: Sources,
    is_unreadable: bool,
    /// In the order of their places.
    findings: Vec<Diagnostic>,
    positions: Vec<Option<Position>>,
}

impl Checked {
    /// Files that belong together.
    pub(super) fn of_files(
        files: Vec<String>,
        sources: Sources,
        findings: Vec<Diagnostic>,
        positions: Vec<Option<Position>>,
    ) -> Self {
        Self { files, kind: None, sources, is_unreadable: false, findings, positions }
    }

    /// A file that could not be read.
    pub(super) fn unreadable(name: String, sources: Sources, finding: Diagnostic) -> Self {
        let positions = sources.positions(std::slice::from_ref(&finding));
        let findings = vec![finding];
        Self { files: vec![name], kind: None, sources, is_unreadable: true, findings, positions }
    }

    /// What was found, as people read it.
    pub(super) fn show(&self) {
        show::findings(&self.sources, &self.findings);
    }

    /// A folder that could not be looked into.
    fn closed(folder: &Path, reason: String) -> Self {
        let finding = Diagnostic::error(codes::UNREADABLE_FILE, reason).in_document(files::name(folder));
        Self {
            files: Vec::new(),
            kind: None,
            sources: show::sources(),
            is_unreadable: true,
            findings: vec![finding],
            positions: vec![None],
        }
    }
}

/// Checks one file; of a folder, files that are nothing of ours are passed over.
fn check(path: &Path, is_of_folder: bool, checker: &Checker, fixes: &mut Option<Fixes>) -> Option<Checked> {
    let name = files::name(path);
    let mut sources = show::sources();
    let read = match files::read(path) {
        Err(error) => Err(Diagnostic::error(codes::UNREADABLE_FILE, error.to_string()).in_document(&*name)),
        Ok(bytes) if config::is_config(path) => {
            let found = config::check(&bytes, path, &checker.engine, &mut sources);
            let found = found.map(|found| without_fixes(path, found, fixes));
            found.map(|found| (Kind::Config, found)).map_err(|fault| *fault)
        }
        Ok(mut bytes) => {
            if let Some(fixes) = fixes {
                bytes = fixes.mend(path, &name, bytes, &|bytes| findings(bytes, path, checker));
            }
            sources.add(&name, &bytes);
            match look(&bytes, path, checker) {
                Err(ImportError::UnknownShape { .. }) if is_of_folder => return None,
                Err(ImportError::UnknownShape { found, .. }) => {
                    Err(sources.explained(&name, &nothing_known(found)))
                }
                found => found.map_err(|error| sources.explained(&name, &error)),
            }
        }
    };
    let is_unreadable = read.is_err();
    let (kind, findings) = match read {
        Ok((kind, findings)) => (Some(kind), findings),
        Err(error) => (None, vec![error]),
    };
    let positions = sources.positions(&findings);
    let mut placed: Vec<_> = findings.into_iter().zip(positions).collect();
    placed.sort_by(|(_, a), (_, b)| a.cmp(b));
    let (findings, positions) = placed.into_iter().unzip();
    Some(Checked { files: vec![name], kind, sources, is_unreadable, findings, positions })
}

/// Takes the edits from findings about a file that is never changed, and notes with the fixes that they are not made.
fn without_fixes(path: &Path, mut found: Vec<Diagnostic>, fixes: &mut Option<Fixes>) -> Vec<Diagnostic> {
    if let Some(fixes) = fixes {
        fixes.decline(path, &files::name(path), &found);
    }
    for finding in &mut found {
        finding.fix = None;
    }
    found
}

fn nothing_known(found: String) -> ImportError {
    // What has entries looks like a worldbook, which would have been read if it were one.
    let is_book = found == Format::Worldbook.to_string();
    let found = if is_book { "an object whose `entries` are none of a worldbook".to_owned() } else { found };
    let expected = "an agent, a preset, a worldbook, a conversation, a request body or a user profile";
    ImportError::UnknownShape { expected, found, help: None }
}

/// Reads a file as what it is, and says what that is.
fn look(bytes: &[u8], path: &Path, checker: &Checker) -> Result<(Kind, Vec<Diagnostic>), ImportError> {
    let (name, limits) = (&*files::name(path), Limits::default());
    let format = detect(bytes, name, &limits)?;
    // Parts of a case look like an agent without entries.
    if test::is_case(path) && format.is_none_or(|format| format == Format::Agent) {
        return Ok((Kind::Case, test::check_case(bytes, path, &checker.engine)?));
    }
    if format.is_none()
        && let Some(found) = request_body(bytes, name, &limits)
    {
        return Ok((Kind::RequestBody, found));
    }
    if let Some(format) = format.filter(|format| format.is_conversation()) {
        return of_messages(format, bytes, name);
    }
    let found = match format {
        Some(format) if format.is_worldbook() => worldbook::check::findings(bytes, name)?,
        Some(Format::Profile) => read_profile(bytes, name, &limits)?.diagnostics,
        _ => of_agent(bytes, path, checker)?,
    };
    Ok((Kind::Format(format.unwrap_or(Format::Agent)), found))
}

/// Reads a file as what it is.
fn findings(bytes: &[u8], path: &Path, checker: &Checker) -> Result<Vec<Diagnostic>, ImportError> {
    look(bytes, path, checker).map(|(_, findings)| findings)
}

/// Reads messages as a conversation, and looks at them as a provider does if they are the body of a request.
fn of_messages(format: Format, bytes: &[u8], name: &str) -> Result<(Kind, Vec<Diagnostic>), ImportError> {
    let limits = Limits::default();
    let conversation = read_conversation(bytes, name, &limits)?;
    let of_provider = request_body(bytes, name, &limits);
    let kind = if of_provider.is_some() { Kind::RequestBody } else { Kind::Format(format) };
    let mut found = of_provider.unwrap_or_default();
    // What the provider says about a place is enough there.
    let places: Vec<_> = found.iter().map(|finding| finding.location.pointer.clone()).collect();
    let is_new = |finding: &Diagnostic| !places.contains(&finding.location.pointer);
    found.extend(of_conversation(conversation, name).into_iter().filter(is_new));
    Ok((kind, found))
}

/// Reads an agent, compiles it, and looks at what it costs in a cache.
fn of_agent(bytes: &[u8], path: &Path, checker: &Checker) -> Result<Vec<Diagnostic>, ImportError> {
    let name = &*files::name(path);
    let engine = &checker.engine;
    let file = AgentFile::parse(bytes, name, engine)?;
    let mut books = checker.books.clone();
    books.add_beside(path, &file.agent, &mut show::sources());
    let with = Compile { worldbooks: books.loaded(), ..checker.with.clone() };
    let compiled = engine.compile(&file.agent, &with);
    let is_of_book = |finding: &Diagnostic| finding.location.document.is_some();
    let (mut of_books, breakers): (Vec<_>, Vec<_>) =
        engine.cache_breakers(&compiled).into_iter().partition(is_of_book);
    let mut found = [file.all_findings(&compiled), file.lead_back(breakers)].concat();
    books.lead_back(&mut found);
    found.retain(|finding| !books.owns(finding));
    // What a book costs an agent's cache is not seen where the book is checked by itself.
    books.lead_back(&mut of_books);
    found.append(&mut of_books);
    Ok(found)
}

/// Returns what was found in a conversation, and what is wrong with its summaries.
fn of_conversation(conversation: Imported<Session>, name: &str) -> Vec<Diagnostic> {
    let of_summaries = check_summaries(&conversation.value).into_iter().map(|mut found| {
        found.location.pointer = pointer_in(conversation.format, found.location.pointer.take());
        found.in_document(name)
    });
    let of_summaries: Vec<Diagnostic> = of_summaries.collect();
    [conversation.diagnostics, of_summaries].concat()
}

/// Looks at a request body as its provider does; `None` for a file that is none.
fn request_body(bytes: &[u8], name: &str, limits: &Limits) -> Option<Vec<Diagnostic>> {
    let document = Document::read(bytes, name, limits).ok()?;
    let found = lint::check(&document.value, lint::detect(&document.value)?).into_iter();
    Some(found.map(|finding| finding.in_document(name)).collect())
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
            let findings = checked.findings.iter().zip(&checked.positions);
            self.findings
                .extend(findings.map(|(finding, position)| finding_json(finding, position.as_ref())));
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

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        kind::write(f, &self.kinds)?;
        let files = plural(self.files.len(), "file");
        let (errors, warnings) = (plural(self.errors, "error"), plural(self.warnings, "warning"));
        let told = format!("{files} checked: {errors}, {warnings}");
        writeln!(f, "{}", lang::text(&told))
    }
}

/// Writes a finding as JSON, with its line and column where they are known.
pub(super) fn finding_json(finding: &Diagnostic, position: Option<&Position>) -> Value {
    let mut value = json!(finding);
    if let (Value::Object(map), Some(position)) = (&mut value, position) {
        map.insert("position".to_owned(), json!(position));
    }
    if let (Value::Object(map), Some(fix)) = (&mut value, edits::to_json(finding)) {
        map.insert("fix".to_owned(), fix);
    }
    value
}
