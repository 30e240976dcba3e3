//! The fields of a preset that are taken when it is known which entries its prompts became.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::arrange::PERSONA;
use super::{ChatPreset, LEGACY_TEXTS, Prompt};
use crate::source::Source;

/// What a prompt becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    /// The text of a card stands over its own.
    Overridden,
    /// A prompt that is not sent.
    Silent,
    /// A marker of a text, in the list.
    TextInList,
    /// The same in the conversation.
    TextInChat,
    /// Another marker.
    Anchor,
    /// A marker that is not in the order.
    Unordered,
}

const SILENT: &str = "not sent: SillyTavern needs `system_prompt: false` in the list, and a role at a depth";
const IN_LIST: &str = "a marker in the list has no depth";
const NOWHERE: &str = "the marker stays at its position in the order";
const UNORDERED: &str = "not in the order; the marker has the application's role and position";
const OVER: &str = "the card's text overrides it";
const ORDERED: &str = "only order 100001 applies; this one has no effect";
const TWICE: &str = "the prompt's first position in the order is used";
const GROUPS: &str = "group chats are not supported";
const PROXY: &str = "an imported file must not choose where requests go";

/// The place of an entry of the agent.
const ENTRY: &str = "/presetMessages/*";

impl Prompt<'_> {
    /// Takes the fields of a prompt that becomes an entry.
    pub(crate) fn take(self, form: Form) {
        let prompt = self.source.lead_to(ENTRY);
        let near = |key: &str, note, to: &'static str| {
            prompt.at(key).any().approximated(note).into(to);
        };
        prompt.at("identifier").text().into("/id");
        for (key, note, to) in [
            ("system_prompt", "built-in prompts are identified by id", "/id"),
            ("marker", "markers are identified by id", "/type"),
            ("enabled", "decided by the order", "/isEnabled"),
        ] {
            prompt.at(key).any().equivalent(note).into(to);
        }
        near("forbid_overrides", "decided when card and preset are combined", "/content");
        match form {
            Form::Unordered => prompt.at("injection_trigger").keep(UNORDERED),
            _ => prompt.at("injection_trigger").texts("/triggers"),
        }
        match form {
            Form::Plain => drop(prompt.at("content").text().into("/content")),
            Form::Overridden => prompt.at("content").keep(OVER),
            Form::Silent => near("content", SILENT, "/content"),
            Form::TextInList | Form::TextInChat if self.id == PERSONA && self.content() != Some("") => {
                near("content", "sent if there is no persona", "/content");
            }
            Form::TextInList | Form::TextInChat | Form::Anchor | Form::Unordered => {
                prompt.at("content").keep("replaced by the content of the marker");
            }
        }
        match form {
            Form::Unordered => prompt.at("role").keep(UNORDERED),
            Form::Anchor => prompt.at("role").keep("the inserted messages have their own roles"),
            _ => drop(prompt.at("role").named(&["system", "user", "assistant"]).into("/role")),
        }
        match form {
            Form::TextInChat => prompt.at("name").keep("prompts at a depth have no name"),
            _ => drop(prompt.at("name").text().into("/name")),
        }
        let [position, depth, order] =
            ["injection_position", "injection_depth", "injection_order"].map(|key| prompt.at(key));
        match form {
            Form::Silent => position.keep(SILENT),
            Form::Unordered => position.keep(UNORDERED),
            Form::Anchor => position.keep(NOWHERE),
            _ => drop(position.among(&[0, 1]).into("/injectionStrategy/type")),
        }
        match form {
            Form::TextInList => [depth, order].iter().for_each(|field| field.keep(IN_LIST)),
            Form::Anchor => [depth, order].iter().for_each(|field| field.keep(NOWHERE)),
            Form::Unordered => [depth, order].iter().for_each(|field| field.keep(UNORDERED)),
            _ => {
                depth.whole(0).into("/injectionStrategy/depth");
                let is_fraction =
                    order.value().and_then(Value::as_f64).is_some_and(|order| order.fract() != 0.0);
                if is_fraction {
                    order.any().approximated("rounded down").into("/injectionStrategy/order");
                } else {
                    order.whole(i64::MIN).into("/injectionStrategy/order");
                }
            }
        }
    }

    /// Returns whether this is the prompt at the same place of the preset.
    pub(crate) fn is(self, other: Self) -> bool {
        self.source.is(other.source)
    }
}

impl ChatPreset<'_> {
    /// Takes what counts only beside the entries that were made of the prompts, and says why the rest is kept.
    pub(crate) fn take_around(self, entries: &[Value], overridden: &[&str]) {
        let ids: BTreeSet<&str> = entries.iter().filter_map(|entry| entry.get("id")?.as_str()).collect();
        self.0.at("prompts").list().into("/presetMessages");
        self.keep_prompts(&ids);
        self.take_order(&ids);
        self.take_legacy(&ids, overridden);
        let new_chat = self.0.at("new_chat_prompt");
        if ids.contains("new_chat") {
            new_chat.text().into("/presetMessages/*/content");
        } else {
            new_chat.keep("the conversation has no position");
        }
        for key in ["max_context_unlocked", "show_external_models", "bypass_status_check"] {
            self.0.at(key).any().equivalent("for that application's window; no effect on requests").into("");
        }
        for (key, note) in [
            ("new_group_chat_prompt", GROUPS),
            ("group_nudge_prompt", GROUPS),
            ("continue_postfix", "the application joins a continuation to the existing text"),
            ("reverse_proxy", PROXY),
            ("proxy_password", PROXY),
            ("custom_url", PROXY),
        ] {
            self.0.at(key).keep(note);
        }
        self.0.at("extensions").any().equivalent("empty").into("/regexConfig");
    }

    /// Records for prompts that became no entry why they did not.
    fn keep_prompts(self, ids: &BTreeSet<&str>) {
        let mut seen = BTreeSet::new();
        for (_, prompt) in self.0.at("prompts").objects() {
            match prompt.at("identifier").as_str() {
                None => prompt.keep("a prompt without an identifier is never sent"),
                Some(id) if seen.insert(id) && ids.contains(id) => {}
                Some(_) => prompt.keep("duplicate identifier, or an empty marker"),
            }
        }
    }

    fn take_order(self, ids: &BTreeSet<&str>) {
        let orders = self.0.at("prompt_order");
        orders.any().equivalent("no order").into("/presetMessages");
        let order = self.ordered_by();
        for (index, list) in orders.items() {
            match order.as_ref().map(|order| order.owner) {
                // The items are the steps.
                Some(None) => {}
                Some(Some(own)) if own == index => {
                    let list = list.lead_to("/presetMessages");
                    list.at("character_id").any().equivalent("order 100001 applies").into("");
                    list.at("order").any().equivalent("the order is empty").into("");
                }
                _ => {
                    list.at("character_id").any().equivalent(ORDERED).into("/presetMessages");
                    list.at("order").equate_all(ORDERED, "/presetMessages");
                }
            }
        }
        let Some(order) = order else { return };
        let repeated: BTreeSet<usize> = self.repeated(&order).into_iter().map(|(index, _)| index).collect();
        for (index, step) in order.steps {
            match step.at("identifier").as_str() {
                _ if repeated.contains(&index) => step.keep(TWICE),
                // Without its marker the conversation is not sent.
                Some(id) if ids.contains(id) || id == "chatHistory" => {
                    let step = step.lead_to(ENTRY);
                    step.at("identifier").text().into("/id");
                    step.at("enabled").flag().into("/isEnabled");
                }
                _ => step.keep("no prompt has this identifier"),
            }
        }
    }

    /// Takes the texts of prompts that older presets have in fields of their own.
    fn take_legacy(self, ids: &BTreeSet<&str>, overridden: &[&str]) {
        for (id, legacy) in LEGACY_TEXTS {
            let field: Source<'_> = self.0.at(legacy);
            let own = self.prompts().find(|prompt| prompt.id == id).and_then(Prompt::content);
            match own {
                _ if overridden.contains(&id) => field.keep(OVER),
                Some(own) if !own.is_empty() => field.keep("the prompt's own text is used"),
                _ if !ids.contains(id) => field.keep("the prompt is not in the order"),
                _ => drop(field.text().into("/presetMessages")),
            }
        }
    }
}
