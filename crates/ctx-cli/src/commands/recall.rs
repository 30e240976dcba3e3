//! `ctx recall`: what a conversation says about a question.

use std::path::Path;

use ctx_compress::recall::{RecallAnswer, RecallQuery, RecalledPiece};
use ctx_language::Language;
use ctx_preset_import::decode;
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, count_of, phrase};

use crate::args::RecallArguments;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::counting::TokenCounting;
use ctx_project::error::Result;
use ctx_project::files;
use ctx_project::inputs::{self, InputFile};

/// Searches a conversation, and shows what was found.
pub(crate) fn run(language: Language, arguments: &RecallArguments) -> Result<Exit> {
    let standard_input = (arguments.query == "-").then_some(Path::new("-"));
    let others = arguments.session.iter().chain(&arguments.counting.models).map(AsRef::as_ref);
    inputs::check_stdin(others.chain(standard_input))?;
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.config, &mut sources)?;
    let path = config.conversation(arguments.session.clone(), &sources)?;
    let mut found = config.found.clone();
    let counting = TokenCounting::of(&(&arguments.counting).into(), &config, &mut sources, &mut found)?;
    let conversation = inputs::conversation(&InputFile::from(&path), &mut sources)?;
    found.extend(conversation.diagnostics);
    let text = match standard_input {
        Some(input) => read(input, &mut sources)?,
        None => arguments.query.clone(),
    };
    let query = RecallQuery { text: &text, budget: arguments.budget, with_branches: arguments.branches };
    let (answer, findings) = query.search(&conversation.value, &counting.meter());
    found.extend(findings.into_iter().map(|finding| finding.in_document(files::name(&path))));
    show::findings(language, &sources, &found);
    show::output(arguments.json, || answer.to_json(), || format_answer(language, &answer, arguments.budget))
}

fn read(input: &Path, sources: &mut Sources) -> Result<String> {
    let name = files::name(input);
    let bytes = sources.read(input, &name)?;
    let text = decode(&bytes).map_err(|error| sources.explain(&name, &error))?;
    Ok(text.into_owned())
}

pub(super) fn format_answer(language: Language, answer: &RecallAnswer, budget: u64) -> String {
    let recalled = match answer {
        RecallAnswer::Recalled(recalled) => recalled,
        RecallAnswer::Nothing(why) => return lang::say(language, why) + "\n",
    };
    let (lines, tokens) = (count_of!(recalled.pieces.len(), "line"), recalled.tokens);
    let head = phrase!("{lines}, {tokens} of {budget} tokens", lines, tokens, budget);
    lang::say(language, &head) + "\n" + &shown(language, answer)
}

/// Lists what a pass recalled, for a report on it.
pub(super) fn listed(language: Language, answer: &RecallAnswer) -> String {
    let head = match answer {
        RecallAnswer::Recalled(recalled) => phrase!(
            "recalled {lines}, {tokens}",
            lines = count_of!(recalled.pieces.len(), "line"),
            tokens = show::tokens(recalled.tokens)
        ),
        RecallAnswer::Nothing(why) => why.clone(),
    };
    format!("{}\n{}", lang::say(language, &head), shown(language, answer))
}

/// Writes each line with its place and why it is there.
fn shown(language: Language, answer: &RecallAnswer) -> String {
    let line = |(piece, text): (&RecalledPiece, String)| {
        format!("  {}\n    {}\n", show::clean(&text), lang::say(language, &reason(piece)))
    };
    answer.lines().into_iter().map(line).collect()
}

/// Says where a line comes from, and why it is there.
fn reason(piece: &RecalledPiece) -> Phrase {
    let id = piece.source.id.as_deref().unwrap_or_default();
    let place = match piece.ago {
        Some(0) => phrase!("{id}, the newest message", id),
        Some(ago) => phrase!("{id}, {ago} back", id, ago = count_of!(ago, "message")),
        None => phrase!("{id}, on another branch", id),
    };
    if piece.words.is_empty() {
        phrase!("{place}, next to a match", place)
    } else {
        phrase!("{place}: {words}", place, words = Argument::list(&*piece.words, Divider::Comma))
    }
}
