//! Converts the documents of files, one after another.

use ctx_types::worldbook::Worldbook;
use ctx_types::{Diagnostic, Phrase, RegexPreset, phrase};
use serde_json::Value;

use super::documents::SourceDocument;
use super::plan::{self, AGENT_COUNTS, FIRST_COUNTS, Plan};
use super::{Asset, Import, Importer, NamedBook, NamedConversation, conversations};
use crate::document::Document;
use crate::error::ImportError;
use crate::format::{Format, help_for_text, help_unknown};
use crate::formats::aio_hub;
use crate::formats::risu::{self, Module};
use crate::formats::sillytavern::card::{Card, TakenCard};
use crate::formats::sillytavern::person::{self, Persona};
use crate::formats::sillytavern::preset::{EXPORTED, IN_USE};
use crate::formats::sillytavern::regex_scripts::{self, LIST, TakenScripts};
use crate::formats::sillytavern::settings::Settings;
use crate::formats::sillytavern::templates;
use crate::imported::{Moved, relocate};
use crate::kept::IMPORTED;
use crate::loose::Object;
use crate::report::{self, FieldReport, FieldStatus, FileReport, leads_to};
use crate::source::{Source, SourceNode};
use crate::worldbook::{self, Form};
use crate::{codes, conversation, read_regex_scripts};

const PROFILE_COUNTS: &str = "set by another file";

/// Results of the documents so far.
pub(super) struct Conversion<'i> {
    pub(super) importer: &'i Importer,
    pub(super) plan: Plan,
    pub(super) reports: Vec<FileReport>,
    pub(super) made: Import,
    /// The card without its worldbook.
    pub(super) card: Option<UsedDocument>,
    pub(super) card_parts: TakenCard,
    pub(super) card_book: Option<String>,
    pub(super) preset: Option<UsedDocument>,
    pub(super) settings: Option<UsedDocument>,
    pub(super) settings_parts: Settings,
    /// Whether a file before the settings has a persona.
    pub(super) has_other_persona: bool,
    pub(super) system_prompt: Option<UsedDocument>,
    pub(super) persona: Option<Persona>,
    pub(super) agent: Option<UsedDocument>,
    pub(super) scripts: Vec<FileScripts>,
    /// Templates and other kept files, by their names.
    pub(super) templates: Object,
    /// Files with an unknown format, by their names. An agent of other files keeps them.
    pub(super) unknown: Object,
    /// The preset of `RisuAI` as a chat completion preset.
    pub(super) risu_preset: Option<Value>,
}

/// A document with a used part.
#[derive(Clone)]
pub(super) struct UsedDocument {
    pub(super) report: usize,
    /// The place of the part in the document.
    pub(super) at: &'static str,
    /// The place of the document in the agent.
    pub(super) kept_at: String,
    pub(super) document: Value,
}

pub(super) struct FileScripts {
    pub(super) report: usize,
    pub(super) scripts: TakenScripts,
}

/// The document in conversion.
struct Current<'d> {
    number: usize,
    report: usize,
    /// Its name in `imported`.
    key: &'d str,
    /// Its file name without folders and ending.
    stem: &'d str,
}

impl Current<'_> {
    fn kept_at(&self) -> String {
        format!("/imported/{}", self.key)
    }

    /// Returns the document with the place of its used part.
    fn used(&self, at: &'static str, document: Value) -> UsedDocument {
        UsedDocument { report: self.report, at, kept_at: self.kept_at(), document }
    }
}

impl<'i> Conversion<'i> {
    pub(super) fn new(
        importer: &'i Importer,
        plan: Plan,
        reports: Vec<FileReport>,
        assets: Vec<Asset>,
    ) -> Self {
        Self {
            importer,
            plan,
            reports,
            made: Import { assets, ..Import::default() },
            card: None,
            card_parts: TakenCard::default(),
            card_book: None,
            preset: None,
            settings: None,
            settings_parts: Settings::take(Source::default()),
            has_other_persona: false,
            system_prompt: None,
            persona: None,
            agent: None,
            scripts: Vec::new(),
            templates: Object::new(),
            unknown: Object::new(),
            risu_preset: None,
        }
    }

    pub(super) fn add(&mut self, number: usize, document: SourceDocument) {
        let key = self.key(document.format, document.stem());
        let stem = document.stem().to_owned();
        let current = &Current { number, report: document.report, key: &key, stem: &stem };
        if let Some(error) = self.plan.errors.remove(&number) {
            return self.refuse_unreadable(&error, &document.value, current);
        }
        match (document.format, document.value) {
            (None, value) => {
                self.report(current, [unknown(&value, &document.nearest)]);
                self.set_rows(current, &value, |_| ());
                self.unknown.insert(key.clone(), value);
            }
            (Some(format), value @ Value::Object(_)) if format.is_card() => {
                self.add_card(value, format, current);
            }
            (Some(format @ (Format::ChatPreset | Format::PromptExport)), value @ Value::Object(_)) => {
                self.add_preset(value, format, current);
            }
            (Some(Format::Settings), value @ Value::Object(_)) => self.add_settings(value, current),
            (Some(Format::SystemPrompt), value @ Value::Object(_)) => {
                if self.is_used(self.plan.first(Format::SystemPrompt), "system prompt", &value, current) {
                    self.set_rows(current, &value, |file| {
                        templates::take(Format::SystemPrompt, file, &|_| None);
                    });
                    self.system_prompt = Some(current.used("", value));
                }
            }
            (Some(Format::Personas), value @ Value::Object(_)) => self.add_personas(value, current),
            (Some(Format::RegexScripts), scripts) => {
                let (rules, found) =
                    self.set_rows(current, &scripts, |file| regex_scripts::take(file.keep_at(LIST)));
                let rules = RegexPreset { name: Some(stem.as_str().into()), ..rules };
                let scripts = TakenScripts { at: String::new(), rules, found };
                self.scripts.push(FileScripts { report: current.report, scripts });
            }
            (Some(Format::Worldbook | Format::CardBook | Format::OtherLorebook), value) => {
                self.add_worldbook(&value, current);
            }
            (Some(format), value) if format.is_conversation() => {
                let (syntax, bad_lines) = (document.syntax, document.bad_lines);
                let read = Document { value, syntax, bad_lines, diagnostics: Vec::new(), json_error: None };
                self.add_conversation(format, read, &document.name, current);
            }
            (Some(format), value) if plan::is_agent(format) => self.add_agent(value, current),
            (Some(format), value) if plan::is_profile(format) => self.add_profile(&value, current),
            (Some(format), value) => self.add_kept(format, value, current),
        }
    }

    /// Converts the fields of a document, and writes its rows. Other fields are kept under its name.
    fn set_rows<T>(
        &mut self,
        current: &Current<'_>,
        document: &Value,
        take: impl for<'r> FnOnce(Source<'r>) -> T,
    ) -> T {
        let node = SourceNode::new(document);
        let taken = take(node.source());
        self.reports[current.report].fields = report::rows(&node, &current.kept_at());
        taken
    }

    fn report(&mut self, current: &Current<'_>, found: impl IntoIterator<Item = Diagnostic>) {
        self.reports[current.report].diagnostics.extend(found);
    }

    /// Reports a document that cannot be read as its format.
    fn refuse_unreadable(&mut self, error: &ImportError, document: &Value, current: &Current<'_>) {
        self.report(current, [error.to_diagnostic()]);
        self.set_rows(current, document, |file| file.reject("the file is invalid for its format"));
        self.reports[current.report].format = None;
    }

    /// Returns whether a document is used. Reports why not.
    fn is_used(
        &mut self,
        used: Option<usize>,
        kind: &'static str,
        document: &Value,
        current: &Current<'_>,
    ) -> bool {
        let is_first = used == Some(current.number);
        if is_first && self.plan.agent.is_none() {
            return true;
        }
        let note = if is_first { AGENT_COUNTS } else { FIRST_COUNTS };
        let message = if is_first {
            phrase!("this file is ignored: a complete agent is imported too")
        } else {
            another(kind)
        };
        self.warn_ignored(message, current);
        self.set_rows(current, document, |file| file.reject(note));
        false
    }

    fn warn_ignored(&mut self, message: Phrase, current: &Current<'_>) {
        let found = Diagnostic::warning(codes::ANOTHER_OF_KIND, message);
        self.report(current, [found.with_help(phrase!("import it separately"))]);
    }

    /// Adds a character card with its worldbook and its scripts.
    fn add_card(&mut self, mut value: Value, format: Format, current: &Current<'_>) {
        let used = self.plan.first(format);
        let is_used = self.is_used(used, "character card", &value, current);
        if !is_used && used != Some(current.number) {
            return;
        }
        let place = self.next_book();
        let is_v3 = format == Format::CardV3;
        let take = |file: Source<'_>| {
            let card = Card::new(file);
            if !is_used {
                // Only its worldbook is used next to an agent.
                file.reject(AGENT_COUNTS);
            }
            let book = card.book().map(|(at, book)| (at, worldbook::take_card_book(book, &place, at, is_v3)));
            let name = card.name().unwrap_or(current.stem).to_owned();
            (is_used.then(|| (card.take(), card.check_tags())), name, book)
        };
        let (parts, name, book) = self.set_rows(current, &value, take);
        if let Some((at, form)) = book {
            if let Some(book) = value.pointer_mut(at) {
                book.take();
            }
            let imported = worldbook::finish(form);
            self.report(current, imported.diagnostics);
            self.card_book = Some(self.add_book(imported.value, &name, current));
        }
        if let Some((parts, found)) = parts {
            self.report(current, found);
            self.card = Some(current.used("", value));
            self.card_parts = parts;
        }
    }

    fn add_preset(&mut self, value: Value, format: Format, current: &Current<'_>) {
        let at = if format == Format::PromptExport { EXPORTED } else { "" };
        let is_used = self.is_used(self.plan.first(format), "chat completion preset", &value, current);
        if format == Format::PromptExport {
            self.templates.insert(current.key.to_owned(), value.clone());
        }
        if is_used {
            self.preset = Some(current.used(at, value));
        }
    }

    fn add_settings(&mut self, value: Value, current: &Current<'_>) {
        let used = self.plan.first(Format::Settings);
        let is_used = self.is_used(used, "SillyTavern settings", &value, current);
        if !is_used && used != Some(current.number) {
            return;
        }
        let has_persona = self.persona.is_some();
        let has_profile = self.plan.profile.is_some();
        let (persona, parts) = self.set_rows(current, &value, |file| {
            file.at(IN_USE.trim_start_matches('/')).keep("set by the imported preset");
            take_settings(file, has_persona, has_profile)
        });
        if is_used {
            self.settings = Some(current.used(IN_USE, value));
            self.settings_parts = parts;
            self.has_other_persona = has_persona;
        } else {
            // The user profile does not depend on the agent.
            let rows = &mut self.reports[current.report].fields;
            rows.iter_mut().filter(|row| !leads_to(row, "/profile")).for_each(|row| row.reject(AGENT_COUNTS));
        }
        self.persona = self.persona.take().or(persona);
    }

    fn add_personas(&mut self, value: Value, current: &Current<'_>) {
        if self.persona.is_some() {
            self.warn_ignored(another("persona"), current);
            self.set_rows(current, &value, |file| file.keep(FIRST_COUNTS));
        } else {
            let (has_profile, has_agent) = (self.plan.profile.is_some(), self.plan.agent.is_some());
            self.persona = self.set_rows(current, &value, |file| {
                let persona = Persona::take(file);
                if has_profile {
                    person::keep_profile(file, PROFILE_COUNTS);
                }
                if has_agent {
                    person::keep_place(file, AGENT_COUNTS);
                }
                persona
            });
        }
        self.templates.insert(current.key.to_owned(), value);
    }

    /// Adds a conversation; `name` is its own file name.
    fn add_conversation(&mut self, format: Format, document: Document, name: &str, current: &Current<'_>) {
        let value = &document.value.clone();
        let (imported, placed) = match conversation::read_document(document, name) {
            Ok(read) => read,
            Err(error) => return self.refuse_unreadable(&error, value, current),
        };
        let place = format!("/conversations/{}", self.made.conversations.len());
        let session = &imported.value;
        self.set_rows(current, value, |file| conversations::take(file, format, session, &placed, &place));
        self.report(current, imported.diagnostics);
        let name = current.stem.to_owned();
        self.made.conversations.push(NamedConversation { name, session: imported.value });
    }

    fn add_agent(&mut self, value: Value, current: &Current<'_>) {
        if self.plan.agent == Some(current.number) {
            self.agent = Some(current.used("", value));
        } else {
            self.is_used(None, "agent", &value, current);
        }
    }

    fn add_profile(&mut self, value: &Value, current: &Current<'_>) {
        match self.plan.read_profile.take_if(|_| self.plan.profile == Some(current.number)) {
            Some(read) => {
                self.set_rows(current, value, |file| aio_hub::take_profile(file, &read.diagnostics));
                self.report(current, read.diagnostics);
                self.made.profile = Some(read.value);
            }
            None => {
                self.is_used(None, "profile", value, current);
            }
        }
    }

    fn add_kept(&mut self, format: Format, value: Value, current: &Current<'_>) {
        if let Some(note) = self.plan.superseded(current.number, format) {
            self.set_rows(current, &value, |file| file.keep(note));
        } else if format == Format::RisuModule {
            self.add_module(&value, current);
        } else if format == Format::RisuPreset {
            let preset = self.set_rows(current, &value, risu::as_chat_preset);
            self.risu_preset = value.is_object().then_some(Value::Object(preset));
        } else {
            let superseded: Vec<_> = templates::MASTER_PARTS
                .iter()
                .filter_map(|(_, part)| Some((*part, self.plan.superseded_part(*part)?)))
                .collect();
            let superseded = |part| superseded.iter().find(|(own, _)| *own == part).map(|(_, note)| *note);
            self.set_rows(current, &value, |file| templates::take(format, file, &superseded));
            let has_prompt = value.get("sysprompt").is_some_and(Value::is_object);
            if has_prompt && format == Format::MasterExport && self.plan.first(Format::SystemPrompt).is_none()
            {
                self.system_prompt = Some(current.used("/sysprompt", value.clone()));
            }
        }
        self.templates.insert(current.key.to_owned(), value);
    }

    fn add_worldbook(&mut self, value: &Value, current: &Current<'_>) {
        let place = self.next_book();
        match self.set_rows(current, value, |file| Form::take(file, &place)) {
            Ok(form) => {
                let imported = worldbook::finish(form);
                self.report(current, imported.diagnostics);
                self.add_book(imported.value, current.stem, current);
            }
            Err(error) => self.refuse_unreadable(&error, value, current),
        }
    }

    /// Adds the lorebook and the scripts of a module of `RisuAI`.
    fn add_module(&mut self, value: &Value, current: &Current<'_>) {
        let place = self.next_book();
        let module = self.set_rows(current, value, |file| Module::new(file, &place));
        let within = module.within;
        self.report(current, module.found);
        if let Some(book) = module.book {
            let imported = worldbook::finish(book);
            let mut found = imported.diagnostics;
            relocate(&mut found, &[Moved { ours: "/data", theirs: &format!("{within}/lorebook") }]);
            self.report(current, found);
            self.add_book(imported.value, current.stem, current);
        }
        if let Some(scripts) = module.scripts {
            let (rules, found) = read_regex_scripts(scripts);
            let name = module.name.unwrap_or_else(|| current.stem.to_owned());
            let rules = RegexPreset { name: Some(name.into()), ..rules };
            let scripts = TakenScripts { at: format!("{within}/regex"), rules, found };
            self.scripts.push(FileScripts { report: current.report, scripts });
        }
    }

    /// Returns the place of the next book.
    fn next_book(&self) -> String {
        format!("/worldbooks/{}", self.made.worldbooks.len())
    }

    /// Adds a book under a free name, and returns the name.
    fn add_book(&mut self, mut book: Worldbook, otherwise: &str, current: &Current<'_>) -> String {
        let own = book.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let is_taken = |name: &str| self.made.worldbooks.iter().any(|book| book.name == name);
        let name = unused(own.unwrap_or(otherwise), is_taken);
        if book.name.as_deref() != Some(&name) {
            book = worldbook::renamed(&book, &name);
        }
        let place = self.next_book();
        move_displaced(&mut self.reports[current.report].fields, &place, &book);
        self.made.worldbooks.push(NamedBook { name: name.clone(), book });
        name
    }

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
}

/// Takes the used settings, and their persona unless another file has one.
pub(super) fn take_settings(
    file: Source<'_>,
    has_persona: bool,
    has_profile: bool,
) -> (Option<Persona>, Settings) {
    let persona = if has_persona { None } else { Persona::take(file) };
    if has_persona {
        person::keep_all(file, PROFILE_COUNTS);
    } else if has_profile {
        person::keep_profile(file, PROFILE_COUNTS);
    }
    (persona, Settings::take(file))
}

/// Corrects the places of displaced fields of a book, which is at a place.
pub(super) fn move_displaced(rows: &mut [FieldReport], place: &str, book: &Worldbook) {
    let displaced = book.kept.get(IMPORTED).and_then(Value::as_object).into_iter().flat_map(Object::keys);
    for own in displaced.map(|key| format!("{place}/{key}")) {
        for row in rows.iter_mut().filter(|row| row.status == FieldStatus::Kept && leads_to(row, &own)) {
            let to = row.to.as_deref().and_then(|to| to.strip_prefix(place)).unwrap_or_default();
            if row.pointer.ends_with(to) {
                row.to = Some(format!("{place}/{IMPORTED}{to}"));
            }
        }
    }
}

/// Returns a free name, with a number if needed.
fn unused(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{wanted} {number}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).expect("an unbounded range contains a free name")
}

fn another(kind: &'static str) -> Phrase {
    phrase!("this file is ignored: another {kind} is imported already", kind = Phrase::from(kind))
}

/// Reports a file with an unknown format, with the nearest formats.
fn unknown(value: &Value, nearest: &[Format]) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_FILE, phrase!("unknown file format"))
        .with_help(help_for_text(value).unwrap_or_else(|| help_unknown(nearest)))
}
