//! The agent that is made of what the files hold.

use std::collections::BTreeSet;

use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::{Agent, Diagnostic, Persist as _, Reader, RegexPreset, phrase};
use serde_json::{Map, Value, json};

use super::gathered::{Gathered, SourceObject};
use super::merge::{Winner, rows};
use super::scripts::{Scripts, named};
use super::{Import, bundled};
use crate::codes;
use crate::format::Format;
use crate::formats::sillytavern::arrange::Arrangement;
use crate::formats::sillytavern::card::Card;
use crate::formats::sillytavern::preset::{ChatPreset, IN_USE, choose_order, in_use};
use crate::formats::sillytavern::regex_scripts::TakenScripts;
use crate::formats::sillytavern::settings::{Preferences, Settings};
use crate::formats::sillytavern::{CARD_RULES, PRESET_RULES};
use crate::formats::sillytavern::{parameters, processors, templates};
use crate::kept;
use crate::loose::Object;
use crate::record::Record;
use crate::report::{Change, Extent, FieldStatus, FileReport};
use crate::source::Source;

impl Gathered {
    /// Makes the agent.
    pub(super) fn finish(mut self) -> Import {
        self.supersede_parts();
        self.choose_person();
        if self.agent.is_none() && !self.has_parts() {
            self.drop_unknown();
        }
        if let Some(agent) = self.agent.take() {
            self.made.template = self.turns();
            self.made.agent = Some(self.beside(agent));
        } else if self.has_parts() {
            let (file, rules) = self.foreign_agent();
            let mut agent = Agent::read(Value::Object(file), &mut Reader::new());
            if let Some(config) = &mut agent.regex_config {
                config.presets = rules;
            }
            self.made.agent = Some(agent);
        }
        self.tell_without_effect();
        self.made
    }

    /// Reports files of which all fields are no more than kept, unless a finding says why.
    fn tell_without_effect(&mut self) {
        let has_effect = |file: &FileReport| {
            let is_used = file.fields.iter().any(|field| field.status != FieldStatus::Kept);
            is_used || !file.diagnostics.is_empty() || file.fields.is_empty()
        };
        let files = &mut self.made.report.files;
        let told = files.iter().filter(|file| has_effect(file)).map(|file| file.path.clone());
        let mut told: BTreeSet<String> = told.collect();
        for report in files.iter_mut().filter(|file| file.format.is_some()) {
            if told.insert(report.path.clone()) {
                let message = phrase!("nothing in the file has an effect; it is kept unchanged");
                let found = Diagnostic::warning(codes::NO_EFFECT, message);
                let found = found.with_help(phrase!("check that this is the right file"));
                report.diagnostics.push(found.in_document(report.path.as_str()));
            }
        }
    }

    /// Returns whether there is anything of which an agent can be made.
    fn has_parts(&self) -> bool {
        let objects = [&self.card, &self.preset, &self.settings, &self.system_prompt];
        objects.into_iter().any(Option::is_some)
            || !self.scripts.is_empty()
            || !self.templates.is_empty()
            || !self.made.worldbooks.is_empty()
    }

    /// Records for what is nothing known that it is not even kept: no agent is made for that alone.
    fn drop_unknown(&mut self) {
        self.unknown.clear();
        let is_unknown = |file: &&mut FileReport| file.format.is_none() && !file.fields.is_empty();
        for report in self.made.report.files.iter_mut().filter(is_unknown) {
            rows::refuse(report, "unknown content without an agent to store it");
        }
    }

    /// Puts books and scripts to an agent that was given as such; what would make another one is not used.
    fn beside(&mut self, mut agent: Agent) -> Agent {
        let brought = bundled::name_books(&mut agent, &mut self.made.worldbooks);
        if let Some(report) = self.made.report.files.get_mut(self.agent_report) {
            bundled::place_books(report, brought);
        }
        for book in &self.made.worldbooks {
            if !agent.worldbook_ids.iter().any(|id| **id == *book.name) {
                agent.worldbook_ids.push(book.name.as_str().into());
            }
        }
        self.refuse_others();
        let scripts = std::mem::take(&mut self.scripts);
        let presets = agent.regex_config.as_ref().map(|config| config.presets.len());
        let replaced = [
            ("/regexConfig", !scripts.is_empty() && presets.is_none()),
            ("/regexConfig/presets", !scripts.is_empty() && presets == Some(0)),
            ("/worldbookIds", !self.made.worldbooks.is_empty()),
        ];
        if let Some(report) = self.made.report.files.get_mut(self.agent_report) {
            replaced.iter().filter(|(_, is_so)| *is_so).for_each(|(place, _)| rows::replace(report, place));
        }
        if !scripts.is_empty() {
            let config = agent.regex_config.get_or_insert_default();
            for (name, report, rules) in scripts {
                self.number(report, "", config.presets.len());
                config.presets.push(named(rules, &name, config.presets.len()));
            }
        }
        self.supersede_beside_agent();
        let kept = self.take_kept();
        if !kept.is_empty() {
            let is_moved = kept::join(&mut agent.kept, kept);
            if let Some(report) = self.made.report.files.get_mut(self.agent_report).filter(|_| is_moved) {
                rows::move_imported(report);
            }
        }
        agent
    }

    /// Returns a template that files held, by itself or in a master export.
    fn template(&self, format: Format, part: &str) -> Option<&Object> {
        let own = self.templates.get(format.id()).and_then(Value::as_object);
        own.or_else(|| self.templates.get(Format::MasterExport.id())?.get(part)?.as_object())
    }

    /// Returns how turns are written, if a file says it.
    fn turns(&self) -> Option<Value> {
        self.template(Format::InstructTemplate, "instruct")
            .map(|file| templates::take_instruct(Source::of_object(file)))
    }

    /// Takes the system prompt of a master export where no other is given.
    fn take_master_prompt(&mut self) {
        let prompt = self.template(Format::SystemPrompt, "sysprompt").cloned();
        let is_master = |file: &FileReport| file.format == Some(Format::MasterExport);
        let report = self.made.report.files.iter().position(is_master);
        if let (None, Some(object), Some(report)) = (&self.system_prompt, prompt, report) {
            self.system_prompt =
                Some(SourceObject { report, at: "/sysprompt", value: Value::Object(object) });
        }
    }

    /// Returns the preset that templates stand for where none is given.
    fn preset_instead(&mut self) -> Option<Object> {
        let risu = self.risu_preset.take();
        let context = self.template(Format::ContextTemplate, "context");
        let samplers = self.template(Format::TextPreset, "preset");
        let has_risu = risu.is_some();
        let mut instead = match (risu, context, samplers) {
            (Some(risu), _, _) => risu,
            (None, None, None) => return None,
            (None, context, samplers) => templates::as_chat_preset(context, samplers),
        };
        if self.preset.is_none() {
            if has_risu {
                self.supersede_presets(Winner::RisuPreset);
            }
            // Their applications have no such texts.
            ChatPreset::without_default_texts(&mut instead);
            return Some(instead);
        }
        self.supersede_presets(Winner::ChatPreset);
        None
    }

    /// Takes the preset in use of settings where no other is given.
    fn take_preset_in_use(&mut self) {
        let Some(settings) = self.settings.as_ref().filter(|_| self.preset.is_none()) else { return };
        let preset = settings.value.as_object().and_then(in_use);
        self.preset = preset.map(|preset| SourceObject {
            report: settings.report,
            at: IN_USE,
            value: Value::Object(preset.clone()),
        });
    }

    /// Has the preset use the prompt order of the wanted character.
    fn choose_order(&mut self) {
        let Some(character) = self.prompt_order.take() else { return };
        let Some(preset) = &mut self.preset else { return };
        let has_order = preset.value.as_object_mut().is_some_and(|object| choose_order(object, &character));
        let report = self.made.report.files.get_mut(preset.report).filter(|_| !has_order);
        if let Some(report) = report {
            let character = excerpt(&character);
            let message = phrase!("the preset has no prompt order of character {character}", character);
            let found = Diagnostic::warning(codes::OTHER_ORDER, message).in_document(report.path.as_str());
            report.diagnostics.push(found.at_pointer(format!("{}/prompt_order", preset.at)));
        }
    }

    /// Makes the file of an agent of what `SillyTavern` wrote, and its regex rules, for which there is a place in it.
    fn foreign_agent(&mut self) -> (Object, Vec<RegexPreset>) {
        self.made.template = self.turns();
        self.take_master_prompt();
        let instead = self.preset_instead();
        if instead.is_none() {
            self.take_preset_in_use();
        }
        self.choose_order();
        let given = [self.card.take(), self.preset.take(), self.settings.take(), self.system_prompt.take()];
        let [card, preset, settings, prompt] = &given;
        let none = Map::new();
        let parts = self.settings_parts.take();
        let mut settings_parts = parts.unwrap_or_else(|| Settings::take(Source::of_object(&none)));
        let record = Record::default();
        let preset_view = match preset {
            Some(given) => Source::new(&given.value, &record),
            None => Source::of_object(instead.as_ref().unwrap_or(&none)),
        };
        let card_view = card.as_ref().map(|given| Card::of(Source::unrecorded(&given.value)));
        let parts = self.card_parts.take();
        let (mut agent, card_scripts) = parts.map(|parts| (parts.agent, parts.scripts)).unwrap_or_default();
        let arrangement = self.arrangement(ChatPreset(preset_view), card_view, settings_parts.prefers);
        let arrangement =
            arrangement.with_system_prompt(prompt.as_ref().and_then(|prompt| prompt.value.as_object()));
        let entries = arrangement.entries();
        if let Some(prompt) = prompt {
            self.system_prompt(prompt, &arrangement);
        }
        agent.insert("presetMessages".to_owned(), Value::Array(entries));
        agent.insert("parameters".to_owned(), parameters(&arrangement, &settings_parts));
        if let Some(model) = parameters::take_model(preset_view) {
            agent.insert("modelId".to_owned(), model.into());
        }
        agent.insert("dialect".to_owned(), "sillytavern".into());
        agent.insert("historyWhenUnplaced".to_owned(), "omit".into());
        self.books(card_view, &mut agent);
        let inside = |given: &Option<SourceObject>, name: &str, taken: Option<TakenScripts>| {
            Some(Scripts::inside(given.as_ref()?, name, taken?))
        };
        let of_card = inside(card, CARD_RULES, card_scripts);
        let global = inside(settings, "Global scripts", settings_parts.scripts.take());
        let of_preset = TakenScripts::take(preset_view, "/extensions/regex_scripts");
        let of_preset = inside(preset, PRESET_RULES, of_preset);
        if let Some(given) = preset {
            self.preset_rows(given, &record);
        }
        let lists = self.lists(global, of_preset, of_card);
        let lists = lists.into_iter().enumerate();
        let rules: Vec<RegexPreset> = lists.map(|(number, list)| self.rules(list, number)).collect();
        if !rules.is_empty() {
            agent.insert("regexConfig".to_owned(), json!({ "presets": [] }));
        }
        agent.insert(kept::IMPORTED.to_owned(), Value::Object(self.imported(given)));
        (agent, rules)
    }

    /// Returns what is kept of the files.
    fn imported(&mut self, given: [Option<SourceObject>; 4]) -> Object {
        let keys = ["card", "preset", "settings", "sysprompt"];
        let parts = keys.into_iter().zip(given);
        let mut imported: Object = parts
            .filter_map(|(key, part)| Some((key.to_owned(), part.filter(|part| part.at.is_empty())?)))
            .map(|(key, part)| (key, part.value))
            .collect();
        imported.extend(self.card_book.take().map(|name| ("cardBook".to_owned(), name.into())));
        imported.extend(self.take_kept());
        imported
    }

    /// Returns the templates, and what is nothing known.
    fn take_kept(&mut self) -> Object {
        let mut kept = std::mem::take(&mut self.templates);
        kept.extend(std::mem::take(&mut self.unknown));
        kept
    }

    fn arrangement<'v>(
        &self,
        preset: ChatPreset<'v>,
        card: Option<Card<'v>>,
        prefers: Preferences,
    ) -> Arrangement<'v> {
        let persona = self.persona.as_ref().map(|persona| persona.place).unwrap_or_default();
        Arrangement::new(preset, card, persona, prefers)
    }

    /// Records for the texts of a system prompt which of them stand where prompts of chats do.
    fn system_prompt(&mut self, prompt: &SourceObject, arrangement: &Arrangement<'_>) {
        let Some(report) = self.made.report.files.get_mut(prompt.report) else { return };
        for (field, id) in arrangement.system_prompt() {
            let pointer = format!("{}/{field}", prompt.at);
            report.fields.change(|row| {
                let to = Some(format!("/presetMessages/{id}/content"));
                let change = Change { status: FieldStatus::Mapped, to, note: None };
                (row.pointer == pointer).then_some(change)
            });
        }
    }

    /// Reports what became of the fields of a preset.
    fn preset_rows(&mut self, given: &SourceObject, record: &Record) {
        let Some(report) = self.made.report.files.get_mut(given.report) else { return };
        let path = report.path.clone();
        let found = repeated(given).into_iter().chain(ignored_order(given)).chain(unsent(given));
        report.diagnostics.extend(found.map(|found| found.in_document(path.as_str())));
        report.diagnostics.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let kept_at = self.kept_at.get(given.report).map_or("", String::as_str);
        let rows = record.rows(&given.value, &format!("{kept_at}{}", given.at), Extent::default());
        match given.at {
            "" => report.fields = rows,
            at => rows::replace_below(report, at, &rows),
        }
    }

    /// Has the agent ask for the books, and for the one that its card names.
    fn books(&self, card: Option<Card<'_>>, agent: &mut Object) {
        let mut names: Vec<&str> = self.made.worldbooks.iter().map(|book| book.name.as_str()).collect();
        names.extend(card.and_then(Card::world).filter(|world| !names.contains(world)));
        if !names.is_empty() {
            agent.insert("worldbookIds".to_owned(), json!(names));
        }
    }
}

/// Reports a prompt order that has no effect.
fn ignored_order(given: &SourceObject) -> Option<Diagnostic> {
    let character = ChatPreset(Source::unrecorded(&given.value)).ignored_order()?;
    let character = excerpt(&character);
    let message = phrase!(
        "the prompt order of character {character} is ignored; SillyTavern's default order applies",
        character
    );
    let found =
        Diagnostic::warning(codes::OTHER_ORDER, message).at_pointer(format!("{}/prompt_order", given.at));
    Some(found.with_help(phrase!("use it with `ctx import --prompt-order {character}`", character)))
}

/// Reports prompts in the list that `SillyTavern` does not send.
fn unsent(given: &SourceObject) -> Option<Diagnostic> {
    let names = ChatPreset(Source::unrecorded(&given.value)).unsent();
    let count = names.len();
    let shown: Vec<String> =
        names.into_iter().take(SHOWN_NAMES).map(|name| format!("`{}`", excerpt(name))).collect();
    let names = Argument::list(shown, Divider::Comma);
    let message = match count {
        0 => return None,
        1 => phrase!("SillyTavern does not send the prompt {names}", names),
        _ => phrase!("SillyTavern does not send {count} prompts, such as {names}", count, names),
    };
    let found = Diagnostic::info(codes::PROMPT_NOT_SENT, message).at_pointer(format!("{}/prompts", given.at));
    Some(found.with_help(phrase!(
        "to send a prompt, set its `system_prompt` to false; at a depth, set its `role` and `injection_depth`"
    )))
}

/// How many prompts that are not sent are named.
const SHOWN_NAMES: usize = 3;

/// How many prompts that stand twice in an order are told.
const SHOWN_PROMPTS: usize = 20;

/// Reports prompts that stand twice in the order of a preset; of those for which there is no room, how many they are.
fn repeated(given: &SourceObject) -> Vec<Diagnostic> {
    let preset = ChatPreset(Source::unrecorded(&given.value));
    let Some(order) = preset.ordered_by() else { return Vec::new() };
    let tell = |(step, identifier): (usize, &str)| {
        let name = excerpt(identifier);
        let message =
            phrase!("duplicate prompt `{name}` in the prompt order; the first position is used", name);
        let pointer = format!("{}{}/identifier", given.at, order.pointer(step));
        let found = Diagnostic::warning(codes::PROMPT_TWICE, message).at_pointer(pointer);
        found.with_help(phrase!("remove the wrong one from the order"))
    };
    let mut prompts = preset.repeated(&order);
    let mut found: Vec<Diagnostic> = prompts.by_ref().take(SHOWN_PROMPTS).map(tell).collect();
    match prompts.count() {
        0 => {}
        more => found.push(Diagnostic::more(more, "this document")),
    }
    found
}

fn parameters(arrangement: &Arrangement<'_>, settings: &Settings) -> Value {
    let mut parameters = parameters::take(arrangement.preset.0);
    parameters.insert("processors".to_owned(), Value::Array(processors::of(arrangement, settings)));
    Value::Object(parameters)
}
