//! An agent as its file has it.

use std::sync::Arc;

use ctx_engine::{CompiledAgent, Engine, Format, ImportError};
use ctx_preset_import::{AgentOrigin, Document, agent_of};
use ctx_types::{Agent, Diagnostic, Edit, Fix};

/// An agent, and the way back to its file.
#[derive(Clone, Debug)]
pub struct AgentFile {
    /// The agent in its unified form.
    pub agent: Agent,
    /// What was found while reading.
    pub found: Vec<Diagnostic>,
    name: Arc<str>,
    format: Format,
    origin: AgentOrigin,
}

impl AgentFile {
    /// Reads an agent from bytes.
    pub fn parse(bytes: &[u8], name: &str, engine: &Engine) -> Result<Self, ImportError> {
        Self::of(Document::read(bytes, name)?, name, engine)
    }

    /// Reads an agent from a document.
    pub fn of(document: Document, name: &str, engine: &Engine) -> Result<Self, ImportError> {
        let (imported, origin) = agent_of(document, name, &engine.anchors)?;
        let (agent, found) = (imported.value, imported.diagnostics);
        Ok(Self { agent, found, name: name.into(), format: imported.format, origin })
    }

    /// Returns what reading and compiling found, with pointers into the file.
    pub fn all_findings(&self, compiled: &CompiledAgent) -> Vec<Diagnostic> {
        [self.found.clone(), self.lead_back(compiled.diagnostics().to_vec())].concat()
    }

    /// Points diagnostics about the agent's unified form into its file. Other diagnostics do not change.
    pub fn lead_back(&self, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let is_agent = matches!(self.format, Format::Agent | Format::AgentExport);
        for finding in &mut findings {
            // Other forms have no place for keys of an agent.
            let inserts = |fix: &mut Box<Fix>| matches!(fix.edit, Edit::Insert(_));
            finding.fix.take_if(|fix| !is_agent && inserts(fix));
            let location = &mut finding.location;
            if let (Some(pointer), None) = (&location.pointer, &location.document) {
                location.pointer = Some(self.origin.pointer(pointer));
                location.document = Some(self.name.clone());
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use ctx_preset_import::codes;
    use ctx_types::phrase;
    use serde_json::{Value, json};

    use super::*;

    /// Checks to which pointers into a file pointers into the unified form lead.
    #[track_caller]
    fn check(file: &Value, pointers: &[(&str, &str)]) {
        let bytes = file.to_string().into_bytes();
        let file = AgentFile::parse(&bytes, "a.json", &Engine::new()).unwrap();
        for (unified, expected) in pointers {
            let found =
                file.lead_back(vec![Diagnostic::info(codes::EMPTY, phrase!("")).at_pointer(*unified)]);
            assert_eq!(found[0].location.pointer.as_deref(), Some(*expected));
            assert_eq!(found[0].location.document.as_deref(), Some("a.json"));
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
