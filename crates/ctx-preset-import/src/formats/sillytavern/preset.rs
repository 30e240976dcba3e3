//! Chat-completion presets: prompts, their order, and the texts around them.

mod fields;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::loose::{Object, object};
use crate::source::Source;

pub(crate) use fields::Form;

/// A chat-completion preset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatPreset<'v>(pub(crate) Source<'v>);

/// Where an export of the prompt manager has its prompts and their order.
pub(crate) const EXPORTED: &str = "/data";

/// Where `settings.json` has the preset in use.
pub(crate) const IN_USE: &str = "/oai_settings";

/// Returns the preset in use of `settings.json`.
pub(crate) fn in_use(settings: &Object) -> Option<&Object> {
    object(settings, IN_USE.trim_start_matches('/')).filter(|preset| !preset.is_empty())
}

/// The order of prompts that counts.
#[derive(Debug)]
pub(crate) struct Order<'v> {
    /// Its place among the orders of the file, unless it is the only one and has no owner.
    pub(crate) owner: Option<usize>,
    /// Its steps, each with its place.
    pub(crate) steps: Vec<(usize, Source<'v>)>,
}

impl<'v> Order<'v> {
    /// Returns the steps that name a prompt again, with their places.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = (usize, &'v str)> {
        let mut seen = BTreeSet::new();
        let named =
            self.steps.iter().filter_map(|(index, step)| Some((*index, step.at("identifier").as_str()?)));
        named.filter(move |(_, identifier)| !seen.insert(*identifier))
    }

    /// Returns the pointer of a step in the preset.
    pub(crate) fn pointer(&self, step: usize) -> String {
        match self.owner {
            Some(owner) => format!("/prompt_order/{owner}/order/{step}"),
            None => format!("/prompt_order/{step}"),
        }
    }
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

/// Whose order counts, the first that is there: the one of today's editor, then that of older files.
const ORDER_OWNERS: [&str; 2] = ["100001", "100000"];

/// The fields in which older presets have the texts of prompts.
pub(crate) const LEGACY_TEXTS: [(&str, &str); 3] =
    [("main", "main_prompt"), ("nsfw", "nsfw_prompt"), ("jailbreak", "jailbreak_prompt")];

/// The texts that `SillyTavern` takes where a preset has no such field; one that is blank stays so.
const DEFAULT_TEXTS: [(&str, &str); 3] = [
    ("new_chat_prompt", "[Start a new Chat]"),
    ("new_example_chat_prompt", "[Example Chat]"),
    ("continue_nudge_prompt", "[Continue your last message without repeating its original content.]"),
];

impl<'v> ChatPreset<'v> {
    /// Returns the order that counts: that of one of several owners, or the only one, as exports of prompts have it.
    pub(crate) fn ordered_by(self) -> Option<Order<'v>> {
        let lists: Vec<(usize, Source<'v>)> = self.0.at("prompt_order").objects().collect();
        if lists.first().is_some_and(|(_, step)| step.at("identifier").value().is_some()) {
            return Some(Order { owner: None, steps: lists });
        }
        let owner = |list: &Source<'_>| match list.at("character_id").value() {
            Some(Value::String(id)) => id.clone(),
            Some(id) => id.to_string(),
            None => String::new(),
        };
        let known = ORDER_OWNERS.iter().find_map(|id| lists.iter().find(|(_, list)| owner(list) == *id));
        let (chosen, list) = known.or_else(|| lists.last())?;
        Some(Order { owner: Some(*chosen), steps: list.at("order").objects().collect() })
    }

    /// Returns the order in which prompts are sent; of several places of one prompt the first counts.
    pub(crate) fn order(self) -> Vec<Ordered<'v>> {
        let Some(order) = self.ordered_by() else {
            let ordered =
                |&(identifier, is_enabled): &(&'static str, bool)| Ordered { identifier, is_enabled };
            return DEFAULT_ORDER.iter().map(ordered).collect();
        };
        let mut seen = BTreeSet::new();
        let ordered = order.steps.into_iter().filter_map(|(_, step)| {
            let identifier = step.at("identifier").as_str().filter(|id| seen.insert(*id))?;
            Some(Ordered { identifier, is_enabled: step.at("enabled").as_bool().unwrap_or(true) })
        });
        ordered.collect()
    }

    /// Returns the prompts in the order of the file.
    pub(crate) fn prompts(self) -> impl Iterator<Item = Prompt<'v>> {
        let prompts = self.0.at("prompts").objects();
        prompts.filter_map(|(_, source)| Some(Prompt { id: source.at("identifier").as_str()?, source }))
    }

    /// Returns a prompt by its identifier.
    pub(crate) fn prompt(self, identifier: &str) -> Option<Prompt<'v>> {
        self.prompts().find(|prompt| prompt.id == identifier)
    }

    /// Returns the prompts by their identifiers; of several with one the first.
    pub(crate) fn by_identifier(self) -> BTreeMap<&'v str, Prompt<'v>> {
        let mut found = BTreeMap::new();
        self.prompts().for_each(|prompt| {
            found.entry(prompt.id).or_insert(prompt);
        });
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
        let default = || DEFAULT_TEXTS.iter().find(|(known, _)| *known == key).map(|(_, text)| *text);
        self.text(key).or_else(default).unwrap_or_default()
    }

    /// Takes a text, or what the application takes in its place.
    pub(crate) fn take_text(self, key: &str, to: &'static str) -> &'v str {
        self.0.at(key).text().into(to);
        self.text_or_default(key)
    }

    /// Has none of the texts that are taken where a preset has no such field.
    pub(crate) fn without_default_texts(preset: &mut Object) {
        for (key, _) in DEFAULT_TEXTS {
            preset.entry(key).or_insert_with(|| "".into());
        }
    }
}

/// A prompt of a preset.
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

    pub(crate) fn name(self) -> Option<&'v str> {
        self.source.at("name").as_str().filter(|name| !name.is_empty())
    }

    pub(crate) fn role(self) -> &'static str {
        super::role(self.source.at("role").as_str())
    }

    /// Returns whether the prompt says that it stands for something else than its text.
    pub(crate) fn is_marker(self) -> bool {
        self.source.at("marker").as_bool() == Some(true)
    }

    pub(crate) fn forbids_overrides(self) -> bool {
        self.source.at("forbid_overrides").as_bool() == Some(true)
    }

    /// Returns where the prompt goes in the conversation; none for one that stands in the list.
    pub(crate) fn in_chat(self) -> Option<InChat> {
        if self.source.at("injection_position").as_whole() != Some(1) {
            return None;
        }
        Some(InChat {
            depth: self.depth().unwrap_or(4),
            order: self.source.at("injection_order").as_whole().unwrap_or(100),
        })
    }

    /// Returns the depth and the order that the prompt would have in the conversation, as far as it says them.
    pub(crate) fn unused_depth(self) -> (Option<i64>, Option<i64>) {
        (self.depth(), self.source.at("injection_order").as_whole())
    }

    fn depth(self) -> Option<i64> {
        self.source.at("injection_depth").as_whole().filter(|depth| *depth >= 0)
    }

    /// Returns the kinds of generation that it is for; all if empty.
    pub(crate) fn triggers(self) -> Vec<&'v str> {
        let triggers = self.source.at("injection_trigger");
        let items = triggers.items().map(|(_, item)| item);
        std::iter::once(triggers).chain(items).filter_map(Source::as_str).collect()
    }
}
