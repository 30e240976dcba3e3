//! The story string of a context template: the order in which the parts of a prompt stand.

use serde_json::{Value, json};

use super::arrange::MARKERS;
use crate::loose::Object;

/// Where a story stands that is not at the top.
#[derive(Clone, Copy, Debug)]
pub(super) struct InChat {
    pub(super) depth: i64,
    pub(super) role: &'static str,
}

/// The variables of story strings, each with the prompt or marker that it stands for.
const VARIABLES: [(&str, &str); 12] = [
    ("system", "main"),
    ("wiBefore", "worldInfoBefore"),
    ("loreBefore", "worldInfoBefore"),
    ("description", "charDescription"),
    ("personality", "charPersonality"),
    ("scenario", "scenario"),
    ("wiAfter", "worldInfoAfter"),
    ("loreAfter", "worldInfoAfter"),
    ("persona", "personaDescription"),
    ("mesExamples", "dialogueExamples"),
    ("mesExamplesRaw", "dialogueExamples"),
    ("trim", ""),
];

/// What a story string consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part<'s> {
    Text(&'s str),
    /// A variable with the text around it that stands only where it says something.
    Variable(&'static str, &'s str),
}

/// The prompts of a story on their way into a preset.
#[derive(Default)]
struct Story<'s> {
    prompts: Vec<Value>,
    /// The identifiers in their order, each with whether it is sent.
    order: Vec<(String, bool)>,
    formats: Vec<(&'static str, &'s str)>,
}

impl<'s> Story<'s> {
    fn add(&mut self, id: &str, is_sent: bool) {
        if !self.order.iter().any(|(known, _)| known == id) {
            self.order.push((id.to_owned(), is_sent));
        }
    }

    /// Adds a prompt whose identifier no other has.
    fn add_prompt(&mut self, id: &str, content: &str, in_chat: Option<InChat>) {
        self.order.push((id.to_owned(), true));
        self.prompts.push(prompt(id, content, in_chat));
    }

    fn add_part(&mut self, own: &str, part: &Part<'s>, in_chat: Option<InChat>) {
        let (name, text) = match *part {
            Part::Text(text) => return self.add_prompt(own, text.trim_matches('\n'), in_chat),
            Part::Variable(name, text) => (name, text.trim_end_matches('\n')),
        };
        let id = VARIABLES.iter().find(|(known, _)| *known == name).map_or("", |(_, id)| *id);
        let format = match id {
            "charPersonality" => Some("personality_format"),
            "scenario" => Some("scenario_format"),
            _ => None,
        };
        let is_bare = text.trim().strip_prefix("{{").and_then(|text| text.strip_suffix("}}")) == Some(name);
        match format {
            Some(format) => {
                self.formats.push((format, text));
                self.add(id, true);
            }
            None if !is_bare && matches!(id, "charDescription" | "personaDescription") => {
                self.add_prompt(own, &format!("{{{{#if {name}}}}}{text}{{{{/if}}}}"), in_chat);
                self.add(id, false);
            }
            None => self.add(id, true),
        }
    }

    /// What the story leaves out is not sent, but the conversation and what stands around it always are.
    fn finish(&mut self) {
        self.add("main", true);
        for marker in MARKERS.iter().filter(|marker| marker.identifier != "chatHistory") {
            self.add(marker.identifier, marker.identifier == "dialogueExamples");
        }
        self.add("chatHistory", true);
        self.add("jailbreak", true);
        self.prompts.push(json!({ "identifier": "jailbreak", "role": "system", "content": "" }));
    }
}

/// Puts the prompts and the order of a story into a chat-completion preset.
pub(super) fn write(text: &str, in_chat: Option<InChat>, preset: &mut Object) {
    let mut story = Story::default();
    for (number, part) in parts(text).iter().enumerate() {
        story.add_part(&format!("story_{number}"), part, in_chat);
    }
    story.finish();
    let step = |(id, is_sent): &(String, bool)| json!({ "identifier": id, "enabled": is_sent });
    let steps: Vec<Value> = story.order.iter().map(step).collect();
    preset.insert("prompts".to_owned(), Value::Array(story.prompts));
    preset.insert("prompt_order".to_owned(), json!([{ "character_id": 100_001, "order": steps }]));
    preset.extend(story.formats.into_iter().map(|(key, text)| (key.to_owned(), Value::from(text))));
}

fn prompt(id: &str, content: &str, in_chat: Option<InChat>) -> Value {
    let mut prompt = json!({
        "identifier": id, "name": "Story", "role": "system", "content": content, "system_prompt": false,
    });
    if let Some(InChat { depth, role }) = in_chat {
        prompt["role"] = role.into();
        prompt["injection_position"] = 1.into();
        prompt["injection_depth"] = depth.into();
    }
    prompt
}

/// How many texts and variables a story string is divided into; what is behind them stays one text.
const MOST_PARTS: usize = 1_000;

/// Divides a story string. O(length).
fn parts(story: &str) -> Vec<Part<'_>> {
    let (mut parts, mut text_from, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = story.get(at..).and_then(|rest| rest.find("{{")) {
        if parts.len() >= MOST_PARTS {
            break;
        }
        let start = at + found;
        let after = story.get(start..).unwrap_or_default();
        let Some((name, inner, length)) = variable(after) else {
            at = start + 2;
            continue;
        };
        text(story.get(text_from..start).unwrap_or_default(), &mut parts);
        if name != "trim" {
            parts.push(Part::Variable(name, inner));
        }
        at = start + length;
        text_from = at;
    }
    text(story.get(text_from..).unwrap_or_default(), &mut parts);
    parts
}

fn text<'s>(text: &'s str, parts: &mut Vec<Part<'s>>) {
    if !text.trim().is_empty() {
        parts.push(Part::Text(text));
    }
}

const CLOSE: &str = "{{/if}}";

/// Reads a variable at the beginning of a text, with or without a condition around it: its name, what stands in the
/// condition, and how long all of it is. O(what is up to the next braces, or the next condition).
fn variable(text: &str) -> Option<(&'static str, &str, usize)> {
    let known = |name: &str| VARIABLES.iter().map(|(known, _)| *known).find(|known| *known == name.trim());
    let inside = text.get(2..)?;
    let next = inside.find("{{").unwrap_or(inside.len());
    let call = inside.get(..next)?;
    let call = call.get(..call.find("}}")?)?;
    let end = call.len() + 4;
    if let Some(name) = known(call) {
        return Some((name, text.get(..end)?, end));
    }
    let name = known(call.trim().strip_prefix("#if")?)?;
    // A condition within is not understood; the text stays as it is.
    let rest = text.get(end..)?;
    let rest = rest.get(..rest.find("{{#if").unwrap_or(rest.len()))?;
    let inner = rest.get(..rest.find(CLOSE)?)?;
    Some((name, inner, end + inner.len() + CLOSE.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_is_divided_at_its_variables() {
        let story = "Begin\n{{#if system}}{{system}}\n{{/if}}{{#if scenario}}Where: {{scenario}}\n{{/if}}{{persona}}{{trim}}";
        let expected = [
            Part::Text("Begin\n"),
            Part::Variable("system", "{{system}}\n"),
            Part::Variable("scenario", "Where: {{scenario}}\n"),
            Part::Variable("persona", "{{persona}}"),
        ];
        assert_eq!(parts(story), expected);
        assert_eq!(parts("{{#if system}}{{#if persona}}x{{/if}}").len(), 2);
        assert_eq!(parts("{{ {{persona}}"), [Part::Text("{{ "), Part::Variable("persona", "{{persona}}")]);
        assert_eq!(parts("{{#if other}}x{{/if}}"), [Part::Text("{{#if other}}x{{/if}}")]);
    }
}
