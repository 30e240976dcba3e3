//! Chat-completion presets: prompts, their order, and the texts around them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::loose::{Object, flag, object, objects, text, whole};

/// A chat-completion preset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatPreset<'v>(pub(crate) &'v Object);

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
    pub(crate) steps: Vec<(usize, &'v Object)>,
}

impl<'v> Order<'v> {
    /// Returns the steps that name a prompt again, with their places.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = (usize, &'v str)> {
        let mut seen = BTreeSet::new();
        let named = self.steps.iter().filter_map(|(index, step)| Some((*index, text(step, "identifier")?)));
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
        let lists: Vec<(usize, &Object)> = objects(self.0, "prompt_order").collect();
        if lists.first().is_some_and(|(_, step)| step.contains_key("identifier")) {
            return Some(Order { owner: None, steps: lists });
        }
        let owner = |list: &Object| match list.get("character_id") {
            Some(Value::String(id)) => id.clone(),
            Some(id) => id.to_string(),
            None => String::new(),
        };
        let known = ORDER_OWNERS.iter().find_map(|id| lists.iter().find(|(_, list)| owner(list) == *id));
        let (chosen, list) = known.or_else(|| lists.last())?;
        Some(Order { owner: Some(*chosen), steps: objects(list, "order").collect() })
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
            let identifier = text(step, "identifier").filter(|id| seen.insert(*id))?;
            Some(Ordered { identifier, is_enabled: flag(step, "enabled").unwrap_or(true) })
        });
        ordered.collect()
    }

    /// Returns the prompts in the order of the file.
    pub(crate) fn prompts(self) -> impl Iterator<Item = Prompt<'v>> {
        objects(self.0, "prompts")
            .filter_map(|(_, prompt)| Some(Prompt { id: text(prompt, "identifier")?, prompt }))
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
        own.or_else(|| text(self.0, legacy?.1)).unwrap_or_default()
    }

    /// Returns the scripts that the preset brings.
    pub(crate) fn scripts(self) -> Option<&'v Value> {
        object(self.0, "extensions")?.get("regex_scripts").filter(|scripts| scripts.is_array())
    }

    pub(crate) fn text(self, key: &str) -> Option<&'v str> {
        text(self.0, key)
    }

    /// Returns a text, or what the application takes in its place.
    pub(crate) fn text_or_default(self, key: &str) -> &'v str {
        let default = || DEFAULT_TEXTS.iter().find(|(known, _)| *known == key).map(|(_, text)| *text);
        self.text(key).or_else(default).unwrap_or_default()
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
    prompt: &'v Object,
}

/// Where a prompt goes in the conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InChat {
    pub(crate) depth: i64,
    pub(crate) order: i64,
}

impl<'v> Prompt<'v> {
    pub(crate) fn content(self) -> Option<&'v str> {
        text(self.prompt, "content")
    }

    pub(crate) fn name(self) -> Option<&'v str> {
        text(self.prompt, "name").filter(|name| !name.is_empty())
    }

    pub(crate) fn role(self) -> &'static str {
        super::role(text(self.prompt, "role"))
    }

    /// Tells whether the prompt says that it stands for something else than its text.
    pub(crate) fn is_marker(self) -> bool {
        flag(self.prompt, "marker") == Some(true)
    }

    pub(crate) fn forbids_overrides(self) -> bool {
        flag(self.prompt, "forbid_overrides") == Some(true)
    }

    /// Returns where the prompt goes in the conversation; none for one that stands in the list.
    pub(crate) fn in_chat(self) -> Option<InChat> {
        if whole(self.prompt, "injection_position") != Some(1) {
            return None;
        }
        Some(InChat {
            depth: self.depth().unwrap_or(4),
            order: whole(self.prompt, "injection_order").unwrap_or(100),
        })
    }

    /// Returns the depth and the order that the prompt would have in the conversation, as far as it says them.
    pub(crate) fn unused_depth(self) -> (Option<i64>, Option<i64>) {
        (self.depth(), whole(self.prompt, "injection_order"))
    }

    fn depth(self) -> Option<i64> {
        whole(self.prompt, "injection_depth").filter(|depth| *depth >= 0)
    }

    /// Returns the kinds of generation that it is for; all if empty.
    pub(crate) fn triggers(self) -> Vec<&'v str> {
        crate::loose::texts(self.prompt, "injection_trigger")
    }
}
