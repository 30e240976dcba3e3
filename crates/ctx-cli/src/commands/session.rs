//! `ctx session`: the tree of a conversation's file and its log of steps; the conversations of the store.

mod kept;
mod transfer;

use std::path::Path;

use ctx_chat::StepLabel;
use ctx_compress::mask::MaskStatistics;
use ctx_language::Language;
use ctx_types::{Phrase, phrase};
use serde_json::json;

use crate::args::{CountingArguments, SessionArguments, SessionCommand, SessionFileArguments, StepArguments};
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::config::Config;
use ctx_project::counting::TokenCounting;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::inputs;
use ctx_project::session_file::{SessionFile, Target, with_way_out};

/// Shows a conversation, takes a step, or moves conversations into and out of the store.
pub(crate) fn run(language: Language, arguments: &SessionArguments) -> Result<Exit> {
    match &arguments.command {
        SessionCommand::Show(arguments) => {
            let (file, counting) = read(language, &arguments.file, &arguments.counting)?;
            if arguments.file.json {
                show::json(&show::conversation::path_json(&file, &counting))?;
            } else {
                show::result(&show::conversation::path(language, &file, &counting, arguments.all))?;
            }
            Ok(Exit::Success)
        }
        SessionCommand::Tree(arguments) => {
            let (file, counting) = read(language, &arguments.file, &arguments.counting)?;
            if arguments.file.json {
                show::json(&show::tree::tree_json(&file, &counting))?;
            } else {
                show::result(&show::tree::tree(language, &file, &counting))?;
            }
            Ok(Exit::Success)
        }
        SessionCommand::Undo(arguments) => step(language, arguments, Direction::Back),
        SessionCommand::Redo(arguments) => step(language, arguments, Direction::Forth),
        SessionCommand::List(arguments) => kept::list(language, &arguments.kept),
        SessionCommand::Export(arguments) => transfer::export(language, arguments),
        SessionCommand::Import(arguments) => transfer::import(language, arguments),
        SessionCommand::Delete(arguments) => kept::delete(language, arguments),
    }
}

fn read(
    language: Language,
    arguments: &SessionFileArguments,
    counting: &CountingArguments,
) -> Result<(SessionFile, TokenCounting)> {
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.config, &mut sources)?;
    let mut found = config.found.clone();
    let given = arguments.file.clone().or_else(|| arguments.session.clone());
    inputs::check_stdin(given.iter().chain(&counting.models))?;
    let counting = TokenCounting::of(&counting.into(), &config, &mut sources, &mut found)?;
    let file = open(arguments, &config, &mut sources)?;
    found.extend(file.found.iter().cloned());
    show::findings(language, &sources, &found);
    Ok((file, counting))
}

/// Reads the file of a conversation.
fn open(arguments: &SessionFileArguments, config: &Config, sources: &mut Sources) -> Result<SessionFile> {
    let given = arguments.file.clone().or_else(|| arguments.session.clone());
    let path = config.conversation(given, sources)?;
    if is_id(&path) {
        let (name, id) = (files::name(&path), files::shell_word(&path));
        let told = phrase!(
            "no file `{name}`; to export a stored conversation, use `ctx session export {id} --out FILE`; to change \
            it, use `ctx chat --conversation {id}`",
            name,
            id
        );
        return Err(ProjectError::Unusable(told));
    }
    SessionFile::open(&path, &Target::Nowhere, sources)
}

/// Returns whether a path that does not exist has the form of a conversation id.
fn is_id(path: &Path) -> bool {
    !files::is_stdin(path) && path.extension().is_none() && path.components().count() == 1 && !path.exists()
}

/// Which way a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Back,
    Forth,
}

/// Takes the latest step back, or does it again, and writes the file.
fn step(language: Language, arguments: &StepArguments, direction: Direction) -> Result<Exit> {
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.file.config, &mut sources)?;
    let target = if arguments.dry_run { Target::Nowhere } else { Target::InPlace };
    let mut file = open(&arguments.file, &config, &mut sources)?;
    if let Some(format) = file.list_form() {
        let (name, format) = (&file.name, Phrase::from(format.as_str()));
        let told = phrase!(
            "`{name}` has no undo history: it is {format}; to convert it, use `ctx session import {name}`, then \
            `ctx session export ID --out FILE`",
            name,
            format
        );
        return Err(ProjectError::Usage(told));
    }
    let way_out = phrase!("use `--dry-run --json` to print the session");
    file.check(&target).map_err(with_way_out(way_out))?;
    show::findings(language, &sources, &[config.found.as_slice(), &file.found].concat());
    let label = match direction {
        Direction::Back => file.undo()?,
        Direction::Forth => file.redo()?,
    };
    let verb = match (direction, arguments.dry_run) {
        (Direction::Back, false) => "undid",
        (Direction::Back, true) => "would undo",
        (Direction::Forth, false) => "redid",
        (Direction::Forth, true) => "would redo",
    };
    let statistics = MaskStatistics::of(&file.session, &ctx_tokens::Counter::estimate());
    let written = file.save(&target, &sources.files_read)?;
    if arguments.file.json {
        let key = if direction == Direction::Back { "undone" } else { "redone" };
        let mut json = json!({
            "file": file.name,
            key: label,
            "statistics": statistics,
            "steps": file.steps_json(),
            "written": written,
        });
        if !written {
            json["session"] = file.to_json();
        }
        show::json(&json)?;
        return Ok(Exit::Success);
    }
    let statistics = show::masks::statistics(language, &statistics);
    let steps = show::conversation::steps(language, &file);
    let written = if written {
        phrase!("wrote `{name}`", name = file.name)
    } else {
        phrase!("nothing written (`--dry-run`)")
    };
    let told = phrase!("{verb}: {label}", verb = Phrase::from(verb), label = StepLabel::phrase(&label));
    let [told, written] = [told, written].map(|line| lang::say(language, &line));
    show::result(&format!("{told}\n{statistics}\n{written}\n{steps}"))?;
    Ok(Exit::Success)
}
