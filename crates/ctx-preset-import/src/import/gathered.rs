//! What the files hold, sorted by what it is.

use ctx_types::{Agent, Diagnostic, RegexPreset, Worldbook, phrase};
use serde_json::Value;

use super::sources::{Named, Source, stem};
use super::weight::Allowance;
use super::{
    Asset, AssetContent, Import, ImportOptions, NamedBook, NamedConversation, SourceFile, conversations, rows,
};
use crate::container;
use crate::document::{BadLine, Document, Syntax, ends_with};
use crate::error::ImportError;
use crate::format::Format;
use crate::formats::aio_hub;
use crate::formats::risu::{self, Module};
use crate::formats::sillytavern::card::{Card, TakenCard};
use crate::formats::sillytavern::person::Persona;
use crate::formats::sillytavern::preset::EXPORTED;
use crate::formats::sillytavern::regex_scripts::{self, LIST};
use crate::formats::sillytavern::settings::Settings;
use crate::formats::sillytavern::templates;
use crate::loose::{Object, object};
use crate::record::Record;
use crate::report::{Extent, FieldReports, FileReport};
use crate::source;
use crate::worldbook::{self, Draft};
use crate::{agent, codes, conversation, profile, read_regex_scripts};

/// What the files hold.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) card: Option<Given>,
    /// What was made of the card.
    pub(super) card_parts: Option<TakenCard>,
    pub(super) preset: Option<Given>,
    pub(super) settings: Option<Given>,
    /// What was made of the settings.
    pub(super) settings_parts: Option<Settings>,
    pub(super) system_prompt: Option<Given>,
    pub(super) persona: Option<Persona>,
    pub(super) agent: Option<Agent>,
    /// The number of the report of the agent's file.
    pub(super) agent_report: usize,
    /// Regex rules of files that hold scripts, each list with a name and the number of its report.
    pub(super) scripts: Vec<(String, usize, RegexPreset)>,
    /// Templates and other files that are kept, by their names.
    pub(super) templates: Object,
    /// The chat-completion preset that the first preset of `RisuAI` comes nearest to.
    pub(super) risu_preset: Option<Object>,
    /// What is nothing known, by its names: it is kept where an agent is made of the other files.
    pub(super) unknown: Object,
    pub(super) made: Import,
    /// Whether there is one file alone.
    pub(super) is_alone: bool,
    /// Where what is kept of each file is, by the numbers of the reports.
    pub(super) kept_at: Vec<String>,
    /// The name of the card's own book.
    pub(super) card_book: Option<String>,
}

/// An object that a file held.
pub(super) struct Given {
    /// The number of the file's report.
    pub(super) report: usize,
    /// Where it stands in the file.
    pub(super) at: &'static str,
    pub(super) value: Value,
}

impl Given {
    /// Returns the object that a file is.
    fn whole(report: usize, value: Value) -> Self {
        Self { report, at: "", value }
    }
}

/// How a document is written, and what of it is no value.
struct Written {
    syntax: Syntax,
    bad_lines: Vec<BadLine>,
}

/// The name of a picture that has none.
const PICTURE: &str = "avatar.png";

/// A document on its way, how it is read, and the name under which it is kept.
struct On<'a> {
    file: SourceFile<'a>,
    key: &'a str,
    options: &'a ImportOptions,
    extent: Extent,
}

impl On<'_> {
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

    /// Returns the rows of a document of which nothing is taken yet.
    fn kept(&self, document: &Value) -> FieldReports {
        self.record(document, |_| ()).1
    }
}

/// What was done with a document.
struct Taken {
    /// What is worth knowing about it.
    found: Vec<Diagnostic>,
    /// How far it was used.
    used: Use,
    /// Its rows, where what was made of it tells them.
    rows: Option<FieldReports>,
}

impl Taken {
    fn whole(found: Vec<Diagnostic>) -> Self {
        Self { found, used: Use::Whole, rows: None }
    }

    fn unreadable(error: &ImportError) -> Self {
        Self { found: vec![error.to_diagnostic()], used: Use::Unreadable, rows: None }
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
enum Use {
    /// Its fields went where their rows say.
    Whole,
    /// Not at all, since another file of the kind counts.
    Outdone,
    /// Not at all, since its form is not the one that its keys promise.
    Unreadable,
}

impl Gathered {
    /// Adds a file, or all documents that it holds.
    pub(super) fn add(&mut self, number: usize, file: SourceFile<'_>, options: &ImportOptions) {
        let mut left = Allowance::of(&options.limits);
        let named = |is_alone| options.format.map(|format| Named { format, is_alone });
        match container::unpack(file.bytes, &options.limits) {
            Ok(None) => {
                let read = Source::read(file, &left.limits(&options.limits), named(self.is_alone));
                self.add_document(file, (None, file), allowed(read, file.bytes.len(), &mut left), options);
            }
            Ok(Some(unpacked)) => {
                let before = self.made.report.files.len();
                let is_empty = unpacked.documents.is_empty();
                for document in unpacked.documents {
                    let name = if document.name.is_empty() { file.name } else { &document.name };
                    let inner = SourceFile { name, bytes: &document.bytes };
                    let read = match document.read {
                        Some(read) => Ok(Source::of(read, name, named(false))),
                        None => Source::read(inner, &left.limits(&options.limits), named(false)),
                    };
                    let read = allowed(read, inner.bytes.len(), &mut left);
                    self.add_document(file, (Some(&document.container), inner), read, options);
                }
                if is_empty {
                    let found = Diagnostic::error(
                        codes::UNKNOWN_FILE,
                        phrase!("the archive holds nothing that can be imported"),
                    );
                    let help = phrase!("give the files in it that the other application exports");
                    self.refuse(file, None, found.with_help(help));
                }
                // Files beside nothing that is read belong to nothing.
                let documents = self.made.report.files.iter().skip(before);
                if documents.into_iter().any(|document| document.format.is_some()) {
                    let packed = unpacked.files.into_iter();
                    let packed = packed.map(|file| (file.path, AssetContent::Packed(file.bytes)));
                    let itself = unpacked.is_picture.then(|| (String::new(), AssetContent::Source(number)));
                    let assets = packed.chain(itself).map(|(path, content)| match path.is_empty() {
                        true => Asset { path: PICTURE.to_owned(), content },
                        false => Asset { path, content },
                    });
                    self.made.assets.extend(assets);
                }
                self.tell(unpacked.diagnostics);
            }
            Err(error) => self.fail(file, None, &error),
        }
    }

    /// Adds a document of a file, with what it was packed in, if it could be read.
    fn add_document(
        &mut self,
        file: SourceFile<'_>,
        (container, document): (Option<&str>, SourceFile<'_>),
        read: Result<Source, ImportError>,
        options: &ImportOptions,
    ) {
        match read {
            Ok(mut source) => {
                file.name.clone_into(&mut source.path);
                source.container = container.map(str::to_owned);
                // A text without fields in a picture says nothing of who chats.
                source.format = source.format.filter(|format| {
                    *format != Format::PlainText || !container.is_some_and(|outer| outer.contains("png:"))
                });
                self.add_source(source, document, options);
            }
            Err(error) => self.fail(file, container, &error),
        }
    }

    /// Puts findings about a file to those of its last document.
    fn tell(&mut self, found: Vec<Diagnostic>) {
        if let Some(report) = self.made.report.files.last_mut() {
            let path = report.path.as_str();
            report.diagnostics.splice(..0, found.into_iter().map(|finding| finding.in_document(path)));
            report.diagnostics.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        }
    }

    /// Reports a file that cannot be read.
    fn fail(&mut self, file: SourceFile<'_>, container: Option<&str>, error: &ImportError) {
        let mut found = error.to_diagnostic();
        if ends_with(file.name, &risu::PACKED) {
            found = found.with_help(risu::PACKED_HELP);
        }
        self.refuse(file, container, found);
    }

    /// Reports a file of which nothing is made, and why.
    fn refuse(&mut self, file: SourceFile<'_>, container: Option<&str>, found: Diagnostic) {
        self.kept_at.push(String::new());
        self.made.report.files.push(FileReport {
            path: file.name.to_owned(),
            format: None,
            container: container.map(str::to_owned),
            fields: FieldReports::default(),
            diagnostics: vec![found.in_document(file.name)],
        });
    }

    fn add_source(&mut self, mut source: Source, file: SourceFile<'_>, options: &ImportOptions) {
        // Whoever reads a profile tells what is odd about its document.
        source.diagnostics.retain(|_| source.format != Some(Format::Profile));
        let key = self.key(source.format, source.stem());
        let kept_at = format!("/imported/{key}");
        let mut report = FileReport {
            path: source.path.clone(),
            format: source.format,
            container: source.container.take(),
            fields: FieldReports::default(),
            diagnostics: std::mem::take(&mut source.diagnostics),
        };
        let has_persona = source.format == Some(Format::Settings) && self.persona.is_some();
        let is_second = source.format.is_some_and(|format| ONCE.contains(&format) && format.id() != key);
        let extent = source.extent;
        if let (Some(format), Some(what)) = (source.format, source.guessed_by) {
            report.diagnostics.push(guessed(format, what));
        }
        let taken = self.take(source, &On { file, key: &key, options, extent });
        report.diagnostics.extend(taken.found);
        if let Some(rows) = taken.rows {
            report.fields = rows;
        }
        rows::demote(&mut report);
        if has_persona {
            outdo_persona(&mut report, &kept_at);
        }
        if is_second {
            rows::outdo(&mut report, &kept_at, "another file of the kind was given before", |_| true);
        }
        rows::migrate(&mut report);
        match taken.used {
            Use::Whole => {}
            Use::Outdone => rows::refuse(&mut report, "another file of the kind was given before"),
            Use::Unreadable => {
                rows::refuse(&mut report, "the file cannot be read as what it seems to be");
                report.format = None;
            }
        }
        report.diagnostics =
            report.diagnostics.into_iter().map(|finding| finding.in_document(report.path.as_str())).collect();
        report.diagnostics.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self.made.report.files.push(report);
        self.kept_at.push(kept_at);
    }

    /// Returns the name under which a document is kept beside what is made of it.
    fn key(&self, format: Option<Format>, name: &str) -> String {
        let wanted = match format {
            Some(format) if format.is_card() => return "card".to_owned(),
            Some(Format::ChatPreset) => return "preset".to_owned(),
            Some(Format::Settings) => return "settings".to_owned(),
            Some(format) => format.id(),
            None => name,
        };
        let is_taken = |name: &str| {
            ["card", "preset", "settings", "cardBook"].contains(&name)
                || self.templates.contains_key(name)
                || self.unknown.contains_key(name)
        };
        unused(wanted, is_taken)
    }

    /// Takes a document by its format.
    fn take(&mut self, source: Source, on: &On<'_>) -> Taken {
        let key = on.key;
        let name = source.stem().to_owned();
        let report = self.made.report.files.len();
        match (source.format, source.value) {
            (Some(format), value @ Value::Object(_)) if format.is_card() => {
                self.take_card(value, format, &name, on)
            }
            (Some(Format::ChatPreset), value @ Value::Object(_)) => {
                let rows = on.kept(&value);
                first(&mut self.preset, Given::whole(report, value), "chat completion preset").with_rows(rows)
            }
            (Some(Format::PromptExport), Value::Object(file)) => {
                let object = object(&file, EXPORTED.trim_start_matches('/')).cloned().unwrap_or_default();
                let (file, value) = (Value::Object(file), Value::Object(object));
                let rows = on.kept(&file);
                self.templates.insert(key.to_owned(), file);
                let given = Given { report, at: EXPORTED, value };
                first(&mut self.preset, given, "chat completion preset").with_rows(rows)
            }
            (Some(Format::Settings), value @ Value::Object(_)) => {
                let take = |file: source::Source<'_>| (Persona::take(file), Settings::take(file));
                let ((persona, settings), rows) = on.record(&value, take);
                if self.settings.is_none() {
                    self.persona = self.persona.take().or(persona);
                    self.settings_parts = Some(settings);
                }
                first(&mut self.settings, Given::whole(report, value), "SillyTavern settings").with_rows(rows)
            }
            (Some(Format::SystemPrompt), value @ Value::Object(_)) => {
                let ((), rows) = on.record(&value, |file| templates::take(Format::SystemPrompt, file));
                first(&mut self.system_prompt, Given::whole(report, value), "system prompt").with_rows(rows)
            }
            (Some(Format::Personas), value @ Value::Object(_)) => {
                let (persona, rows) = on.record(&value, Persona::take);
                let taken = match self.persona {
                    Some(_) => first(&mut Some(()), (), "persona"),
                    None => Taken::whole(Vec::new()),
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
                Taken::whole(found).with_rows(rows)
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
                let rows = on.kept(&value);
                self.unknown.insert(key.to_owned(), value);
                Taken::whole(vec![unknown(&source.nearest)]).with_rows(rows)
            }
        }
    }

    /// Takes a conversation, whose rows are told by what was made of it.
    fn take_conversation(&mut self, format: Format, value: &Value, written: Written, on: &On<'_>) -> Taken {
        let Written { syntax, bad_lines } = written;
        // What was odd about the document is told already.
        let document = Document { value: value.clone(), syntax, bad_lines, diagnostics: Vec::new() };
        match conversation::read_document(document, on.file.name) {
            Ok((imported, placed)) => {
                let name = stem(on.file.name).to_owned();
                let place = format!("/conversations/{}", self.made.conversations.len());
                let (document, session, placed, place) = (value, &imported.value, &placed, &*place);
                let made = conversations::Made { format, document, session, placed, place };
                let rows = conversations::rows(&made, on.extent);
                self.made.conversations.push(NamedConversation { name, session: imported.value });
                Taken::whole(imported.diagnostics).with_rows(rows)
            }
            Err(error) => Taken::unreadable(&error).with_rows(rows::unread(value)),
        }
    }

    /// Takes what is in our own form, and templates.
    fn take_own(&mut self, format: Format, value: Value, on: &On<'_>) -> Taken {
        let On { file, key, options, .. } = *on;
        let limits = &options.limits;
        match format {
            Format::Agent | Format::AgentExport | Format::PresetFile | Format::PresetList => {
                let ((), rows) = on.record(&value, |file| aio_hub::take(format, file));
                let taken = match agent::read_value(value, &options.anchors) {
                    Ok(imported) => {
                        if self.agent.is_none() {
                            self.agent_report = self.made.report.files.len();
                        }
                        first(&mut self.agent, imported.value, "agent").after(imported.diagnostics)
                    }
                    Err(error) => Taken::unreadable(&error),
                };
                taken.with_rows(rows)
            }
            Format::Profile | Format::PlainText => {
                let ((), rows) = on.record(&value, |file| aio_hub::take(format, file));
                let taken = match profile::read_profile(file.bytes, file.name, limits) {
                    Ok(imported) => {
                        let taken = first(&mut self.made.profile, imported.value, "profile");
                        taken.after(imported.diagnostics)
                    }
                    Err(error) => Taken::unreadable(&error),
                };
                taken.with_rows(rows)
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
                Taken::whole(Vec::new()).with_rows(rows)
            }
            format => {
                let ((), rows) = on.record(&value, |file| templates::take(format, file));
                self.templates.insert(key.to_owned(), value);
                Taken::whole(Vec::new()).with_rows(rows)
            }
        }
    }

    /// Takes a worldbook in any form.
    fn take_worldbook(&mut self, value: Value, name: &str, on: &On<'_>) -> Taken {
        let place = self.next_book();
        let (draft, rows) = on.record(&value, |file| Draft::take(file, &place));
        match draft {
            Ok(draft) => {
                let imported = draft.finish(value, "");
                self.add_book(imported.value, name);
                Taken::whole(imported.diagnostics).with_rows(rows)
            }
            Err(error) => Taken::unreadable(&error).with_rows(rows::unread(&value)),
        }
    }

    /// Takes the lorebook and the scripts of a module of `RisuAI`.
    fn take_module(&mut self, value: &Value, name: &str, on: &On<'_>) -> Taken {
        let place = self.next_book();
        let (module, rows) = on.record(value, |file| Module::of(file, &place));
        let within = module.within;
        let mut found = Vec::new();
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
        Taken::whole(found).with_rows(rows)
    }

    /// Returns the place of the next book.
    fn next_book(&self) -> String {
        format!("/worldbooks/{}", self.made.worldbooks.len())
    }

    /// Takes a character card with its worldbook and its scripts.
    fn take_card(&mut self, mut value: Value, format: Format, name: &str, on: &On<'_>) -> Taken {
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
        self.card = Some(Given::whole(self.made.report.files.len(), value));
        self.card_parts = Some(parts);
        Taken::whole(found).with_rows(rows)
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

/// Says that nothing tells what a file is, and which formats are nearest.
fn unknown(nearest: &[Format]) -> Diagnostic {
    let found = Diagnostic::error(codes::UNKNOWN_FILE, phrase!("the file is nothing that can be imported"));
    let nearest: Vec<String> = nearest.iter().map(|format| format!("`{}`", format.id())).collect();
    found.with_help(match nearest.is_empty() {
        true => phrase!("leave it out, or give the file that the other application exports"),
        false => {
            phrase!(
                "leave it out, or say what it is with `--as`, such as {nearest}",
                nearest = nearest.join(", ")
            )
        }
    })
}

/// Says by what a format was guessed.
fn guessed(format: Format, what: &str) -> Diagnostic {
    let message = phrase!("the file is taken for {format} by {what}", format = format.to_string(), what);
    let found = Diagnostic::warning(codes::GUESSED_FORMAT, message);
    found.with_help(phrase!("if it is something else, leave it out or name its format with `--as`"))
}

/// Takes what a document of so many bytes needs, if there is so much left to its file.
fn allowed(
    read: Result<Source, ImportError>,
    bytes: usize,
    left: &mut Allowance,
) -> Result<Source, ImportError> {
    let mut source = read?;
    source.extent = left.take(bytes, source.format, &source.value)?;
    Ok(source)
}

/// Files of which the first counts, while all are kept.
const ONCE: [Format; 5] = [
    Format::InstructTemplate,
    Format::ContextTemplate,
    Format::TextPreset,
    Format::MasterExport,
    Format::RisuPreset,
];

/// The fields of settings that tell of the person who chats: their beginnings.
const PERSON: [&str; 4] = ["/username", "/user_avatar", "/power_user/persona", "/power_user/default_persona"];

/// Says of the fields of settings that tell of a persona that they are no more than kept.
fn outdo_persona(report: &mut FileReport, kept_at: &str) {
    rows::outdo(report, kept_at, rows::ANOTHER_PERSON, |row| {
        PERSON.iter().any(|start| row.pointer.starts_with(start))
    });
}

/// Returns a name, with a number behind it where others have it.
fn unused(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{wanted} {number}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

/// Keeps the first of a kind; a further one is reported.
fn first<T>(place: &mut Option<T>, value: T, kind: &str) -> Taken {
    if place.is_some() {
        let message = phrase!("another {kind} was given before; this one is not used", kind);
        let found =
            Diagnostic::warning(codes::ANOTHER_OF_KIND, message).with_help(phrase!("import it by itself"));
        return Taken { used: Use::Outdone, ..Taken::whole(vec![found]) };
    }
    *place = Some(value);
    Taken::whole(Vec::new())
}
