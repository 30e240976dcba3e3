//! `ctx worldbook check`: what is wrong with worldbooks.

use std::path::Path;

use anyhow::Result;
use ctx_engine::{Compile, ImportError};
use ctx_types::{Agent, Diagnostic, Session, TurnInput};

use super::probe::{Probe, Seen};
use crate::args::WorldbookCheckArguments;
use crate::commands::check::{Checked, Totals};
use crate::exit::Exit;
use crate::{project, show};
use ctx_project::Sources;
use ctx_project::books::Books;
use ctx_project::codes;
use ctx_project::files;
use ctx_project::inputs::InputFile;
use ctx_project::turn::{self, Turn};

/// Checks books together.
pub(crate) fn run(arguments: &WorldbookCheckArguments) -> Result<Exit> {
    let mut sources = show::sources();
    let probe = Probe::default();
    let settings = arguments.settings.file.as_ref().map(InputFile::from);
    let change = |files: &mut turn::TurnFiles| files.worldbook_settings = settings;
    let mut totals = Totals::default();
    let mut given = arguments.turn();
    given.worldbooks.retain(|path| {
        let Some(unreadable) = unreadable(path) else { return true };
        // That a file is unreadable people want to know beside the result for programs too.
        unreadable.show();
        totals.add(&unreadable, arguments.json);
        false
    });
    let config = project::config(&given.config, &mut sources)?.of_books();
    let turn = project::turn_on(probe.engine(), &given, config, change, &mut sources)?;
    let (seen, found) = look(&turn, &probe, &sources)?;
    let checked = seen.map(|seen| seen.checked).unwrap_or_default();
    let mut findings = [found, turn.lead_back(checked)].concat();
    sort(&mut findings, &sources);
    let files: Vec<String> = turn.books().list().map(|(_, file, _)| file.to_owned()).collect();
    if !arguments.json {
        show::findings(&sources, &findings);
    }
    let positions = sources.positions(&findings);
    totals.add(&Checked::of_files(files, sources, findings, positions), arguments.json);
    totals.print(arguments.json)?;
    Ok(totals.exit(arguments.deny_warnings))
}

/// Tries to read a book; returns why that is impossible.
fn unreadable(path: &Path) -> Option<Checked> {
    if files::is_stdin(path) {
        return None;
    }
    let (mut sources, name) = (show::sources(), files::name(path));
    let finding = match sources.read(path, &name) {
        Err(error) => Diagnostic::error(codes::UNREADABLE_FILE, error.to_string()).in_document(&*name),
        Ok(bytes) => sources.explained(&name, &Books::parse(&bytes, &name).err()?),
    };
    Some(Checked::unreadable(name, sources, finding))
}

/// Scans the conversation of a turn; returns what was seen, and what was found in the files and about books.
pub(super) fn look(turn: &Turn, probe: &Probe, sources: &Sources) -> Result<(Option<Seen>, Vec<Diagnostic>)> {
    let mut found = turn.settings().1;
    let context = turn.assemble(false);
    let seen = probe.take();
    match context {
        Ok(context) => {
            let is_wanted = |finding: &Diagnostic| turn.books().owns(finding) || is_of_scan(turn, finding);
            let of_run = context.report.diagnostics.into_iter().filter(is_wanted);
            let new: Vec<Diagnostic> = of_run.filter(|finding| !found.contains(finding)).collect();
            found.extend(new);
        }
        // Whether all else fits a budget is another question.
        Err(_) if seen.is_some() => {}
        Err(error) => {
            show::findings(sources, &found);
            return Err(error.into());
        }
    }
    Ok((seen, found))
}

/// Tells whether a finding is about a scan or its settings.
fn is_of_scan(turn: &Turn, finding: &Diagnostic) -> bool {
    let document = finding.location.document.as_deref();
    let is_of_settings = document.is_some() && document == turn.worldbook_settings();
    is_of_settings || (950..1_000).contains(&finding.code.number())
}

/// Sorts findings by their places.
pub(super) fn sort(findings: &mut Vec<Diagnostic>, sources: &Sources) {
    let positions = sources.positions(findings);
    let mut placed: Vec<_> = std::mem::take(findings).into_iter().zip(positions).collect();
    placed.sort_by(|(_, a), (_, b)| a.cmp(b));
    findings.extend(placed.into_iter().map(|(finding, _)| finding));
}

/// Checks one worldbook by itself, with the settings that hold where nobody set any.
pub(crate) fn findings(bytes: &[u8], name: &str) -> Result<Vec<Diagnostic>, ImportError> {
    let (books, mut found) = Books::parse(bytes, name)?;
    let probe = Probe::default();
    let with = Compile { worldbooks: books.loaded(), ..Compile::default() };
    let compiled = probe.engine().compile(&Agent::default(), &with);
    let mut checked = match compiled.assemble_blocking(&Session::new("session"), &TurnInput::default()) {
        Ok(context) => context.report.diagnostics,
        Err(_) => compiled.diagnostics().to_vec(),
    };
    checked.extend(probe.take().map(|seen| seen.checked).unwrap_or_default());
    books.lead_back(&mut checked);
    found.extend(checked.into_iter().filter(|finding| books.owns(finding)));
    Ok(found)
}
