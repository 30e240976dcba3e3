//! The labelled conversations that ship with the crate, each with three summaries that lost and made up things.

use std::fs;
use std::path::Path;

use ctx_compress::quality::{FactKind, QualityReport};
use ctx_types::{Message, Role, Source, ToolCall};
use serde_json::Value;

use crate::labels::{Label, Labels, Score};

/// Reads a list of chat messages.
pub(crate) fn messages(list: &Value) -> Vec<Message> {
    let call = |call: &Value| ToolCall {
        id: call["id"].as_str().unwrap().into(),
        name: call["function"]["name"].as_str().unwrap().into(),
        arguments: call["function"]["arguments"].as_str().unwrap().into(),
    };
    let message = |value: &Value| {
        let role = Role::parse(value["role"].as_str().unwrap()).unwrap();
        let source = Source::history(value["id"].as_str().unwrap(), role);
        Message::new(role, value["content"].as_str().unwrap_or_default(), source).with(|message| {
            message.tool_calls = value["tool_calls"].as_array().into_iter().flatten().map(call).collect();
            message.tool_call_id = value["tool_call_id"].as_str().map(Into::into);
        })
    };
    list.as_array().unwrap().iter().map(message).collect()
}

fn label(value: &Value) -> Label {
    let spellings = value["spellings"].as_array().unwrap();
    Label {
        kind: value["kind"].as_str().unwrap().to_owned(),
        spellings: spellings.iter().map(|text| text.as_str().unwrap().to_lowercase()).collect(),
    }
}

/// Returns whether a report has facts like a label: values, and no Chinese names without marks.
fn is_reported(label: &Label) -> bool {
    let is_chinese_name =
        label.kind == "name" && !label.spellings[0].contains(|c: char| c.is_ascii_alphabetic());
    FactKind::ALL.iter().any(|kind| kind.as_str() == label.kind) && !is_chinese_name
}

pub(crate) fn score(folder: &Path) -> Score {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut score = Score::default();
    for path in paths {
        let value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let original = messages(&value["messages"]);
        let facts: Vec<Label> = value["facts"].as_array().unwrap().iter().map(label).collect();
        for (number, summary) in value["summaries"].as_array().unwrap().iter().enumerate() {
            let text = summary["text"].as_str().unwrap();
            let places = summary["lost"].as_array().unwrap();
            let is_lost = |at: usize| places.iter().any(|place| place.as_u64() == Some(at as u64));
            let labelled = facts.iter().cloned().enumerate().filter(|(_, label)| is_reported(label));
            let (lost, kept): (Vec<_>, Vec<_>) = labelled.partition(|(at, _)| is_lost(*at));
            let invented = summary["invented"].as_array().unwrap().iter().map(label);
            let labels = Labels {
                lost: lost.into_iter().map(|(_, label)| label).collect(),
                kept: kept.into_iter().map(|(_, label)| label).collect(),
                invented: invented.filter(is_reported).collect(),
            };
            let report = QualityReport::of_summary(&original, text);
            let name = format!("{} {}", path.file_stem().unwrap().display(), number + 1);
            score.add(&name, &report, &labels, text);
        }
    }
    score
}

#[test]
fn lost_and_invented_facts_are_found_in_the_labelled_conversations() {
    let score = score(&Path::new(env!("CARGO_MANIFEST_DIR")).join("conversations"));
    println!("{}", score.table());
    let shown = score.faults.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    println!("{shown}");
    let documented = include_str!("../../../../docs/compression.md");
    assert!(documented.contains(&score.table()), "docs/compression.md has another table");
    assert!(score.recall_of_lost() >= 98, "{shown}");
    assert!(score.recall_of_invented() >= 98, "{shown}");
    assert!(score.precision() >= 98 && score.strict_precision() >= 98, "{shown}");
}
