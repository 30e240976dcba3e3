//! `ctx worldbook scan`: which entries a conversation activates, and why.

use ctx_language::Language;

use ctx_types::session::SessionOp;
use ctx_types::{Diagnostic, phrase};
use ctx_worldbook::{
    Status, TimedState,
    internal::{Cause, KeyHit, KeyPlace, Reason},
};
use serde_json::{Value, json};

use crate::args::WorldbookScanArguments;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use crate::show::entries::{EntryRow, ScanFigures, scan_table};
use ctx_project::Sources;
use ctx_project::check::{finding_json, placed};
use ctx_project::codes;
use ctx_project::error::{ProjectError, Result};
use ctx_project::inputs::InputFile;
use ctx_project::scan::{self, ObservedScan, Probe, SeenEntry};
use ctx_project::sources::Position;
use ctx_project::turn::{self, Turn};
use ctx_project::worldbook_state::{self, StateFile};

/// Scans a conversation.
pub(crate) fn run(language: Language, arguments: &WorldbookScanArguments) -> Result<Exit> {
    let mut sources = show::sources(language);
    let given = arguments.options();
    let config = project::config(language, &arguments.settings.config, &mut sources)?;
    let session = config.file("session", given.session.clone(), &sources)?;
    let (to, state, odd) =
        StateFile::open(arguments.state.as_deref(), session.as_deref(), arguments.write, &mut sources)?;
    let probe = Probe::default();
    let settings = arguments.settings.file.as_ref().map(InputFile::from);
    let change = |files: &mut turn::TurnFiles| files.worldbook_settings = settings;
    let mut turn = project::turn_on(language, (probe.engine(), config), &given, change, &mut sources)?;
    if turn.books().list().next().is_none() {
        let message = if turn.agent().worldbook_ids.is_empty() {
            phrase!(
                "no worldbook is loaded; use `ctx worldbook scan BOOK`, or add its id to `worldbookIds` of the agent"
            )
        } else {
            phrase!(
                "no file in `worldbooks/` next to the agent has an id or name of its `worldbookIds`; \
                use `ctx worldbook scan BOOK`"
            )
        };
        return Err(ProjectError::Usage(message));
    }
    if let Some(state) = &state {
        worldbook_state::begin_with(state, &mut turn)?;
    }
    let (seen, found) = scan::look(&turn, &probe);
    let seen = seen.inspect_err(|_| show::findings(language, &sources, &found))?;
    let (found, _) = placed([odd, found].concat(), &sources);
    show::findings(language, &sources, &found);
    let Some(seen) = seen else {
        return nothing(language, &turn, arguments.json, (state.as_ref(), &found), &sources);
    };
    let effects = ctx_processors::internal::keep_worldbook_state(turn.session_mut(), &seen.scan.scan.state);
    let at = turn.input.at_millis.unwrap_or_default();
    let written = to.write(&seen.scan.scan.state, at, &sources.files_read)?;
    let scanned = Scanned { turn: &turn, seen: &seen, effects, written, found, all: arguments.all };
    let text = || scanned.to_text(language, arguments.write);
    show::output(arguments.json, || scanned.to_json(&sources), text)
}

/// Reports that there was nothing to scan.
fn nothing(
    language: Language,
    turn: &Turn,
    as_json: bool,
    (state, found): (Option<&TimedState>, &[Diagnostic]),
    sources: &Sources,
) -> Result<Exit> {
    let is_empty = turn.books().list().all(|(.., entries)| entries == 0);
    if as_json {
        show::json(&json!({
            "books": books(turn),
            "entries": [],
            "count": 0,
            "active": 0,
            "passes": [],
            "budget": null,
            "tokens": 0,
            "state": state.unwrap_or(&TimedState::EMPTY).write(),
            "effects": [],
            "findings": findings_json(found, sources),
        }))?;
    } else if is_empty {
        show::result(&lang::lines(language, "no entries\n"))?;
    } else {
        let told = phrase!("no scan: `worldbook-processor` did not run, or no entry can activate");
        show::result(&(lang::say(language, &told) + "\n"))?;
    }
    Ok(Exit::Success)
}

/// What came of a scan.
struct Scanned<'a> {
    turn: &'a Turn,
    seen: &'a ObservedScan,
    /// What keeps the timed effects with the conversation.
    effects: Option<SessionOp>,
    /// The file that they were written to.
    written: Option<String>,
    found: Vec<Diagnostic>,
    /// Whether entries are listed too that are not active.
    all: bool,
}

impl Scanned<'_> {
    /// The entries that are listed: active ones, then, if wanted, the others.
    fn lines(&self) -> impl Iterator<Item = SeenEntry<'_>> {
        self.seen.entries().filter(|line| self.all || line.active.is_some())
    }

    fn to_text(&self, language: Language, is_written: bool) -> String {
        let row = |line: SeenEntry<'_>| EntryRow {
            id: line.member.id.to_string(),
            title: line.member.entry.title.as_deref().map(str::to_owned),
            state: line.state,
            pass: line.active.map(|(activation, _)| activation.pass),
            tokens: line.active.and_then(|(_, tokens)| tokens),
            place: line.member.entry.destination.phrase(),
            why: self.seen.why(&line),
        };
        let scan = &self.seen.scan.scan;
        let others = scan.statuses.iter().filter_map(|status| match status {
            Status::NotActivated(reason) => Some(reason.as_str()),
            Status::Activated(_) => None,
        });
        let kept = match (&self.written, &self.effects) {
            (Some(file), _) => Some(phrase!("wrote timed effects to {file}", file)),
            (None, Some(_)) if !is_written => {
                Some(phrase!("timed effects changed; save them with `--write`"))
            }
            _ => None,
        };
        let is_without_messages = self.seen.scan.messages.is_empty()
            && scan.statuses.contains(&Status::NotActivated(Reason::NoKeyFound));
        let input =
            is_without_messages.then(|| phrase!("no messages to search; pass `--session` or `--input`"));
        scan_table(
            language,
            &ScanFigures {
                books: self.turn.books().list().count(),
                entries: scan.statuses.len(),
                tokens: self.seen.active_tokens(),
                is_exact: self.seen.is_exact,
                budget: scan.budget,
                passes: scan.passes.len(),
                rows: self.lines().map(row).collect(),
                others: others.collect(),
                lists_others: self.all,
                timed: self
                    .seen
                    .timed(show::clean_line)
                    .iter()
                    .map(|line| lang::say(language, line))
                    .collect(),
                hints: input.into_iter().chain(kept).collect(),
            },
        )
    }

    fn to_json(&self, sources: &Sources) -> Value {
        let scan = &self.seen.scan.scan;
        let lines: Vec<SeenEntry<'_>> = self.lines().collect();
        let place = |line: &SeenEntry<'_>| {
            let finding = Diagnostic::info(codes::UNREADABLE_FILE, phrase!(""));
            self.turn.books().place(&line.member.book, &line.member.entry.pointer(), finding)
        };
        let positions = sources.positions(&lines.iter().map(place).collect::<Vec<_>>());
        let entries = lines.iter().zip(&positions).map(|(line, at)| self.entry_json(*line, at.as_ref()));
        json!({
            "books": books(self.turn),
            "entries": entries.collect::<Vec<_>>(),
            "count": scan.statuses.len(),
            "active": scan.activations.len(),
            "passes": scan.passes.iter().map(|pass| pass.as_str()).collect::<Vec<_>>(),
            "budget": scan.budget,
            "tokens": self.seen.active_tokens(),
            "state": scan.state.write(),
            "effects": self.effects.iter().collect::<Vec<_>>(),
            "findings": findings_json(&self.found, sources),
        })
    }

    fn entry_json(&self, line: SeenEntry<'_>, position: Option<&Position>) -> Value {
        let member = line.member;
        let mut value = json!({
            "id": member.id,
            "book": member.book,
            "uid": member.entry.uid,
            "title": member.entry.title,
            "state": line.state,
            "why": self.seen.why(&line),
            "place": member.entry.destination.to_string(),
            "position": position,
        });
        let Some((activation, tokens)) = line.active else { return value };
        value["pass"] = json!(activation.pass);
        value["tokens"] = json!(tokens);
        value["content"] = json!(activation.content.as_str());
        if let Cause::Keys { primary, secondary } = &activation.cause {
            value["key"] = hit_json(self.seen, primary);
            if let Some(secondary) = secondary {
                value["secondaryKey"] = hit_json(self.seen, secondary);
            }
        }
        value
    }
}

fn findings_json(found: &[Diagnostic], sources: &Sources) -> Vec<Value> {
    let positions = sources.positions(found);
    found.iter().zip(&positions).map(|(found, position)| finding_json(found, position.as_ref())).collect()
}

fn books(turn: &Turn) -> Vec<Value> {
    let book = |(name, file, entries)| json!({ "name": name, "file": file, "entries": entries });
    turn.books().list().map(book).collect()
}

/// Where a key was found: in a message, in the text of an entry, or in another text.
fn hit_json(seen: &ObservedScan, hit: &KeyHit) -> Value {
    let id = |member: usize| seen.scan.set.members().get(member).map(|member| member.id.clone());
    match hit.place {
        KeyPlace::Message(newest) => {
            json!({ "key": hit.key, "message": seen.scan.message(newest), "depth": newest })
        }
        KeyPlace::Entry(member) => json!({ "key": hit.key, "entry": id(member) }),
        KeyPlace::Source(source) => json!({ "key": hit.key, "text": source.phrase() }),
        KeyPlace::Injected(number) => json!({ "key": hit.key, "text": format!("additional text {number}") }),
    }
}
