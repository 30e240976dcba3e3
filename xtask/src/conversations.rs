//! `cargo xtask conversations`: conversations with labelled facts, for measuring compression.
//!
//! Everything is made here from word lists and a seed, so the set needs nobody's licence and can be made again
//! byte for byte. The labels come from the generator alone; nothing here knows how facts are found again.

mod chat;
mod draws;
mod play;
mod story;
mod summary;
mod task;
mod technical;
mod values;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace;
use draws::Draws;
use story::Story;

/// Where the set is kept, seen from the root of the workspace.
const FOLDER: &str = "crates/ctx-compress/conversations";

/// How many conversations of each kind the set has.
const OF_EACH: u64 = 2;

/// Reports one conversation of a kind.
type Tell = fn(&mut Draws) -> Story;

/// The kinds of conversations, with their names.
const KINDS: &[(&str, Tell)] = &[
    ("chat-english", chat::english),
    ("chat-chinese", chat::chinese),
    ("chat-mixed", chat::mixed),
    ("play", play::story),
    ("task-orders", task::orders),
    ("task-chinese", task::chinese),
    ("technical", technical::story),
];

/// Writes the set, or with `--check` only compares it with what is committed.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let flags: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let write = match flags.as_slice() {
        [] => true,
        ["--check"] => false,
        _ => bail!("usage: cargo xtask conversations [--check]"),
    };
    let folder = workspace::root().join(FOLDER);
    let set = make();
    for (name, conversation) in &set {
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(conversation)? + "\n";
        if write {
            save(&path, &text)?;
        } else if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            bail!("{} is not what `cargo xtask conversations` makes", path.display());
        }
    }
    println!("conversations: {} {}", set.len(), if write { "written" } else { "as committed" });
    Ok(())
}

/// Makes every conversation of the set, with its name.
fn make() -> Vec<(String, Value)> {
    let numbered = KINDS.iter().flat_map(|kind| (1..=OF_EACH).map(move |number| (kind, number)));
    numbered
        .map(|((name, tell), number)| {
            let name = format!("{name}-{number}");
            let mut draws = Draws::named(&name);
            let story = tell(&mut draws);
            let summaries = summary::of(&story, &mut draws);
            (name, story.into_json(&summaries))
        })
        .collect()
}

fn save(path: &PathBuf, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_is_the_same_whenever_it_is_made() {
        assert_eq!(make(), make());
    }

    #[test]
    fn every_fact_stands_in_its_message() {
        for (name, conversation) in make() {
            let messages = conversation["messages"].as_array().unwrap();
            for fact in conversation["facts"].as_array().unwrap() {
                let home = messages.iter().find(|message| message["id"] == fact["message"]).unwrap();
                let text = home.to_string().to_lowercase();
                let first = fact["spellings"][0].as_str().unwrap();
                let first = serde_json::to_string(first).unwrap();
                assert!(text.contains(first.trim_matches('"')), "{name}: {first} is not in {text}");
            }
        }
    }

    #[test]
    fn nothing_invented_stands_in_the_conversation() {
        for (name, conversation) in make() {
            let text = conversation["messages"].to_string().to_lowercase();
            let summaries = conversation["summaries"].as_array().unwrap();
            for invented in summaries.iter().flat_map(|summary| summary["invented"].as_array().unwrap()) {
                for spelling in invented["spellings"].as_array().unwrap() {
                    assert!(!text.contains(spelling.as_str().unwrap()), "{name}: {spelling}");
                }
            }
        }
    }
}
