//! Assembles the agent from the converted documents.

use std::collections::BTreeSet;

use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::{Agent, Diagnostic, Persist as _, Reader, RegexPreset, phrase};
use serde_json::{Value, json};

use super::convert::{Conversion, FileScripts, UsedDocument, move_displaced, take_settings};
use super::{Import, bundled};
use crate::codes;
use crate::format::Format;
use crate::formats::aio_hub;
use crate::formats::sillytavern::arrange::Arrangement;
use crate::formats::sillytavern::card::{Card, TakenCard};
use crate::formats::sillytavern::preset::{ChatPreset, choose_order};
use crate::formats::sillytavern::regex_scripts::{LIST, TakenScripts};
use crate::formats::sillytavern::{PRESET_RULES, processors, templates};
use crate::imported::{Moved, relocate};
use crate::kept;
use crate::loose::Object;
use crate::report::{self, FieldCounts, FieldStatus, FileReport, ImportReport, NOWHERE, leads_to};
use crate::source::SourceNode;

impl Conversion<'_> {
    /// Makes the agent, and finishes the report.
    pub(super) fn finish(mut self) -> Import {
        if let Some(persona) = self.persona.as_ref().filter(|_| self.made.profile.is_none()) {
            self.made.profile = Some(persona.profile());
        }
        let has_agent = self.plan.agent.is_some();
        if has_agent || self.has_parts() {
            self.made.template = self
                .template(Format::InstructTemplate, "instruct")
                .map(|file| templates::take_instruct(SourceNode::new(file).source()));
            self.made.agent = Some(if has_agent { self.complete_agent() } else { self.foreign_agent() });
        } else {
            self.drop_unknown();
        }
        self.report_without_effect();
        for report in &mut self.reports {
            let found = std::mem::take(&mut report.diagnostics).into_iter();
            report.diagnostics = found.map(|found| found.in_document(report.path.as_str())).collect();
            report.diagnostics.sort_by_key(|found| std::cmp::Reverse(found.severity));
            report.counts = FieldCounts::from_rows(&report.fields);
        }
        let counts = FieldCounts::from_rows(self.reports.iter().flat_map(|report| &report.fields));
        self.made.report = ImportReport { counts, files: self.reports };
        self.made
    }

    /// Reports files without an effect that have no diagnostic.
    fn report_without_effect(&mut self) {
        let has_effect = |file: &&FileReport| {
            let is_used = file.fields.iter().any(|field| field.status != FieldStatus::Kept);
            is_used || !file.diagnostics.is_empty() || file.fields.is_empty()
        };
        let mut known: BTreeSet<String> =
            self.reports.iter().filter(has_effect).map(|file| file.path.clone()).collect();
        for report in self.reports.iter_mut().filter(|file| file.format.is_some()) {
            if known.insert(report.path.clone()) {
                let message = phrase!("nothing in the file has an effect; it is kept unchanged");
                let found = Diagnostic::warning(codes::NO_EFFECT, message);
                report.diagnostics.push(found.with_help(phrase!("check that this is the right file")));
            }
        }
    }

    /// Returns whether the files have a part of an agent.
    fn has_parts(&self) -> bool {
        let has_files = self.card.is_some() || self.preset.is_some() || self.settings.is_some();
        let has_texts = self.system_prompt.is_some() || !self.templates.is_empty();
        has_files || has_texts || !self.scripts.is_empty() || !self.made.worldbooks.is_empty()
    }

    /// Reports that files with an unknown format are lost, because there is no agent.
    fn drop_unknown(&mut self) {
        for report in self.reports.iter_mut().filter(|file| file.format.is_none()) {
            let rows = report.fields.iter_mut();
            rows.for_each(|row| row.reject("unknown content without an agent to store it"));
        }
    }

    /// Adds books, scripts, and kept files to an imported agent.
    fn complete_agent(&mut self) -> Agent {
        let (Some((imported, moves)), Some(given)) = (self.plan.read_agent.take(), self.agent.take()) else {
            return Agent::default();
        };
        let (format, mut agent, found) = (imported.format, imported.value, imported.diagnostics);
        let mut brought = bundled::name_books(&mut agent, &mut self.made.worldbooks);
        if format == Format::AgentExport {
            relocate(&mut brought.found, &[Moved { ours: "", theirs: "/agents/0" }]);
        }
        for book in &self.made.worldbooks {
            if !agent.worldbook_ids.iter().any(|id| **id == *book.name) {
                agent.worldbook_ids.push(book.name.as_str().into());
            }
        }
        let scripts = std::mem::take(&mut self.scripts);
        let config = agent.regex_config.as_ref();
        let replaced = [
            ("/regexConfig", !scripts.is_empty() && config.is_none()),
            (
                "/regexConfig/presets",
                !scripts.is_empty() && config.is_some_and(|config| config.presets.is_empty()),
            ),
            ("/worldbookIds", !self.made.worldbooks.is_empty()),
        ];
        if !scripts.is_empty() {
            let config = agent.regex_config.get_or_insert_default();
            for scripts in scripts {
                config.presets.push(self.number_scripts(scripts, config.presets.len()));
            }
        }
        let kept = self.take_kept();
        let is_moved = !kept.is_empty() && kept::join(&mut agent.kept, kept);
        let report = &mut self.reports[given.report];
        let node = SourceNode::new(&given.document);
        aio_hub::take_agent(format, node.source(), &found, &moves, &brought.taken);
        report.fields = report::rows(&node, "/imported");
        for number in brought.taken.iter().flatten() {
            let book = &self.made.worldbooks[*number].book;
            move_displaced(&mut report.fields, &format!("/worldbooks/{number}"), book);
        }
        for row in &mut report.fields {
            let is_replaced = replaced.iter().any(|(place, is_so)| *is_so && leads_to(row, place));
            if row.status == FieldStatus::Kept && is_replaced {
                row.reject(NOWHERE);
            }
            let below = row.to.as_deref().and_then(|to| to.strip_prefix("/imported"));
            if let Some(below) = below.filter(|_| is_moved && leads_to(row, "/imported")) {
                row.to = Some(format!("/imported/imported{below}"));
            }
        }
        report.diagnostics.extend(found);
        report.diagnostics.extend(brought.found);
        agent
    }

    /// Returns a template from its own file or from a master export.
    fn template(&self, format: Format, part: &str) -> Option<&Value> {
        let own = self.templates.get(format.id()).filter(|file| file.is_object());
        let in_master = || self.templates.get(Format::MasterExport.id())?.get(part);
        own.or_else(in_master).filter(|file| file.is_object())
    }

    /// Returns a preset from files of other formats.
    fn preset_instead(&self) -> Option<Value> {
        let of_templates = || {
            let context = self.template(Format::ContextTemplate, "context");
            let samplers = self.template(Format::TextPreset, "preset");
            context.or(samplers)?;
            Some(Value::Object(templates::as_chat_preset(context, samplers)))
        };
        let mut instead = self.risu_preset.clone().or_else(of_templates)?;
        // Their applications have no such texts.
        instead.as_object_mut().into_iter().for_each(ChatPreset::without_default_texts);
        Some(instead)
    }

    /// Has the preset use the prompt order of the wanted character.
    fn choose_order(&mut self, preset: &mut UsedDocument) {
        let Some(character) = &self.importer.prompt_order else { return };
        let object = preset.document.pointer_mut(preset.at).and_then(Value::as_object_mut);
        if !object.is_some_and(|object| choose_order(object, character)) {
            let character = excerpt(character);
            let message = phrase!("the preset has no prompt order of character {character}", character);
            let found = Diagnostic::warning(codes::OTHER_ORDER, message);
            let found = found.at_pointer(format!("{}/prompt_order", preset.at));
            self.reports[preset.report].diagnostics.push(found);
        }
    }

    /// Makes an agent of files of other applications.
    fn foreign_agent(&mut self) -> Agent {
        let mut preset = self.preset.take();
        let instead = if preset.is_none() { self.preset_instead() } else { None };
        let card = self.card.take();
        let TakenCard { mut agent, scripts: card_scripts } = std::mem::take(&mut self.card_parts);
        let settings = self.settings.take();
        let in_use = settings.as_ref().filter(|_| preset.is_none() && instead.is_none());
        let in_use = in_use.filter(|given| {
            let preset = given.document.pointer(given.at).and_then(Value::as_object);
            preset.is_some_and(|preset| !preset.is_empty())
        });
        let is_in_settings = in_use.is_some();
        preset = preset.or_else(|| in_use.cloned());
        if let Some(preset) = &mut preset {
            self.choose_order(preset);
        }
        let preset_value = preset.as_ref().map(|given| &given.document).or(instead.as_ref());
        let preset_node = SourceNode::new(preset_value.unwrap_or(&Value::Null));
        let preset_view = preset_node.source().at_pointer(preset.as_ref().map_or("", |given| given.at));
        if is_in_settings {
            take_settings(preset_node.source(), self.has_other_persona, self.plan.profile.is_some());
        }
        let card_node = card.as_ref().map(|given| SourceNode::new(&given.document));
        let card_view = card_node.as_ref().map(|node| Card::new(node.source()));
        let prompt = self.system_prompt.take();
        let place = self.persona.as_ref().map(|persona| persona.place).unwrap_or_default();
        let texts = prompt.as_ref().and_then(|given| given.document.pointer(given.at)?.as_object());
        let prefers = self.settings_parts.prefers;
        let arrangement = Arrangement::new(ChatPreset(preset_view), card_view, place, prefers, texts);
        agent.extend(processors::agent_fields(&arrangement, &self.settings_parts));
        let mut names: Vec<&str> = self.made.worldbooks.iter().map(|book| book.name.as_str()).collect();
        names.extend(card_view.and_then(Card::world).filter(|world| !names.contains(world)));
        if !names.is_empty() {
            agent.insert("worldbookIds".to_owned(), json!(names));
        }
        let preset_scripts = preset.as_ref().and_then(|given| {
            let at = format!("{}/extensions/regex_scripts", given.at);
            TakenScripts::take(preset_node.source(), &at, PRESET_RULES)
        });
        if let Some(given) = &prompt {
            let rows = &mut self.reports[given.report].fields;
            let pointers = arrangement.system_prompt().map(|field| format!("{}/{field}", given.at));
            for pointer in pointers {
                if let Some(row) = rows.iter_mut().find(|row| row.pointer == pointer) {
                    let to = Some("/presetMessages/*/content".to_owned());
                    (row.status, row.to, row.note) = (FieldStatus::Mapped, to, None);
                }
            }
        }
        if let Some(given) = &preset {
            let report = &mut self.reports[given.report];
            report.fields = report::rows(&preset_node, &given.kept_at);
            report.diagnostics.extend(preset_findings(ChatPreset(preset_view), given.at));
        }
        // Scripts run in this order.
        let own = |file: Option<&UsedDocument>, scripts: Option<TakenScripts>| {
            file.zip(scripts).map(|(file, scripts)| FileScripts { report: file.report, scripts })
        };
        let global = own(settings.as_ref(), self.settings_parts.scripts.take());
        let given = std::mem::take(&mut self.scripts).into_iter();
        let lists = global.into_iter().chain(given).chain(own(preset.as_ref(), preset_scripts));
        let lists = lists.chain(own(card.as_ref(), card_scripts));
        let lists = lists.filter(|list| !list.scripts.rules.rules.is_empty());
        let rules: Vec<RegexPreset> =
            lists.enumerate().map(|(number, list)| self.number_scripts(list, number)).collect();
        if !rules.is_empty() {
            agent.insert("regexConfig".to_owned(), json!({ "presets": [] }));
        }
        let whole = |given: &UsedDocument| given.at.is_empty();
        let parts = [
            ("card", card.map(|given| given.document)),
            ("preset", preset.filter(whole).map(|given| given.document)),
            ("settings", settings.map(|given| given.document)),
            ("sysprompt", prompt.filter(whole).map(|given| given.document)),
            ("cardBook", self.card_book.take().map(Value::from)),
        ];
        let mut imported: Object =
            parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), part?))).collect();
        imported.extend(self.take_kept());
        agent.insert(kept::IMPORTED.to_owned(), Value::Object(imported));
        let mut agent = Agent::read(Value::Object(agent), &mut Reader::new());
        if let Some(config) = &mut agent.regex_config {
            config.presets = rules;
        }
        agent
    }

    /// Returns the templates, and the files with an unknown format.
    fn take_kept(&mut self) -> Object {
        let mut kept = std::mem::take(&mut self.templates);
        kept.append(&mut self.unknown);
        kept
    }

    /// Gives a list of regex rules a number, and finishes the report of its file.
    fn number_scripts(&mut self, list: FileScripts, number: usize) -> RegexPreset {
        let FileScripts { report, scripts: TakenScripts { at, mut rules, mut found } } = list;
        let report = &mut self.reports[report];
        for row in report.fields.iter_mut().filter(|row| row.pointer.starts_with(&at)) {
            if let Some(below) = row.to.as_deref().and_then(|to| to.strip_prefix(LIST)) {
                row.to = Some(format!("/regexConfig/presets/{number}{below}"));
            }
        }
        relocate(&mut found, &[Moved { ours: "", theirs: &at }]);
        report.diagnostics.extend(found);
        #[expect(clippy::cast_precision_loss, reason = "there are few lists")]
        let order = number as f64;
        rules.order = Some(order);
        rules
    }
}

/// Reports odd prompts of a preset, which is at a place in its document.
fn preset_findings(preset: ChatPreset<'_>, at: &str) -> Vec<Diagnostic> {
    let found = repeated(preset).into_iter().chain(ignored_order(preset)).chain(unsent(preset));
    let mut found: Vec<Diagnostic> = found.collect();
    relocate(&mut found, &[Moved { ours: "", theirs: at }]);
    found
}

/// Reports a prompt order that has no effect.
fn ignored_order(preset: ChatPreset<'_>) -> Option<Diagnostic> {
    let character = preset.ignored_order()?;
    let character = excerpt(&character);
    let message = phrase!(
        "the prompt order of character {character} is ignored; SillyTavern's default order applies",
        character
    );
    let found = Diagnostic::warning(codes::OTHER_ORDER, message).at_pointer("/prompt_order");
    Some(found.with_help(phrase!("use it with `ctx import --prompt-order {character}`", character)))
}

/// Reports prompts in the list that `SillyTavern` does not send.
fn unsent(preset: ChatPreset<'_>) -> Option<Diagnostic> {
    let names = preset.unsent();
    let count = names.len();
    let shown: Vec<String> =
        names.into_iter().take(SHOWN_NAMES).map(|name| format!("`{}`", excerpt(name))).collect();
    let names = Argument::list(shown, Divider::Comma);
    let message = match count {
        0 => return None,
        1 => phrase!("SillyTavern does not send the prompt {names}", names),
        _ => phrase!("SillyTavern does not send {count} prompts, such as {names}", count, names),
    };
    let found = Diagnostic::info(codes::PROMPT_NOT_SENT, message).at_pointer("/prompts");
    Some(found.with_help(phrase!(
        "to send a prompt, set its `system_prompt` to false; at a depth, set its `role` and `injection_depth`"
    )))
}

/// Maximum number of named prompts that are not sent.
const SHOWN_NAMES: usize = 3;

/// Maximum number of reported prompts that are twice in an order.
const SHOWN_PROMPTS: usize = 20;

/// Reports prompts that are twice in the order of a preset.
fn repeated(preset: ChatPreset<'_>) -> Vec<Diagnostic> {
    let Some(order) = preset.ordered_by() else { return Vec::new() };
    let tell = |(step, identifier): (usize, &str)| {
        let name = excerpt(identifier);
        let message =
            phrase!("duplicate prompt `{name}` in the prompt order; the first position is used", name);
        let found = Diagnostic::warning(codes::PROMPT_TWICE, message);
        let found = found.at_pointer(format!("{}/identifier", order.pointer(step)));
        found.with_help(phrase!("remove the wrong one from the order"))
    };
    let mut prompts = preset.repeated(&order).into_iter();
    let mut found: Vec<Diagnostic> = prompts.by_ref().take(SHOWN_PROMPTS).map(tell).collect();
    match prompts.count() {
        0 => {}
        more => found.push(Diagnostic::more(more, "this document")),
    }
    found
}
