//! From the unified form of an agent back to the file that it was read from.

use std::sync::Arc;

use ctx_engine::{Format, Imported};
use ctx_preset_import::{Document, codes};
use ctx_types::{Agent, Content, Diagnostic, Edit, Fix, Greeting};
use serde_json::Value;

/// Where the parts of an agent stand in its file.
#[derive(Clone, Debug)]
pub struct Origin {
    document: Arc<str>,
    format: Format,
    /// For each entry its index in the file, where greetings among the entries moved elsewhere.
    entries: Option<Vec<usize>>,
}

/// The key of the entries in the unified form.
const ENTRIES: &str = "/presetMessages";

impl Origin {
    /// Notes where the parts of an agent stand in the bytes that it was read from.
    pub fn of(imported: &Imported<Agent>, name: &str, bytes: &[u8]) -> Self {
        let format = imported.format;
        let has_moved = imported.diagnostics.iter().any(|found| found.code == codes::MIGRATED_GREETINGS);
        let document = has_moved.then(|| Document::read(bytes, name).ok()).flatten();
        let file = document.as_ref().and_then(|document| document.value.pointer(&in_file(ENTRIES, format)));
        let entries = file.and_then(Value::as_array).map(|file| remaining(file, &imported.value.greetings));
        Self { document: name.into(), format, entries }
    }

    /// Points findings about the unified form into the file; those about anything else stay.
    pub fn lead_back(&self, findings: &mut [Diagnostic]) {
        let is_agent = matches!(self.format, Format::Agent | Format::AgentExport);
        for finding in findings {
            // Other forms have no place for keys of an agent.
            let inserts = |fix: &mut Box<Fix>| matches!(fix.edit, Edit::Insert(_));
            finding.fix.take_if(|fix| !is_agent && inserts(fix));
            let location = &mut finding.location;
            if let (Some(pointer), None) = (&location.pointer, &location.document) {
                location.pointer = Some(in_file(&self.entry(pointer), self.format));
                location.document = Some(self.document.clone());
            }
        }
    }

    fn entry(&self, pointer: &str) -> String {
        let moved = || {
            let below = pointer.strip_prefix(ENTRIES)?.strip_prefix('/')?;
            let (index, rest) = below.split_at(below.find('/').unwrap_or(below.len()));
            let index = self.entries.as_ref()?.get(index.parse::<usize>().ok()?)?;
            Some(format!("{ENTRIES}/{index}{rest}"))
        };
        moved().unwrap_or_else(|| pointer.to_owned())
    }
}

fn in_file(pointer: &str, format: Format) -> String {
    let below = |key| pointer.strip_prefix(key).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (format, below(ENTRIES), below("/presetGroups")) {
        (Format::PresetList, Some(rest), _) => rest.to_owned(),
        (Format::PresetFile, Some(rest), _) => format!("/messages{rest}"),
        (Format::PresetFile, _, Some(rest)) => format!("/groups{rest}"),
        (Format::AgentExport, ..) => format!("/agents/0{pointer}"),
        _ => pointer.to_owned(),
    }
}

/// The indexes of a file's entries that did not become greetings; both are in the order of the file.
fn remaining(file: &[Value], greetings: &[Greeting]) -> Vec<usize> {
    let mut greetings = greetings.iter().peekable();
    let mut stays = |entry: &Value| greetings.next_if(|greeting| is_from(greeting, entry)).is_none();
    file.iter().enumerate().filter(|(_, entry)| stays(entry)).map(|(index, _)| index).collect()
}

fn is_from(greeting: &Greeting, entry: &Value) -> bool {
    let text = |key| entry.get(key).and_then(Value::as_str);
    let has_same_text = match &greeting.content {
        Some(Content::Text(content)) => text("content") == Some(content),
        Some(Content::Parts(_)) => entry.get("content").is_some_and(Value::is_array),
        None => text("content").is_none(),
    };
    has_same_text && text("name") == greeting.name.as_deref()
}

#[cfg(test)]
mod tests {
    use ctx_engine::read_agent;
    use serde_json::json;

    use ctx_types::phrase;

    use super::*;

    /// Checks to which pointers into a file pointers into the unified form lead.
    #[track_caller]
    fn check(file: &Value, pointers: &[(&str, &str)]) {
        let bytes = file.to_string().into_bytes();
        let imported = read_agent(&bytes, "a.json").unwrap();
        let origin = Origin::of(&imported, "a.json", &bytes);
        for (unified, expected) in pointers {
            let mut finding = [Diagnostic::info(codes::EMPTY, phrase!("")).at_pointer(*unified)];
            origin.lead_back(&mut finding);
            assert_eq!(finding[0].location.pointer.as_deref(), Some(*expected));
            assert_eq!(finding[0].location.document.as_deref(), Some("a.json"));
        }
    }

    #[test]
    fn each_form_has_its_own_way() {
        let entries = json!([{ "role": "system", "content": "x", "insertionPoint": 1 }]);
        let pointers = |entry, name| [("/presetMessages/0/content", entry), ("/name", name)];
        check(&json!({ "presetMessages": entries }), &pointers("/presetMessages/0/content", "/name"));
        check(&json!({ "messages": entries }), &pointers("/messages/0/content", "/name"));
        check(&entries, &pointers("/0/content", "/name"));
        let export = json!({ "type": "AIO_Agent_Export", "agents": [{ "presetMessages": entries }] });
        check(&export, &pointers("/agents/0/presetMessages/0/content", "/agents/0/name"));
        let groups = json!({ "messages": entries, "groups": [{ "id": "g" }] });
        check(&groups, &[("/presetGroups/0/id", "/groups/0/id"), ("/presetGroupsX", "/presetGroupsX")]);
    }

    #[test]
    fn entries_between_greetings_keep_their_index() {
        let entry =
            |name: &str, content: &str| json!({ "name": name, "role": "assistant", "content": content });
        let entries = json!([
            entry("Main", "a"),
            entry("First Message", "hi"),
            entry("Other", "b"),
            entry("Alternate Greeting 1", "hi"),
            entry("Last", "hi"),
        ]);
        let expected = [
            ("/presetMessages/0", "/presetMessages/0"),
            ("/presetMessages/1/content", "/presetMessages/2/content"),
            ("/presetMessages/2/content", "/presetMessages/4/content"),
            ("/presetMessages", "/presetMessages"),
        ];
        check(&json!({ "presetMessages": entries }), &expected);
    }
}
