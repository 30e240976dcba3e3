//! One conversation after the other.

use ctx_language::Language;
use std::path::{Path, PathBuf};

use ctx_types::internal::{Argument, Divider, thousands};
use ctx_types::{Diagnostic, Phrase, count_of, phrase};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::lang;
use crate::show::{self, Bar};
use ctx_project::Sources;
use ctx_project::compress::Conversations;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::folder::FolderEntry;

/// What came of one conversation.
pub(super) struct PassResult {
    pub(super) outcome: &'static str,
    /// What is printed if there is no other conversation.
    pub(super) text: String,
    pub(super) json: Value,
    /// What went wrong; it is told on standard error.
    pub(super) error: Option<Phrase>,
    pub(super) exit: Exit,
    /// How many messages and tokens are sent, before and after.
    pub(super) messages: (usize, usize),
    pub(super) tokens: (u64, u64),
    /// What was found on the way.
    pub(super) found: Vec<Diagnostic>,
    /// Whether nothing more is to be done.
    pub(super) stops: bool,
}

/// Does something with each conversation that paths name; prints each result, or a table of several.
pub(super) fn run(
    language: Language,
    paths: &[PathBuf],
    is_json: bool,
    each: &mut dyn FnMut(&Path, &mut Sources) -> Result<PassResult>,
) -> Result<Exit> {
    match Conversations::of(paths)? {
        Conversations::One(path) => one(language, &path, is_json, each),
        Conversations::Many(found) => many(language, found, is_json, each),
    }
}

fn one(
    language: Language,
    path: &Path,
    is_json: bool,
    each: &mut dyn FnMut(&Path, &mut Sources) -> Result<PassResult>,
) -> Result<Exit> {
    let mut sources = show::sources(language);
    let done = each(path, &mut sources)?;
    show::findings(language, &sources, &done.found);
    show::output(is_json, || done.json, || done.text)?;
    if let Some(error) = &done.error {
        show::failure(language, &ProjectError::Unusable(error.clone()));
    }
    Ok(done.exit)
}

fn many(
    language: Language,
    found: Vec<FolderEntry>,
    is_json: bool,
    each: &mut dyn FnMut(&Path, &mut Sources) -> Result<PassResult>,
) -> Result<Exit> {
    let bar = Bar::new(found.len());
    let (mut rows, mut totals) = (Vec::new(), Totals::default());
    for found in found {
        let (name, done, sources) = match &found {
            FolderEntry::File(path) => {
                let name = files::name(path);
                bar.show(&name);
                let mut sources = show::sources(language);
                (name, each(path, &mut sources), sources)
            }
            FolderEntry::Closed(folder, reason) => {
                (files::name(folder), Err(ProjectError::Unusable(reason.clone())), show::sources(language))
            }
        };
        let done = done.unwrap_or_else(|error| PassResult::failed(language, &error));
        bar.done();
        bar.suspend(|| {
            show::findings(language, &sources, &done.found);
            match &done.error {
                Some(error) if error.to_string().contains(&name) => {
                    show::failure(language, &ProjectError::Unusable(error.clone()));
                }
                Some(error) => {
                    let told = phrase!("`{name}`: {error}", name, error);
                    show::failure(language, &ProjectError::Unusable(told));
                }
                None => {}
            }
        });
        totals.add(&done);
        let stops = done.stops;
        if is_json {
            let mut line = json!({ "file": name });
            if let (Value::Object(line), Value::Object(result)) = (&mut line, done.json) {
                line.extend(result);
            }
            bar.suspend(|| show::json_line(&line))?;
        } else {
            rows.push(done.row(language, show::cut_middle(&name, show::width() / 2)));
        }
        if stops {
            break;
        }
    }
    drop(bar);
    if !is_json {
        show::result(&(show::fitted(language, HEADER, rows, &[2, 3]) + &totals.told(language)))?;
    }
    Ok(totals.exit)
}

/// The titles of the table of several conversations.
const HEADER: [&str; 4] = ["outcome", "conversation", "messages", "tokens"];

impl Default for PassResult {
    fn default() -> Self {
        Self {
            outcome: "",
            text: String::new(),
            json: Value::Null,
            error: None,
            exit: Exit::Success,
            messages: (0, 0),
            tokens: (0, 0),
            found: Vec::new(),
            stops: false,
        }
    }
}

impl PassResult {
    fn failed(language: Language, error: &ProjectError) -> Self {
        let text = show::plain(error);
        let exit = Exit::of(error);
        let json = json!({ "outcome": { "kind": "failed", "detail": text }, "exitCode": exit.code() });
        let error = Some(Phrase::verbatim(show::plain_told(language, error)));
        Self { outcome: "failed", json, error, exit, ..Self::default() }
    }

    fn row(&self, language: Language, name: String) -> [String; 4] {
        let change = |before: String, after: String| {
            if before == after { before } else { format!("{before} → {after}") }
        };
        let (messages, tokens) = match self.error {
            Some(_) if self.tokens == (0, 0) => (String::new(), String::new()),
            _ => (
                change(self.messages.0.to_string(), self.messages.1.to_string()),
                change(thousands(self.tokens.0), thousands(self.tokens.1)),
            ),
        };
        [lang::word(language, self.outcome).into_owned(), name, messages, tokens]
    }
}

/// What came of all conversations.
struct Totals {
    counts: Vec<(&'static str, usize)>,
    saved: u64,
    exit: Exit,
}

impl Default for Totals {
    fn default() -> Self {
        Self { counts: Vec::new(), saved: 0, exit: Exit::Success }
    }
}

impl Totals {
    fn add(&mut self, done: &PassResult) {
        match self.counts.iter_mut().find(|(outcome, _)| *outcome == done.outcome) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((done.outcome, 1)),
        }
        self.saved += done.tokens.0.saturating_sub(done.tokens.1);
        // The first kind of failure is what a script learns of.
        if self.exit == Exit::Success {
            self.exit = done.exit;
        }
    }

    /// Writes how many conversations came to what, and what is saved in all.
    fn told(&self, language: Language) -> String {
        let all = self.counts.iter().map(|(_, count)| count).sum();
        let count = |(word, count): &(&'static str, usize)| {
            phrase!("{count} {word}", count, word = Phrase::from(*word))
        };
        let told = phrase!(
            "{conversations}: {counts}; {tokens} less",
            conversations = count_of!(all, "conversation"),
            counts = Argument::list(self.counts.iter().map(count), Divider::Comma),
            tokens = show::tokens(self.saved)
        );
        format!("\n{}\n", lang::say(language, &told))
    }
}
