//! Documents of each format, as they are taken into what the files hold.

use ctx_types::worldbook::Worldbook;
use ctx_types::{Diagnostic, Phrase, RegexPreset, phrase};
use serde_json::Value;

use super::gathered::{Gathered, SourceObject, unused};
use super::sources::Source;
use super::{ImportOptions, NamedBook, NamedConversation, SourceFile, conversations};
use crate::document::{BadLine, Document, Syntax};
use crate::error::ImportError;
use crate::format::{Format, help_for_text, help_unknown, stem};
use crate::formats::aio_hub;
use crate::formats::risu::{self, Module};
use crate::formats::sillytavern::card::Card;
use crate::formats::sillytavern::person::Persona;
use crate::formats::sillytavern::preset::EXPORTED;
use crate::formats::sillytavern::regex_scripts::{self, LIST};
use crate::formats::sillytavern::settings::Settings;
use crate::formats::sillytavern::templates;
use crate::imported::Imported;
use crate::loose::object;
use crate::record::Record;
use crate::report::{Extent, FieldReports};
use crate::source;
use crate::worldbook::{self, Draft};
use crate::{agent, codes, conversation, profile, read_regex_scripts};

const UNREADABLE: &str = "the file is invalid for its format";

/// What was done with a document.
pub(super) struct Outcome {
    /// What is worth knowing about it.
    pub(super) found: Vec<Diagnostic>,
    /// How far it was used.
    pub(super) used: Use,
    /// Its rows, where what was made of it tells them.
    pub(super) rows: Option<FieldReports>,
}

impl Outcome {
    fn whole(found: Vec<Diagnostic>) -> Self {
        Self { found, used: Use::Whole, rows: None }
    }

    /// Adds what was found before.
    fn after(mut self, mut found: Vec<Diagnostic>) -> Self {
        found.append(&mut self.found);
        Self { found, ..self }
    }

    fn with_rows(self, rows: FieldReports) -> Self {
        Self { rows: Some(rows), ..self }
    }
}

/// How far a document was used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Its fields went where their rows say.
    Whole,
    /// Not at all, since another file of the kind counts.
    Superseded,
    /// Not at all, since its form is not the one that its keys promise.
    Unreadable,
}

/// A document on its way, how it is read, and the name under which it is kept.
pub(super) struct DocumentContext<'a> {
    pub(super) file: SourceFile<'a>,
    pub(super) key: &'a str,
    pub(super) options: &'a ImportOptions,
    pub(super) extent: Extent,
}

impl DocumentContext<'_> {
    /// Takes fields of the document, of which the others are kept under its name; also returns what was recorded.
    fn record<T>(
        &self,
        document: &Value,
        take: impl for<'r> FnOnce(source::Source<'r>) -> T,
    ) -> (T, FieldReports) {
        let record = Record::with_room(self.extent);
        let taken = take(source::Source::new(document, &record));
        (taken, record.rows(document, &format!("/imported/{}", self.key), self.extent))
    }

    /// Tells that a document cannot be read as what it seems to be, so that nothing is made of it.
    fn unreadable(&self, error: &ImportError, document: &Value) -> Outcome {
        let ((), rows) = self.record(document, |file| file.lose_all(UNREADABLE));
        Outcome { found: vec![error.to_diagnostic()], used: Use::Unreadable, rows: Some(rows) }
    }

    /// Returns the rows of a document of which nothing is taken yet.
    fn kept(&self, document: &Value) -> FieldReports {
        self.record(document, |_| ()).1
    }
}

/// How a document is written, and what of it is no value.
struct Written {
    syntax: Syntax,
    bad_lines: Vec<BadLine>,
}

impl Gathered {
    /// Takes a document by its format.
    pub(super) fn take(&mut self, source: Source, on: &DocumentContext<'_>) -> Outcome {
        let key = on.key;
        let name = source.stem().to_owned();
        let report = self.made.report.files.len();
        match (source.format, source.value) {
            (Some(format), value @ Value::Object(_)) if format.is_card() => {
                self.take_card(value, format, &name, on)
            }
            (Some(Format::ChatPreset), value @ Value::Object(_)) => {
                let rows = on.kept(&value);
                first(&mut self.preset, SourceObject::whole(report, value), "chat completion preset")
                    .with_rows(rows)
            }
            (Some(Format::PromptExport), Value::Object(file)) => {
                let object = object(&file, EXPORTED.trim_start_matches('/')).cloned().unwrap_or_default();
                let (file, value) = (Value::Object(file), Value::Object(object));
                let rows = on.kept(&file);
                self.templates.insert(key.to_owned(), file);
                let given = SourceObject { report, at: EXPORTED, value };
                first(&mut self.preset, given, "chat completion preset").with_rows(rows)
            }
            (Some(Format::Settings), value @ Value::Object(_)) => {
                let take = |file: source::Source<'_>| (Persona::take(file), Settings::take(file));
                let ((persona, settings), rows) = on.record(&value, take);
                if self.settings.is_none() {
                    self.persona = self.persona.take().or(persona);
                    self.settings_parts = Some(settings);
                }
                first(&mut self.settings, SourceObject::whole(report, value), "SillyTavern settings")
                    .with_rows(rows)
            }
            (Some(Format::SystemPrompt), value @ Value::Object(_)) => {
                let ((), rows) = on.record(&value, |file| templates::take(Format::SystemPrompt, file));
                first(&mut self.system_prompt, SourceObject::whole(report, value), "system prompt")
                    .with_rows(rows)
            }
            (Some(Format::Personas), value @ Value::Object(_)) => {
                let (persona, rows) = on.record(&value, Persona::take);
                let taken = match self.persona {
                    Some(_) => first(&mut Some(()), (), "persona"),
                    None => Outcome::whole(Vec::new()),
                };
                self.persona = self.persona.take().or(persona);
                self.templates.insert(key.to_owned(), value);
                taken.with_rows(rows)
            }
            (Some(Format::RegexScripts), scripts) => {
                let ((mut rules, found), rows) =
                    on.record(&scripts, |file| regex_scripts::take(file.keep_at(LIST)));
                regex_scripts::keep_originals(&mut rules, scripts);
                self.scripts.push((name, report, RegexPreset { rules, ..RegexPreset::default() }));
                Outcome::whole(found).with_rows(rows)
            }
            (Some(Format::Worldbook | Format::CardBook | Format::OtherLorebook), value) => {
                self.take_worldbook(value, &name, on)
            }
            (Some(format), value) if format.is_conversation() => {
                let written = Written { syntax: source.syntax, bad_lines: source.bad_lines };
                self.take_conversation(format, &value, written, on)
            }
            (Some(format), value) => self.take_own(format, value, on),
            (None, value) => {
                let (rows, found) = (on.kept(&value), unknown(&value, &source.nearest));
                self.unknown.insert(key.to_owned(), value);
                Outcome::whole(vec![found]).with_rows(rows)
            }
        }
    }

    /// Takes a conversation, whose rows are told by what was made of it.
    fn take_conversation(
        &mut self,
        format: Format,
        value: &Value,
        written: Written,
        on: &DocumentContext<'_>,
    ) -> Outcome {
        let Written { syntax, bad_lines } = written;
        // What was odd about the document is told already.
        let document =
            Document { value: value.clone(), syntax, bad_lines, diagnostics: Vec::new(), json_error: None };
        match conversation::read_document(document, on.file.name) {
            Ok((imported, placed)) => {
                let name = stem(on.file.name).to_owned();
                let place = format!("/conversations/{}", self.made.conversations.len());
                let (session, placed, place) = (&imported.value, &placed, &*place);
                let made = conversations::Made { format, session, placed, place };
                let ((), rows) = on.record(value, |file| conversations::take(file, &made));
                self.made.conversations.push(NamedConversation { name, session: imported.value });
                Outcome::whole(imported.diagnostics).with_rows(rows)
            }
            Err(error) => on.unreadable(&error, value),
        }
    }

    /// Takes what is in our own form, and templates.
    fn take_own(&mut self, format: Format, value: Value, on: &DocumentContext<'_>) -> Outcome {
        let DocumentContext { file, key, options, .. } = *on;
        let limits = &options.limits;
        match format {
            Format::Agent | Format::AgentExport | Format::PresetFile | Format::PresetList => {
                let (imported, moves) = match agent::read_value(value.clone(), &options.anchors) {
                    Ok(read) => read,
                    Err(error) => return on.unreadable(&error, &value),
                };
                let Imported { value: agent, diagnostics, .. } = imported;
                let take = |file: source::Source<'_>| aio_hub::take_agent(format, file, &diagnostics, &moves);
                let ((), rows) = on.record(&value, take);
                if self.agent.is_none() {
                    self.agent_report = self.made.report.files.len();
                }
                first(&mut self.agent, agent, "agent").after(diagnostics).with_rows(rows)
            }
            Format::Profile | Format::PlainText => {
                let read = match &value {
                    Value::Object(_) => Ok(profile::read_value(value.clone())),
                    _ => profile::read_profile(file.bytes, file.name, limits),
                };
                let Imported { value: profile, diagnostics, .. } = match read {
                    Ok(imported) => imported,
                    Err(error) => return on.unreadable(&error, &value),
                };
                let ((), rows) = on.record(&value, |file| aio_hub::take_profile(file, &diagnostics));
                first(&mut self.made.profile, profile, "profile").after(diagnostics).with_rows(rows)
            }
            Format::RisuModule => {
                let taken = self.take_module(&value, stem(file.name), on);
                self.templates.insert(key.to_owned(), value);
                taken
            }
            Format::RisuPreset => {
                let (preset, rows) = on.record(&value, risu::as_chat_preset);
                if value.is_object() && !self.templates.contains_key(format.id()) {
                    self.risu_preset = Some(preset);
                }
                self.templates.insert(key.to_owned(), value);
                Outcome::whole(Vec::new()).with_rows(rows)
            }
            format => {
                let ((), rows) = on.record(&value, |file| templates::take(format, file));
                self.templates.insert(key.to_owned(), value);
                Outcome::whole(Vec::new()).with_rows(rows)
            }
        }
    }

    /// Takes a worldbook in any form.
    fn take_worldbook(&mut self, value: Value, name: &str, on: &DocumentContext<'_>) -> Outcome {
        let place = self.next_book();
        let (draft, rows) = on.record(&value, |file| Draft::take(file, &place));
        match draft {
            Ok(draft) => {
                let imported = draft.finish(value, "");
                self.add_book(imported.value, name);
                Outcome::whole(imported.diagnostics).with_rows(rows)
            }
            Err(error) => on.unreadable(&error, &value),
        }
    }

    /// Takes the lorebook and the scripts of a module of `RisuAI`.
    fn take_module(&mut self, value: &Value, name: &str, on: &DocumentContext<'_>) -> Outcome {
        let place = self.next_book();
        let (module, rows) = on.record(value, |file| Module::of(file, &place));
        let within = module.within;
        let mut found = module.found;
        if let Some(book) = module.book {
            let imported = worldbook::finish(book);
            let lorebook = format!("{within}/lorebook");
            found.extend(imported.diagnostics.into_iter().map(|finding| moved(finding, "/data", &lorebook)));
            self.add_book(imported.value, name);
        }
        if let Some(scripts) = module.scripts {
            let name = module.name.unwrap_or_else(|| name.to_owned());
            let (rules, findings) = read_regex_scripts(scripts);
            let list = format!("{within}/regex");
            found.extend(findings.into_iter().map(|finding| moved(finding, "", &list)));
            self.scripts.push((name, self.made.report.files.len(), rules));
        }
        Outcome::whole(found).with_rows(rows)
    }

    /// Returns the place of the next book.
    fn next_book(&self) -> String {
        format!("/worldbooks/{}", self.made.worldbooks.len())
    }

    /// Takes a character card with its worldbook and its scripts.
    fn take_card(
        &mut self,
        mut value: Value,
        format: Format,
        name: &str,
        on: &DocumentContext<'_>,
    ) -> Outcome {
        let is_v3 = format == Format::CardV3;
        let place = self.next_book();
        let take = |file: source::Source<'_>| {
            let card = Card::of(file);
            let book = card.book().map(|(at, book)| (at, worldbook::take_card_book(book, &place, is_v3)));
            (card.take(), card.check_tags(), card.name().unwrap_or(name).to_owned(), book)
        };
        let ((parts, mut found, name, book), rows) = on.record(&value, take);
        if self.card.is_some() {
            return first(&mut Some(()), (), "character card").with_rows(rows);
        }
        if let Some((at, draft)) = book {
            let book = value.pointer_mut(at).map(Value::take).unwrap_or_default();
            let imported = draft.finish(book, at);
            found.extend(imported.diagnostics);
            self.card_book = Some(self.add_book(imported.value, &name));
        }
        self.card = Some(SourceObject::whole(self.made.report.files.len(), value));
        self.card_parts = Some(parts);
        Outcome::whole(found).with_rows(rows)
    }

    /// Adds a book under a name of its own, and returns that.
    fn add_book(&mut self, mut book: Worldbook, otherwise: &str) -> String {
        let own = book.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let is_taken = |name: &str| self.made.worldbooks.iter().any(|book| book.name == name);
        let name = unused(own.unwrap_or(otherwise), is_taken);
        if book.name.as_deref() != Some(&name) {
            book = worldbook::renamed(&book, &name);
        }
        self.made.worldbooks.push(NamedBook { name: name.clone(), book });
        name
    }
}

/// Moves a finding from where something stands in the form in which it is read to where the file has it.
fn moved(mut finding: Diagnostic, from: &str, to: &str) -> Diagnostic {
    let below = finding.location.pointer.as_deref().and_then(|pointer| pointer.strip_prefix(from));
    if let Some(below) = below {
        finding.location.pointer = Some(format!("{to}{below}"));
    }
    finding
}

/// Reports that nothing tells what a file is, and which formats are nearest.
fn unknown(value: &Value, nearest: &[Format]) -> Diagnostic {
    let message = phrase!("unknown file format");
    Diagnostic::error(codes::UNKNOWN_FILE, message)
        .with_help(help_for_text(value).unwrap_or_else(|| help_unknown(nearest)))
}

/// Keeps the first of a kind; a further one is reported.
fn first<T>(place: &mut Option<T>, value: T, kind: &'static str) -> Outcome {
    if place.is_some() {
        let message =
            phrase!("this file is ignored: another {kind} is imported already", kind = Phrase::from(kind));
        let found =
            Diagnostic::warning(codes::ANOTHER_OF_KIND, message).with_help(phrase!("import it separately"));
        return Outcome { used: Use::Superseded, ..Outcome::whole(vec![found]) };
    }
    *place = Some(value);
    Outcome::whole(Vec::new())
}
