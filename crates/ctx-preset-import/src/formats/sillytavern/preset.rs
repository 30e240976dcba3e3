//! Chat-completion presets: prompts, their order, and the texts around them.

mod fields;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::loose::{Object, floor_of};
use crate::source::Source;

pub(crate) use fields::Form;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatPreset<'v>(pub(crate) Source<'v>);

/// Where an export of the prompt manager has its prompts and their order.
pub(crate) const EXPORTED: &str = "/data";

/// Where `settings.json` has the preset in use.
pub(crate) const IN_USE: &str = "/oai_settings";

/// The order of prompts that counts.
#[derive(Debug)]
pub(crate) struct Order<'v> {
    /// Its place among the orders of the file, unless it is the only one and has no owner.
    pub(crate) owner: Option<usize>,
    /// Its steps, each with its place.
    pub(crate) steps: Vec<(usize, Source<'v>)>,
}

impl Order<'_> {
    /// Returns the pointer of a step in the preset.
    pub(crate) fn pointer(&self, step: usize) -> String {
        match self.owner {
            Some(owner) => format!("/prompt_order/{owner}/order/{step}"),
            None => format!("/prompt_order/{step}"),
        }
    }
}

/// Returns whether a prompt is one of the application's own.
pub(crate) fn is_built_in(identifier: &str) -> bool {
    BUILT_IN.contains(&identifier)
}

/// Returns the id of a character as text: presets have numbers and texts.
fn owner(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

pub(crate) fn is_order_owner(id: &Value) -> bool {
    owner(id) == ORDER_OWNER
}

/// Swaps the orders of a character and of [`ORDER_OWNER`], so that the former applies. Returns whether it exists.
pub(crate) fn choose_order(preset: &mut Object, character: &str) -> bool {
    let lists = preset.get_mut("prompt_order").and_then(Value::as_array_mut);
    let mut ids: Vec<&mut Value> =
        lists.into_iter().flatten().filter_map(|list| list.get_mut("character_id")).collect();
    let has_order = ids.iter().any(|id| owner(id) == character);
    if has_order {
        let number = |id: &str| id.parse().map_or_else(|_| Value::from(id), |id: u64| id.into());
        for id in &mut ids {
            match owner(id) {
                own if own == character => **id = number(ORDER_OWNER),
                own if own == ORDER_OWNER => **id = number(character),
                _ => {}
            }
        }
    }
    has_order
}

/// One step of the order of prompts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered<'v> {
    pub(crate) identifier: &'v str,
    pub(crate) is_enabled: bool,
}

/// The order of a preset that has none, and of a card without a preset.
const DEFAULT_ORDER: [(&str, bool); 12] = [
    ("main", true),
    ("worldInfoBefore", true),
    ("personaDescription", true),
    ("charDescription", true),
    ("charPersonality", true),
    ("scenario", true),
    ("enhanceDefinitions", false),
    ("nsfw", true),
    ("worldInfoAfter", true),
    ("dialogueExamples", true),
    ("chatHistory", true),
    ("jailbreak", true),
];

/// The character whose order applies to all characters. `SillyTavern` ignores orders of others.
pub(crate) const ORDER_OWNER: &str = "100001";

/// The built-in prompts, which are sent in the list whatever their `system_prompt` is.
const BUILT_IN: [&str; 4] = ["main", "nsfw", "jailbreak", "enhanceDefinitions"];

/// The fields in which older presets have the texts of prompts.
pub(crate) const LEGACY_TEXTS: [(&str, &str); 3] =
    [("main", "main_prompt"), ("nsfw", "nsfw_prompt"), ("jailbreak", "jailbreak_prompt")];

/// The texts that `SillyTavern` takes where a preset has no such field; one that is blank stays so.
const DEFAULT_TEXTS: [(&str, &str); 3] = [
    ("new_chat_prompt", "[Start a new Chat]"),
    ("new_example_chat_prompt", "[Example Chat]"),
    ("continue_nudge_prompt", "[Continue your last message without repeating its original content.]"),
];

/// Returns the text that `SillyTavern` takes where a preset has no such field.
pub(crate) fn default_text(key: &str) -> &'static str {
    DEFAULT_TEXTS.iter().find(|(known, _)| *known == key).map(|(_, text)| *text).unwrap_or_default()
}

impl<'v> ChatPreset<'v> {
    /// Returns the order of [`ORDER_OWNER`], or the only one, as exports of prompts have it.
    pub(crate) fn ordered_by(self) -> Option<Order<'v>> {
        let lists: Vec<(usize, Source<'v>)> = self.0.at("prompt_order").objects().collect();
        if lists.first().is_some_and(|(_, step)| step.at("identifier").value().is_some()) {
            return Some(Order { owner: None, steps: lists });
        }
        let is_own = |list: &Source<'_>| list.at("character_id").value().is_some_and(is_order_owner);
        let (chosen, list) = lists.iter().find(|(_, list)| is_own(list))?;
        Some(Order { owner: Some(*chosen), steps: list.at("order").objects().collect() })
    }

    /// Returns the owner of an order that has no effect because the preset has none of [`ORDER_OWNER`].
    pub(crate) fn ignored_order(self) -> Option<String> {
        let lists = self.0.at("prompt_order").objects();
        let (_, last) = lists.last().filter(|_| self.ordered_by().is_none())?;
        Some(last.at("character_id").value().map(owner).unwrap_or_default())
    }

    /// Returns the prompts in the list that have a text and are not sent.
    pub(crate) fn unsent(self) -> Vec<&'v str> {
        let prompts = self.by_identifier();
        let order = self.order().into_iter().filter(|ordered| ordered.is_enabled);
        let named = order.filter_map(|ordered| prompts.get(ordered.identifier).copied());
        let is_unsent = |prompt: &Prompt<'_>| {
            let has_text = prompt.content().is_some_and(|text| !text.trim().is_empty());
            super::arrange::marker(prompt.id).is_none() && has_text && !prompt.is_sent()
        };
        named.filter(is_unsent).map(|prompt| prompt.name().unwrap_or(prompt.id)).collect()
    }

    /// Returns the order of the sent prompts. A repeated prompt is sent only at its first place, unless `SillyTavern`
    /// sends it at each.
    pub(crate) fn order(self) -> Vec<Ordered<'v>> {
        let Some(order) = self.ordered_by() else {
            let ordered =
                |&(identifier, is_enabled): &(&'static str, bool)| Ordered { identifier, is_enabled };
            return DEFAULT_ORDER.iter().map(ordered).collect();
        };
        let ignored: BTreeSet<usize> = self.repeated(&order).into_iter().map(|(index, _)| index).collect();
        let ordered = order.steps.into_iter().filter(|(index, _)| !ignored.contains(index));
        let ordered = ordered.filter_map(|(_, step)| {
            let identifier = step.at("identifier").as_str()?;
            Some(Ordered { identifier, is_enabled: step.at("enabled").as_bool() == Some(true) })
        });
        ordered.collect()
    }

    /// Returns the steps that name a prompt again and have no effect, with their places. At a depth, `SillyTavern` sends
    /// a prompt as often as the order has it.
    pub(crate) fn repeated(self, order: &Order<'v>) -> Vec<(usize, &'v str)> {
        let prompts = self.by_identifier();
        let mut seen = BTreeSet::new();
        let mut ignored = Vec::new();
        for (index, step) in &order.steps {
            let Some(identifier) = step.at("identifier").as_str() else { continue };
            let is_sent_again = || {
                let prompt = prompts.get(identifier).filter(|prompt| prompt.in_chat().is_some());
                prompt.is_some_and(|prompt| prompt.is_sent() && prompt.is_custom())
                    && step.at("enabled").as_bool() == Some(true)
            };
            if !seen.insert(identifier) && !is_sent_again() {
                ignored.push((*index, identifier));
            }
        }
        ignored
    }

    /// Returns the prompts in the order of the file.
    pub(crate) fn prompts(self) -> impl Iterator<Item = Prompt<'v>> {
        let prompts = self.0.at("prompts").objects();
        prompts.filter_map(|(_, source)| Some(Prompt { id: source.at("identifier").as_str()?, source }))
    }

    /// Returns the prompts by their identifiers; of several with one the first.
    pub(crate) fn by_identifier(self) -> BTreeMap<&'v str, Prompt<'v>> {
        let mut found = BTreeMap::new();
        for prompt in self.prompts() {
            found.entry(prompt.id).or_insert(prompt);
        }
        found
    }

    /// Returns the text of a prompt, if it says any; in an older preset it stands in a field of its own.
    pub(crate) fn content(self, identifier: &str, prompt: Option<Prompt<'v>>) -> &'v str {
        let own = prompt.and_then(Prompt::content).filter(|own| !own.is_empty());
        let legacy = LEGACY_TEXTS.iter().find(|(id, _)| *id == identifier);
        own.or_else(|| self.text(legacy?.1)).unwrap_or_default()
    }

    pub(crate) fn text(self, key: &str) -> Option<&'v str> {
        self.0.at(key).as_str()
    }

    /// Returns a text, or what the application takes in its place.
    pub(crate) fn text_or_default(self, key: &str) -> &'v str {
        self.text(key).unwrap_or_else(|| default_text(key))
    }

    /// Has none of the texts that are taken where a preset has no such field.
    pub(crate) fn without_default_texts(preset: &mut Object) {
        for (key, _) in DEFAULT_TEXTS {
            preset.entry(key).or_insert_with(|| "".into());
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Prompt<'v> {
    pub(crate) id: &'v str,
    source: Source<'v>,
}

/// Where a prompt goes in the conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InChat {
    pub(crate) depth: i64,
    pub(crate) order: i64,
}

impl<'v> Prompt<'v> {
    pub(crate) fn content(self) -> Option<&'v str> {
        self.source.at("content").as_str()
    }

    /// Returns whether the prompt is neither a built-in one nor a marker.
    fn is_custom(self) -> bool {
        !is_built_in(self.id) && super::arrange::marker(self.id).is_none()
    }

    pub(crate) fn name(self) -> Option<&'v str> {
        self.source.at("name").as_str().filter(|name| !name.is_empty())
    }

    pub(crate) fn role(self) -> &'static str {
        super::role(self.source.at("role").as_str())
    }

    /// Returns whether the prompt is sent where an order enables it.
    ///
    /// In the list, `SillyTavern` sends custom prompts only if `system_prompt` is exactly `false`. At a depth it sends
    /// prompts of the three roles only, and only if the depth is a number. `marker` has no effect.
    pub(crate) fn is_sent(self) -> bool {
        match self.in_chat() {
            Some(_) => {
                let role = self.source.at("role").as_str();
                role.is_some_and(|role| matches!(role, "system" | "user" | "assistant")) && self.has_place()
            }
            None => is_built_in(self.id) || self.source.at("system_prompt").as_bool() == Some(false),
        }
    }

    pub(crate) fn has_role(self) -> bool {
        self.source.at("role").value().is_some()
    }

    pub(crate) fn forbids_overrides(self) -> bool {
        self.source.at("forbid_overrides").as_bool() == Some(true)
    }

    /// Returns where the prompt goes in the conversation; none for one that stands in the list.
    pub(crate) fn in_chat(self) -> Option<InChat> {
        if self.source.at("injection_position").as_whole() != Some(1) {
            return None;
        }
        Some(InChat { depth: self.depth().unwrap_or(4), order: self.order().unwrap_or(100) })
    }

    /// Returns whether the prompt stands in the list, or at a depth that `SillyTavern` 1.18 finds: it compares the
    /// value with each number from 0 to 10,000.
    pub(crate) fn has_place(self) -> bool {
        let depth = self.source.at("injection_depth").value().and_then(Value::as_f64);
        let is_found = depth.is_some_and(|depth| depth.fract() == 0.0 && (0.0..=10_000.0).contains(&depth));
        is_found || self.in_chat().is_none()
    }

    /// Returns the order at a depth, rounded down.
    pub(crate) fn order(self) -> Option<i64> {
        self.source.at("injection_order").value().and_then(floor_of)
    }

    pub(crate) fn depth(self) -> Option<i64> {
        self.source.at("injection_depth").as_whole().filter(|depth| *depth >= 0)
    }

    /// Returns the kinds of generation that it is for; all if empty.
    pub(crate) fn triggers(self) -> Vec<&'v str> {
        let triggers = self.source.at("injection_trigger");
        let items = triggers.items().map(|(_, item)| item);
        std::iter::once(triggers).chain(items).filter_map(Source::as_str).collect()
    }
}
