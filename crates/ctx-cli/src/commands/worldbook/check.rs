//! `ctx worldbook check`: what is wrong with worldbooks.

use ctx_language::Language;
use std::path::Path;

use ctx_types::Diagnostic;

use crate::args::WorldbookCheckArguments;
use crate::commands::check::Totals;
use crate::exit::Exit;
use crate::{project, show};
use ctx_project::books::BookFile;
use ctx_project::check::Checked;
use ctx_project::codes;
use ctx_project::error::Result;
use ctx_project::files;
use ctx_project::inputs::InputFile;
use ctx_project::scan::{self, Probe};
use ctx_project::turn;

/// Checks books together.
pub(crate) fn run(language: Language, arguments: &WorldbookCheckArguments) -> Result<Exit> {
    let mut sources = show::sources(language);
    let probe = Probe::default();
    let settings = arguments.settings.file.as_ref().map(InputFile::from);
    let change = |files: &mut turn::TurnFiles| files.worldbook_settings = settings;
    let mut totals = Totals::default();
    let mut given = arguments.options();
    given.worldbooks.retain(|path| {
        let Some(unreadable) = unreadable(language, path) else { return true };
        // That a file is unreadable people want to know beside the result for programs too.
        show::findings(language, &unreadable.sources, &unreadable.findings);
        totals.add(&unreadable, arguments.json);
        false
    });
    let config = project::config(language, &arguments.settings.config, &mut sources)?.of_books();
    let turn = project::turn_on(language, (probe.engine(), config), &given, change, &mut sources)?;
    let (seen, found) = scan::look(&turn, &probe);
    let seen = seen.inspect_err(|_| show::findings(language, &sources, &found))?;
    let seen = seen.map(|seen| turn.lead_back(seen.checked)).unwrap_or_default();
    let files: Vec<String> = turn.books().list().map(|(_, file, _)| file.to_owned()).collect();
    let checked = Checked::of_files(files, sources, [found, seen].concat());
    if !arguments.json {
        show::findings(language, &checked.sources, &checked.findings);
    }
    totals.add(&checked, arguments.json);
    totals.print(language, arguments.json)?;
    Ok(totals.exit(arguments.deny_warnings))
}

/// Tries to read a book; returns why that is impossible.
fn unreadable(language: Language, path: &Path) -> Option<Checked> {
    if files::is_stdin(path) {
        return None;
    }
    let (mut sources, name) = (show::sources(language), files::name(path));
    let finding = match sources.read(path, &name) {
        Err(error) => Diagnostic::error(codes::UNREADABLE_FILE, error.phrase()).in_document(&*name),
        Ok(bytes) => sources.explained(&name, &BookFile::parse(&bytes, &name).err()?),
    };
    Some(Checked::unreadable(name, sources, finding))
}
