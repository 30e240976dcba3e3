//! What a compressor printed, and what can still be found in it.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use super::label::Fact;

/// The share of a task's words that must be there, in percent.
const ENOUGH: usize = 80;

/// Words of one or two letters and those that every text has carry no task.
const COMMON: &[&str] =
    &["the", "and", "with", "where", "every", "for", "you", "will", "that", "them", "from", "are"];

/// The shortened messages.
pub(super) struct Output {
    messages: Vec<Value>,
    /// Lines of contents and arguments of calls, in lower case with white space squeezed.
    lines: Vec<String>,
    text: String,
}

impl Output {
    /// Reads `{"messages": [...]}`.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let value: Value = serde_json::from_slice(bytes)?;
        let messages =
            value.get("messages").and_then(Value::as_array).context("no list of messages")?.clone();
        let mut lines = Vec::new();
        for message in &messages {
            lines.extend(content(message).lines().map(squeezed));
            lines.extend(arguments(message).map(squeezed));
        }
        let text = lines.join(" ");
        Ok(Self { messages, lines, text })
    }

    /// Returns whether a fact is still there in one of its spellings.
    pub(super) fn has(&self, fact: &Fact) -> bool {
        fact.spellings.iter().any(|spelling| self.text.contains(spelling.as_str()))
    }

    /// Returns whether one line has a fact and a word that a question about it would use.
    pub(super) fn has_beside(&self, fact: &Fact) -> bool {
        self.lines.iter().any(|line| {
            let says = |words: &[String]| words.iter().any(|word| line.contains(word.as_str()));
            says(&fact.spellings) && says(&fact.cues)
        })
    }

    /// Of the calls that change something, how many still have all their longer values in one place.
    pub(super) fn trail(&self, before: &[Value]) -> (usize, usize) {
        let changes = before.iter().flat_map(calls).filter(is_change);
        let values = changes.map(|call| values(&call)).filter(|values| values.len() >= 2);
        let values: Vec<Vec<String>> = values.collect();
        let is_kept = |values: &Vec<String>| {
            self.lines.iter().any(|line| values.iter().all(|value| line.contains(value.as_str())))
        };
        (values.iter().filter(|values| is_kept(values)).count(), values.len())
    }

    /// Returns whether most words of the first thing that the user asked for are still there.
    pub(super) fn keeps_task(&self, before: &[Value]) -> bool {
        let first = before.iter().find(|message| message["role"] == "user").map(content).unwrap_or_default();
        let words = words(&first);
        let kept = words.iter().filter(|word| self.text.contains(word.as_str())).count();
        kept * 100 >= words.len() * ENOUGH
    }

    /// Returns whether each call has one result, before the next message that is none.
    pub(super) fn is_paired(&self) -> bool {
        let mut open: BTreeSet<String> = BTreeSet::new();
        for message in &self.messages {
            if message["role"] == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                if !open.remove(id) {
                    return false;
                }
            } else if open.is_empty() {
                open = calls(message).filter_map(|call| Some(call.get("id")?.as_str()?.to_owned())).collect();
            } else {
                return false;
            }
        }
        open.is_empty()
    }

    /// What the messages cost by the estimate.
    pub(super) fn tokens(&self) -> u64 {
        tokens(&self.messages)
    }
}

/// The estimate: 10 a message, 50 a call, a quarter for an ASCII character and one for any other.
pub(super) fn tokens(messages: &[Value]) -> u64 {
    let calls = |message: &Value| arguments(message).map(|arguments| 50 + cost(&arguments)).sum::<u64>();
    messages.iter().map(|message| 10 + cost(&content(message)) + calls(message)).sum()
}

fn cost(text: &str) -> u64 {
    let ascii = text.chars().filter(char::is_ascii).count() as u64;
    ascii.div_ceil(4) + (text.chars().count() as u64 - ascii)
}

fn content(message: &Value) -> String {
    message["content"].as_str().unwrap_or_default().to_owned()
}

fn calls(message: &Value) -> impl Iterator<Item = Value> {
    message["tool_calls"].as_array().cloned().unwrap_or_default().into_iter()
}

fn arguments(message: &Value) -> impl Iterator<Item = String> {
    calls(message).map(|call| call["function"]["arguments"].as_str().unwrap_or_default().to_owned())
}

/// Tools whose names begin with a word for reading change nothing.
fn is_change(call: &Value) -> bool {
    let name = call["function"]["name"].as_str().unwrap_or_default();
    !["get", "read", "find", "search", "list"].iter().any(|word| name.starts_with(word))
}

fn values(call: &Value) -> Vec<String> {
    let text = call["function"]["arguments"].as_str().unwrap_or_default();
    let arguments: Value = serde_json::from_str(text).unwrap_or_default();
    let fields = arguments.as_object().into_iter().flat_map(|fields| fields.values());
    fields.filter_map(Value::as_str).filter(|value| value.len() >= 3).map(squeezed).collect()
}

fn squeezed(text: impl AsRef<str>) -> String {
    text.as_ref().to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a task; each Chinese character counts as one.
fn words(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let is_word = |word: &&str| word.len() >= 3 && word.is_ascii() && !COMMON.contains(word);
    let latin =
        text.split(|character: char| !character.is_ascii_alphanumeric()).filter(is_word).map(str::to_owned);
    let chinese: Vec<char> =
        text.chars().filter(|character| ('\u{4e00}'..='\u{9fff}').contains(character)).collect();
    latin.chain(chinese.iter().map(char::to_string)).collect()
}
