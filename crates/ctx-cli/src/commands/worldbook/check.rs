//! `ctx worldbook check`: what is wrong with worldbooks.

use anyhow::Result;
use ctx_engine::{Compile, ImportError};
use ctx_types::{Agent, Diagnostic, Session, TurnInput};

use super::probe::{Probe, Seen};
use crate::args::WorldbookCheckArguments;
use crate::commands::books::Books;
use crate::commands::check::{Checked, Totals};
use crate::commands::inputs::InputFile;
use crate::commands::turn::{self, Turn};
use crate::exit::Exit;
use crate::show::Sources;

/// Checks books together.
pub(crate) fn run(arguments: &WorldbookCheckArguments) -> Result<Exit> {
    let mut sources = Sources::default();
    let probe = Probe::default();
    let settings = arguments.settings.file.as_ref().map(InputFile::from);
    let change = |files: &mut turn::TurnFiles| files.worldbook_settings = settings;
    let turn = turn::of_arguments_on(probe.engine(), &arguments.turn(), change, &mut sources)?;
    let (seen, found) = look(&turn, &probe, &sources)?;
    let checked = seen.map(|seen| seen.checked).unwrap_or_default();
    let mut findings = [found, turn.lead_back(checked)].concat();
    sort(&mut findings, &sources);
    let files: Vec<String> = turn.books().list().map(|(_, file, _)| file.to_owned()).collect();
    if !arguments.json {
        sources.show(&findings);
    }
    let mut totals = Totals::default();
    let positions = sources.positions(&findings);
    totals.add(&Checked::of_files(files, sources, findings, positions), arguments.json);
    totals.print(arguments.json)?;
    Ok(totals.exit(arguments.deny_warnings))
}

/// Scans the conversation of a turn; returns what was seen, and what was found about books and their settings.
pub(super) fn look(turn: &Turn, probe: &Probe, sources: &Sources) -> Result<(Option<Seen>, Vec<Diagnostic>)> {
    let context = turn.assemble(false);
    let seen = probe.take();
    let found = match context {
        Ok(context) => context.report.diagnostics,
        // Whether all else fits a budget is another question.
        Err(_) if seen.is_some() => turn.settings().1,
        Err(error) => {
            sources.show(&turn.settings().1);
            return Err(error.into());
        }
    };
    let is_wanted = |finding: &Diagnostic| turn.books().owns(finding) || is_of_scan(turn, finding);
    Ok((seen, found.into_iter().filter(is_wanted).collect()))
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
