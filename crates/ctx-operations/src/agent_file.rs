//! An agent as its file has it.

use ctx_engine::{CompiledAgent, Engine, ImportError};
use ctx_preset_import::{Document, agent_of};
use ctx_types::{Agent, Diagnostic};

use crate::origin::Origin;

/// An agent, and the way back to its file.
#[derive(Clone, Debug)]
pub struct AgentFile {
    /// The agent in its unified form.
    pub agent: Agent,
    /// What was found while reading.
    pub found: Vec<Diagnostic>,
    origin: Origin,
}

impl AgentFile {
    /// Reads an agent from bytes.
    pub fn parse(bytes: &[u8], name: &str, engine: &Engine) -> Result<Self, ImportError> {
        Self::of(Document::read(bytes, name)?, bytes, name, engine)
    }

    /// Reads an agent from the document that bytes hold.
    pub fn of(document: Document, bytes: &[u8], name: &str, engine: &Engine) -> Result<Self, ImportError> {
        let imported = agent_of(document, name, &engine.anchors)?;
        let origin = Origin::of(&imported, name, bytes);
        Ok(Self { agent: imported.value, found: imported.diagnostics, origin })
    }

    /// Returns what reading and compiling found, with pointers into the file.
    pub fn all_findings(&self, compiled: &CompiledAgent) -> Vec<Diagnostic> {
        [self.found.clone(), self.lead_back(compiled.diagnostics().to_vec())].concat()
    }

    /// Points findings about the agent's unified form into its file.
    pub fn lead_back(&self, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        self.origin.lead_back(&mut findings);
        findings
    }
}
