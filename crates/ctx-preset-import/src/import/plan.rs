//! The documents that are used if several have the same purpose. This is decided before the conversion.

use ctx_types::{Agent, UserProfile};
use serde_json::Value;

use super::Importer;
use super::documents::SourceDocument;
use crate::format::Format;
use crate::imported::{Imported, Moves};
use crate::{agent, profile};

/// Notes for fields of documents that are not used.
pub(super) const AGENT_COUNTS: &str = "a complete agent is imported too";
pub(super) const FIRST_COUNTS: &str = "another file of this type is imported already";
const PRESET_COUNTS: &str = "set by the imported chat completion preset";
const RISU_COUNTS: &str = "set by the imported RisuAI preset";
const FILE_COUNTS: &str = "set by a separately imported file";

/// The used documents, by their numbers.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) agent: Option<ReadAgent>,
    pub(super) profile: Option<ReadProfile>,
    pub(super) card: Option<usize>,
    /// A chat completion preset, or an export of prompts.
    pub(super) preset: Option<usize>,
    pub(super) settings: Option<usize>,
    pub(super) system_prompt: Option<usize>,
    risu_preset: Option<usize>,
    instruct: Option<usize>,
    context: Option<usize>,
    samplers: Option<usize>,
    master: Option<usize>,
}

/// The used agent.
pub(super) struct ReadAgent {
    pub(super) document: usize,
    pub(super) imported: Imported<Agent>,
    pub(super) moves: Moves,
}

/// The used profile.
pub(super) struct ReadProfile {
    pub(super) document: usize,
    pub(super) imported: Imported<UserProfile>,
}

impl Plan {
    /// Chooses the first document of each kind.
    pub(super) fn new(documents: &[SourceDocument], importer: &Importer) -> Self {
        let first = |is_wanted: &dyn Fn(Format) -> bool| {
            documents
                .iter()
                .position(|document| document.value.is_object() && document.format.is_some_and(is_wanted))
        };
        let first_of = |wanted: Format| first(&|format| format == wanted);
        let mut plan = Self {
            card: first(&Format::is_card),
            preset: first(&|format| matches!(format, Format::ChatPreset | Format::PromptExport)),
            settings: first_of(Format::Settings),
            system_prompt: first_of(Format::SystemPrompt),
            risu_preset: first_of(Format::RisuPreset),
            instruct: first_of(Format::InstructTemplate),
            context: first_of(Format::ContextTemplate),
            samplers: first_of(Format::TextPreset),
            master: first_of(Format::MasterExport),
            ..Self::default()
        };
        for (number, document) in documents.iter().enumerate() {
            let Some(format) = document.format else { continue };
            if is_agent(format) && plan.agent.is_none() {
                let read = agent::read_value(document.value.clone(), &importer.anchors).ok();
                plan.agent = read.map(|(imported, moves)| ReadAgent { document: number, imported, moves });
            } else if is_profile(format) && plan.profile.is_none() {
                let read = read_profile(document, importer).ok();
                plan.profile = read.map(|imported| ReadProfile { document: number, imported });
            }
        }
        plan
    }

    /// Returns why the fields of a document are only kept, if another document is used.
    pub(super) fn superseded(&self, number: usize, format: Format) -> Option<&'static str> {
        let first = match format {
            Format::InstructTemplate => self.instruct,
            Format::ContextTemplate => self.context,
            Format::TextPreset => self.samplers,
            Format::MasterExport => self.master,
            Format::RisuPreset => self.risu_preset,
            _ => return None,
        };
        match format {
            _ if first.is_some_and(|first| first != number) => Some(FIRST_COUNTS),
            Format::InstructTemplate | Format::MasterExport => None,
            _ if self.agent.is_some() => Some(AGENT_COUNTS),
            _ if self.preset.is_some() => Some(PRESET_COUNTS),
            Format::RisuPreset => None,
            _ => self.risu_preset.map(|_| RISU_COUNTS),
        }
    }

    /// Returns why a part of a master export is only kept, if another document is used.
    pub(super) fn superseded_part(&self, format: Format) -> Option<&'static str> {
        let file = match format {
            Format::InstructTemplate => self.instruct,
            Format::ContextTemplate => self.context,
            Format::TextPreset => self.samplers,
            _ => return None,
        };
        file.map(|_| FILE_COUNTS).or_else(|| self.superseded(usize::MAX, format))
    }
}

pub(super) const fn is_agent(format: Format) -> bool {
    matches!(format, Format::Agent | Format::AgentExport | Format::PresetFile | Format::PresetList)
}

pub(super) const fn is_profile(format: Format) -> bool {
    matches!(format, Format::Profile | Format::PlainText)
}

pub(super) fn read_profile(
    document: &SourceDocument,
    importer: &Importer,
) -> Result<Imported<UserProfile>, crate::ImportError> {
    match &document.value {
        Value::Object(_) => Ok(profile::read_value(document.value.clone())),
        _ => profile::read_profile(&document.text, &document.name, &importer.limits),
    }
}
