//! `ctx import`: imports files of other applications as an agent.

mod screen;

use ctx_language::Language;
use std::path::{Path, PathBuf};

use ctx_engine::{Engine, Format};
use ctx_preset_import::{Import, ImportReport, Importer, SourceFile};
use ctx_types::{Diagnostic, Phrase, Severity, count_of, phrase};
use serde::Serialize;

use crate::args::AgentImportArguments;
use crate::exit::Exit;
use crate::lang;
use crate::show::{self, Bar};
use ctx_project::Sources;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::imported::{self, AGENT, CONVERSATIONS, Output, PROFILE};
use ctx_project::inputs;

/// Imports files, all at once.
pub(crate) fn run(language: Language, arguments: &AgentImportArguments) -> Result<Exit> {
    inputs::check_stdin(&arguments.files)?;
    // Without a folder, name the files relative to the folder that would be used.
    let out = arguments.out.as_deref().unwrap_or(Path::new(""));
    files::refuse_stdin(out)?;
    let (read, mut sources) = read(language, &arguments.files)?;
    let given: Vec<SourceFile<'_>> = read.iter().map(|(name, bytes)| SourceFile { name, bytes }).collect();
    let mut importer = Importer::default();
    importer.format = arguments.format.as_deref().and_then(Format::parse);
    importer.prompt_order.clone_from(&arguments.prompt_order);
    let mut made = importer.import(&given);
    imported::report_lost_digits(&mut made, &given);
    imported::report_broken_rules(&mut made, &Engine::new());
    let findings: Vec<Diagnostic> = made.diagnostics().cloned().collect();
    if !arguments.json {
        packed(&made.report).for_each(|name| sources.hide(name));
        show::findings(language, &sources, &findings);
    }
    let mut written = imported::of(&made, &given, out);
    if let (Some(path), Some(out)) = (&arguments.report_file, &arguments.out) {
        imported::refuse_twice(path, &written, out)?;
    }
    let refusal = Refusal::of(&made.report, &findings, &written, arguments);
    let left = if arguments.out.is_none() { written.len() } else { 0 };
    if refusal.is_some() || arguments.out.is_none() {
        written.clear();
    }
    if let Some(path) = &arguments.report_file {
        written.push((path.clone(), files::pretty_json(&made.report).into()));
    }
    imported::write(arguments.out.as_deref(), &written, &sources)?;
    let made_files = made_files(out, &written);
    let names: Vec<String> = written.iter().map(|(path, _)| files::name(path)).collect();
    if arguments.json {
        show::json(&Answer { report: &made.report, written: &names })?;
    } else {
        show::drawn(&summary(language, &made, &names, arguments))?;
    }
    if let Some(refusal) = refusal {
        show::failure(language, &ProjectError::Unusable(refusal.why));
        return Ok(refusal.exit);
    }
    if !arguments.json || left > 0 {
        show::remark(language, &next(arguments, left, made_files.as_deref()));
    }
    Ok(if unread(&made.report).next().is_some() { Exit::Unreadable } else { Exit::Success })
}

/// JSON output of an import.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    report: &'a ImportReport,
    written: &'a [String],
}

/// Name and content of a file.
type NamedBytes = (String, Vec<u8>);

/// Reads the files. Shows a progress bar for many files.
fn read(language: Language, paths: &[PathBuf]) -> Result<(Vec<NamedBytes>, Sources)> {
    let mut sources = show::sources(language);
    let bar = Bar::new(paths.len());
    let mut read = Vec::with_capacity(paths.len());
    for path in paths {
        let name = files::name(path);
        bar.show(&name);
        let bytes = sources.read(path, &name)?;
        read.push((name, bytes));
        bar.done();
    }
    Ok((read, sources))
}

/// Returns the names of files that are unreadable or have an unknown format.
fn unread(report: &ImportReport) -> impl Iterator<Item = &str> {
    report.files.iter().filter(|file| file.format.is_none()).map(|file| file.path.as_str())
}

/// Returns the names of files with packed documents, whose bytes are not readable text.
fn packed(report: &ImportReport) -> impl Iterator<Item = &str> {
    report.files.iter().filter(|file| file.container.is_some()).map(|file| file.path.as_str())
}

/// Reason for writing only the report.
struct Refusal {
    exit: Exit,
    why: Phrase,
}

impl Refusal {
    fn of(
        report: &ImportReport,
        findings: &[Diagnostic],
        written: &[Output<'_>],
        arguments: &AgentImportArguments,
    ) -> Option<Self> {
        let is_lost = report.counts.unsupported > 0
            || findings.iter().any(|finding| finding.severity == Severity::Error);
        if arguments.strict && is_lost {
            let why = phrase!("nothing written: `--strict` rejects errors and unsupported fields");
            return Some(Self { exit: Exit::Findings, why });
        }
        if written.is_empty() {
            return Some(Self { exit: Exit::Unreadable, why: phrase!("no importable files") });
        }
        let out = arguments.out.as_deref()?;
        let is_there = out.join(AGENT).symlink_metadata().is_ok();
        if let Some(name) = unread(report).next().filter(|_| is_there) {
            let out = files::name(out);
            let why = phrase!(
                "nothing written: `{out}` has an `{agent}`, and `{name}` is unreadable; omit it or use another \
                folder",
                out,
                agent = AGENT,
                name
            );
            return Some(Self { exit: Exit::Unreadable, why });
        }
        let changed = if arguments.force { Vec::new() } else { imported::changed_files(written) };
        let file = files::name(changed.first()?);
        let why = match changed.len() {
            1 => phrase!(
                "nothing written: `{file}` exists and differs; use another folder, or add `--force`",
                file
            ),
            count => phrase!(
                "nothing written: {count} files exist and differ, such as `{file}`; use another folder, or add \
                `--force`",
                count,
                file
            ),
        };
        Some(Self { exit: Exit::Usage, why })
    }
}

/// Maximum number of lines that an import prints.
const SCREEN: usize = 40;

/// Number of these lines for the written files and the next step.
const LINES_BELOW: usize = 4;

/// Formats the results: the created documents or the outcome of each field, and the written files.
fn summary(language: Language, made: &Import, names: &[String], arguments: &AgentImportArguments) -> String {
    let text = match () {
        () if arguments.report => screen::reasons_of_fields(language, &made.report),
        () if arguments.report_fields => screen::fields(language, &made.report),
        () => screen::made(language, made, SCREEN - LINES_BELOW),
    };
    // The report is written last, and may be in another folder.
    let (names, report) = names.split_at(names.len() - usize::from(arguments.report_file.is_some()));
    let wrote = |names: &[String]| names.iter().map(|name| show::wrote(language, name)).collect::<String>();
    let written = match (names, &arguments.out) {
        ([_, _, ..], Some(out)) => {
            let written =
                phrase!("wrote {count} files to {out}", count = names.len(), out = files::name(out));
            lang::say(language, &written) + "\n"
        }
        _ => wrote(names),
    };
    match written + &wrote(report) {
        written if written.is_empty() => text,
        written => format!("{text}\n{written}"),
    }
}

/// Describes the next step: write the files, or preview the context.
fn next(arguments: &AgentImportArguments, left: usize, made_files: Option<&str>) -> Phrase {
    match &arguments.out {
        None => {
            phrase!("nothing written; add `--out DIR` to write {files}", files = count_of!(left, "file"))
        }
        Some(out) => match made_files {
            Some(files) => phrase!(
                "next: `ctx assemble {files} --input \"Hello\"` shows the messages that a model receives",
                files
            ),
            None => phrase!("next: `ctx check {out}` checks the files", out = files::shell_word(out)),
        },
    }
}

/// Returns the arguments that assemble a turn of the written agent, user profile and first conversation. Returns
/// `None` without an agent.
fn made_files(out: &Path, written: &[Output<'_>]) -> Option<String> {
    let find = |is_wanted: &dyn Fn(&Path) -> bool| {
        written.iter().map(|(path, _)| path).find(|path| is_wanted(path)).map(|path| files::shell_word(path))
    };
    let agent = find(&|path| path == out.join(AGENT))?;
    let profile = find(&|path| path == out.join(PROFILE)).map(|file| format!(" --profile {file}"));
    let chat = find(&|path| path.parent() == Some(&out.join(CONVERSATIONS)));
    let chat = chat.map(|file| format!(" --session {file}"));
    Some([Some(agent), profile, chat].into_iter().flatten().collect())
}
