//! What the files hold, sorted by what it is, and the agent that is made of it.

use ctx_types::{Agent, Diagnostic, Persist as _, Reader, RegexConfig, UserProfile, Worldbook};
use serde_json::{Map, Value, json};

use super::sources::{Source, stem};
use super::{Import, ImportOptions, NamedBook, NamedConversation, SourceFile, rows};
use crate::container;
use crate::error::ImportError;
use crate::export::CARD_RULES;
use crate::format::Format;
use crate::loose::{Object, flag, object, said};
use crate::report::FileReport;
use crate::sillytavern::arrange::{Arrangement, Preferences};
use crate::sillytavern::card::Card;
use crate::sillytavern::person::Persona;
use crate::sillytavern::preset::ChatPreset;
use crate::sillytavern::{parameters, processors};
use crate::{agent, codes, conversation, kept, profile, read_regex_scripts, worldbook};

/// What the files hold.
#[derive(Default)]
pub(super) struct Gathered {
    card: Option<Object>,
    preset: Option<Object>,
    settings: Option<Object>,
    persona: Option<Persona>,
    agent: Option<Agent>,
    /// Scripts of files, each with a name.
    scripts: Vec<(String, Value)>,
    /// Templates and other files that are kept, by their formats.
    templates: Object,
    made: Import,
    /// Whether the first book is the card's own.
    card_book: Option<String>,
}

impl Gathered {
    /// Adds a file, or all documents that it holds.
    pub(super) fn add(&mut self, file: SourceFile<'_>, options: &ImportOptions) {
        match container::unpack(file.bytes, &options.limits) {
            Ok(None) => self.add_document(file, None, file, options),
            Ok(Some(unpacked)) => {
                for document in &unpacked.documents {
                    let name = if document.name.is_empty() { file.name } else { &document.name };
                    let inner = SourceFile { name, bytes: &document.bytes };
                    self.add_document(file, Some(&document.container), inner, options);
                }
                self.made.assets.extend(unpacked.files);
            }
            Err(error) => self.fail(file, None, &error),
        }
    }

    /// Adds a document of a file.
    fn add_document(
        &mut self,
        file: SourceFile<'_>,
        container: Option<&str>,
        document: SourceFile<'_>,
        options: &ImportOptions,
    ) {
        match Source::read(document, &options.limits) {
            Ok(mut source) => {
                file.name.clone_into(&mut source.path);
                source.container = container.map(str::to_owned);
                self.add_source(source, document, options);
            }
            Err(error) => self.fail(file, container, &error),
        }
    }

    /// Reports a file that cannot be read.
    fn fail(&mut self, file: SourceFile<'_>, container: Option<&str>, error: &ImportError) {
        self.made.report.files.push(FileReport {
            path: file.name.to_owned(),
            format: None,
            container: container.map(str::to_owned),
            fields: Vec::new(),
            diagnostics: vec![error.to_diagnostic().in_document(file.name)],
        });
    }

    fn add_source(&mut self, mut source: Source, file: SourceFile<'_>, options: &ImportOptions) {
        let mut report = FileReport {
            path: source.path.clone(),
            format: source.format,
            container: source.container.take(),
            fields: rows::of(source.format, &source.value),
            diagnostics: std::mem::take(&mut source.diagnostics),
        };
        report.diagnostics.extend(self.take(source, file, options));
        report.diagnostics =
            report.diagnostics.into_iter().map(|finding| finding.in_document(report.path.as_str())).collect();
        report.diagnostics.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self.made.report.files.push(report);
    }

    /// Takes a document by its format; returns what is worth knowing about it.
    fn take(&mut self, source: Source, file: SourceFile<'_>, options: &ImportOptions) -> Vec<Diagnostic> {
        let name = source.stem().to_owned();
        match (source.format, source.value) {
            (Some(format), Value::Object(card)) if format.is_card() => self.take_card(card, format, &name),
            (Some(Format::ChatPreset), Value::Object(preset)) => {
                first(&mut self.preset, preset, "chat completion preset")
            }
            (Some(Format::Settings), Value::Object(settings)) => {
                self.persona = self.persona.take().or_else(|| Persona::of(&settings));
                first(&mut self.settings, settings, "SillyTavern settings")
            }
            (Some(Format::Personas), Value::Object(personas)) => {
                self.persona = self.persona.take().or_else(|| Persona::of(&personas));
                self.templates.insert("personas".to_owned(), Value::Object(personas));
                Vec::new()
            }
            (Some(Format::RegexScripts), scripts) => {
                let (_, found) = read_regex_scripts(scripts.clone());
                self.scripts.push((name, scripts));
                found
            }
            (Some(Format::Worldbook | Format::CardBook | Format::OtherLorebook), value) => {
                match worldbook::read_value(value) {
                    Ok(imported) => {
                        self.add_book(imported.value, &name);
                        imported.diagnostics
                    }
                    Err(error) => vec![error.to_diagnostic()],
                }
            }
            (Some(format), value) => self.take_own(format, value, file, options),
            (None, value) => {
                self.templates.insert(name, value);
                let message = "the file is nothing that can be imported; it is kept as it is";
                vec![Diagnostic::error(codes::UNKNOWN_FILE, message)]
            }
        }
    }

    /// Takes what is in our own form, and templates.
    fn take_own(
        &mut self,
        format: Format,
        value: Value,
        file: SourceFile<'_>,
        options: &ImportOptions,
    ) -> Vec<Diagnostic> {
        let (limits, name) = (&options.limits, stem(file.name));
        match format {
            Format::Agent | Format::AgentExport | Format::PresetFile | Format::PresetList => {
                match agent::read_value(value, &options.anchors) {
                    Ok(imported) => {
                        let found = first(&mut self.agent, imported.value, "agent");
                        [imported.diagnostics, found].concat()
                    }
                    Err(error) => vec![error.to_diagnostic()],
                }
            }
            Format::Profile | Format::PlainText => match profile::read_profile(file.bytes, file.name, limits)
            {
                Ok(imported) => {
                    let found = first(&mut self.made.profile, imported.value, "profile");
                    [imported.diagnostics, found].concat()
                }
                Err(error) => vec![error.to_diagnostic()],
            },
            format if format.is_conversation() => {
                match conversation::read_conversation(file.bytes, file.name, limits) {
                    Ok(imported) => {
                        let conversation =
                            NamedConversation { name: name.to_owned(), session: imported.value };
                        self.made.conversations.push(conversation);
                        imported.diagnostics
                    }
                    Err(error) => vec![error.to_diagnostic()],
                }
            }
            format => {
                self.templates.insert(format.id().to_owned(), value);
                Vec::new()
            }
        }
    }

    fn take_card(&mut self, mut card: Object, format: Format, name: &str) -> Vec<Diagnostic> {
        if self.card.is_some() {
            return first(&mut self.card, card, "character card");
        }
        let mut found = Vec::new();
        let (place, data) = match card.get_mut("data") {
            Some(Value::Object(data)) => ("/data/character_book", data),
            _ => ("/character_book", &mut card),
        };
        if let Some(Value::Object(book)) = data.get_mut("character_book").map(Value::take) {
            let imported = worldbook::read_card_book(book, place, format == Format::CardV3);
            found = imported.diagnostics;
            let name = Card::of(&card).name().unwrap_or(name).to_owned();
            self.card_book = Some(self.add_book(imported.value, &name));
        }
        self.card = Some(card);
        found
    }

    /// Adds a book under a name of its own, and returns that.
    fn add_book(&mut self, mut book: Worldbook, otherwise: &str) -> String {
        let own = book.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let wanted = own.unwrap_or(otherwise).to_owned();
        let is_taken = |name: &str| self.made.worldbooks.iter().any(|book| book.name == name);
        let numbered = (2..).map(|number| format!("{wanted} {number}"));
        let name =
            std::iter::once(wanted.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default();
        if book.name.as_deref() != Some(&name) {
            book.name = Some(name.as_str().into());
        }
        self.made.worldbooks.push(NamedBook { name: name.clone(), book });
        name
    }

    /// Makes the agent.
    pub(super) fn finish(mut self) -> Import {
        if let Some(persona) = &self.persona
            && self.made.profile.is_none()
        {
            let profile = Value::Object(persona.profile());
            self.made.profile = Some(UserProfile::read(profile, &mut Reader::new()));
        }
        let is_foreign = self.card.is_some() || self.preset.is_some();
        let has_more =
            !self.scripts.is_empty() || !self.templates.is_empty() || !self.made.worldbooks.is_empty();
        if self.agent.is_none() && (is_foreign || has_more || self.settings.is_some()) {
            let value = Value::Object(self.foreign_agent());
            self.agent = Some(Agent::read(value, &mut Reader::new()));
        } else if let Some(agent) = &mut self.agent {
            agent.worldbook_ids.extend(self.made.worldbooks.iter().map(|book| book.name.as_str().into()));
        }
        self.made.agent = self.agent;
        self.made
    }

    /// Makes the file of an agent of what `SillyTavern` wrote.
    fn foreign_agent(&mut self) -> Object {
        let card = self.card.take();
        let preset = self.preset.take();
        let (none, mut agent) = (Map::new(), Map::new());
        let settings = self.settings.take();
        let given = settings.as_ref().unwrap_or(&none);
        let preset_view = ChatPreset(preset.as_ref().unwrap_or(&none));
        let card_view = card.as_ref().map(Card::of);
        if let Some(card) = card_view {
            card.write(&mut agent);
        }
        let power = object(given, "power_user").unwrap_or(&none);
        let arrangement = Arrangement {
            preset: preset_view,
            card: card_view,
            persona: self.persona.as_ref().map(|persona| persona.place).unwrap_or_default(),
            prefers: Preferences {
                system_prompt: flag(power, "prefer_character_prompt").unwrap_or(true),
                post_history: flag(power, "prefer_character_jailbreak").unwrap_or(true),
            },
        };
        let mut entries = arrangement.entries();
        self.system_prompt(&mut entries);
        agent.insert("presetMessages".to_owned(), Value::Array(entries));
        agent.insert("parameters".to_owned(), Self::parameters(&arrangement, given));
        if let Some(model) = parameters::model(preset_view.0) {
            agent.insert("modelId".to_owned(), model.into());
        }
        agent.insert("dialect".to_owned(), "sillytavern".into());
        agent.insert("historyWhenUnplaced".to_owned(), "omit".into());
        self.books(card_view, &mut agent);
        self.rules(card_view, preset_view, given, &mut agent);
        let parts = [("card", card), ("preset", preset), ("settings", settings)];
        let mut imported: Object = parts
            .into_iter()
            .filter_map(|(key, part)| Some((key.to_owned(), Value::Object(part?))))
            .collect();
        imported.extend(self.card_book.take().map(|name| ("cardBook".to_owned(), name.into())));
        imported.extend(std::mem::take(&mut self.templates));
        agent.insert(kept::IMPORTED.to_owned(), Value::Object(imported));
        agent
    }

    /// Puts a system prompt of text completion where prompts of chats stand, if these say nothing there.
    fn system_prompt(&self, entries: &mut [Value]) {
        let Some(prompt) = self.templates.get(Format::SystemPrompt.id()).and_then(Value::as_object) else {
            return;
        };
        for (field, id) in [("content", "main"), ("post_history", "jailbreak")] {
            let Some(text) = said(prompt, field) else { continue };
            let is_meant = |entry: &&mut Value| {
                entry.get("id").and_then(Value::as_str) == Some(id)
                    && entry.get("content").and_then(Value::as_str).is_none_or(str::is_empty)
            };
            if let Some(entry) = entries.iter_mut().find(is_meant) {
                entry["content"] = text.into();
            }
        }
    }

    fn parameters(arrangement: &Arrangement<'_>, settings: &Object) -> Value {
        let mut parameters = parameters::of_preset(arrangement.preset.0);
        let wanted = processors::Wanted {
            preset: arrangement.preset,
            settings,
            persona: arrangement.persona,
            has_examples: arrangement.has_examples(),
        };
        parameters.insert("processors".to_owned(), Value::Array(processors::settings(&wanted)));
        Value::Object(parameters)
    }

    /// Has the agent ask for the books, and for the one that its card names.
    fn books(&self, card: Option<Card<'_>>, agent: &mut Object) {
        let mut names: Vec<&str> = self.made.worldbooks.iter().map(|book| book.name.as_str()).collect();
        names.extend(card.and_then(Card::world).filter(|world| !names.contains(world)));
        if !names.is_empty() {
            agent.insert("worldbookIds".to_owned(), json!(names));
        }
    }

    /// Puts the scripts in the order in which they run: those of files, of the preset, of the card.
    fn rules(&self, card: Option<Card<'_>>, preset: ChatPreset<'_>, settings: &Object, agent: &mut Object) {
        let global = object(settings, "extension_settings").and_then(|all| all.get("regex"));
        let global = global.filter(|scripts| scripts.is_array()).map(|scripts| ("Global scripts", scripts));
        let files = self.scripts.iter().map(|(name, scripts)| (name.as_str(), scripts));
        let of_preset = preset.scripts().map(|scripts| ("Scripts of the preset", scripts));
        let of_card = card.and_then(Card::scripts).map(|scripts| (CARD_RULES, scripts));
        let lists = global.into_iter().chain(files).chain(of_preset).chain(of_card);
        let lists = lists.filter(|(_, scripts)| scripts.as_array().is_none_or(|list| !list.is_empty()));
        let presets = lists.enumerate().map(|(index, (name, scripts))| {
            let (mut rules, _) = read_regex_scripts(scripts.clone());
            rules.name = Some(name.into());
            #[expect(clippy::cast_precision_loss, reason = "there are few lists")]
            let order = index as f64;
            rules.order = Some(order);
            rules
        });
        let presets: Vec<_> = presets.collect();
        if !presets.is_empty() {
            let config = RegexConfig { presets, ..RegexConfig::default() };
            agent.insert("regexConfig".to_owned(), config.write());
        }
    }
}

/// Keeps the first of a kind; a further one is reported.
fn first<T>(place: &mut Option<T>, value: T, kind: &str) -> Vec<Diagnostic> {
    if place.is_some() {
        let message = format!("another {kind} was given before; this one is not used");
        return vec![Diagnostic::warning(codes::ANOTHER_OF_KIND, message).with_help("import it by itself")];
    }
    *place = Some(value);
    Vec::new()
}
