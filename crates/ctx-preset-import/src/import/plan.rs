//! The documents that are used if several have the same purpose. This is decided before the conversion.

use std::collections::BTreeMap;

use ctx_types::{Agent, UserProfile};
use serde_json::Value;

use super::Importer;
use super::documents::SourceDocument;
use crate::document::{Syntax, decode_with_limits};
use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Moves};
use crate::{agent, profile};

/// Notes for fields of documents that are not used.
pub(super) const AGENT_COUNTS: &str = "a complete agent is imported too";
pub(super) const FIRST_COUNTS: &str = "another file of this type is imported already";
const PRESET_COUNTS: &str = "set by the imported chat completion preset";
const FILE_COUNTS: &str = "set by a separately imported file";

/// The used documents, by their numbers.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) agent: Option<usize>,
    pub(super) profile: Option<usize>,
    pub(super) read_agent: Option<(Imported<Agent>, Moves)>,
    pub(super) read_profile: Option<Imported<UserProfile>>,
    /// Why agents and profiles cannot be read.
    pub(super) errors: BTreeMap<usize, ImportError>,
    /// The first document of each kind.
    first: Vec<(Format, usize)>,
}

impl Plan {
    /// Chooses the first document of each kind.
    pub(super) fn new(documents: &[SourceDocument], importer: &Importer) -> Self {
        let mut plan = Self::default();
        for (number, document) in documents.iter().enumerate() {
            let Some(format) = document.format else { continue };
            if document.value.is_object() && plan.first(format).is_none() {
                plan.first.push((kind(format), number));
            }
            if is_agent(format) && plan.agent.is_none() {
                let read = agent::read_value(document.value.clone(), &importer.anchors);
                plan.read_agent = read.map_err(|error| plan.errors.insert(number, error)).ok();
                plan.agent = plan.read_agent.as_ref().map(|_| number);
            } else if is_profile(format) && plan.profile.is_none() {
                let read = read_profile(document, importer);
                plan.read_profile = read.map_err(|error| plan.errors.insert(number, error)).ok();
                plan.profile = plan.read_profile.as_ref().map(|_| number);
            }
        }
        plan
    }

    /// Returns the first document of the kind of a format.
    pub(super) fn first(&self, format: Format) -> Option<usize> {
        self.first.iter().find(|(known, _)| *known == kind(format)).map(|(_, number)| *number)
    }

    /// Returns why the fields of a template or a preset are only kept, if another document is used.
    pub(super) fn superseded(&self, number: usize, format: Format) -> Option<&'static str> {
        let is_preset = matches!(format, Format::ContextTemplate | Format::TextPreset | Format::RisuPreset);
        if !is_preset && !matches!(format, Format::InstructTemplate | Format::MasterExport) {
            return None;
        }
        match format {
            _ if self.first(format).is_some_and(|first| first != number) => Some(FIRST_COUNTS),
            _ if !is_preset => None,
            _ if self.agent.is_some() => Some(AGENT_COUNTS),
            _ if self.first(Format::ChatPreset).is_some() => Some(PRESET_COUNTS),
            Format::RisuPreset => None,
            _ => self.first(Format::RisuPreset).map(|_| "set by the imported RisuAI preset"),
        }
    }

    /// Returns why a part of a master export is only kept, if another document is used.
    pub(super) fn superseded_part(&self, format: Format) -> Option<&'static str> {
        let is_template =
            matches!(format, Format::InstructTemplate | Format::ContextTemplate | Format::TextPreset);
        let file = self.first(format).filter(|_| is_template);
        file.map_or_else(|| self.superseded(usize::MAX, format), |_| Some(FILE_COUNTS))
    }
}

/// Returns one format for all formats of a kind.
const fn kind(format: Format) -> Format {
    match format {
        Format::PromptExport => Format::ChatPreset,
        format if format.is_card() => Format::CardV2,
        format => format,
    }
}

pub(super) const fn is_agent(format: Format) -> bool {
    matches!(format, Format::Agent | Format::AgentExport | Format::PresetFile | Format::PresetList)
}

pub(super) const fn is_profile(format: Format) -> bool {
    matches!(format, Format::Profile | Format::PlainText)
}

fn read_profile(
    document: &SourceDocument,
    importer: &Importer,
) -> Result<Imported<UserProfile>, ImportError> {
    match &document.value {
        value @ Value::Object(_) => Ok(profile::read_value(value.clone())),
        _ if document.syntax == Syntax::Yaml => {
            let text = decode_with_limits(&document.text, &importer.limits)?;
            Ok(profile::read_text(&text, &document.name))
        }
        value => Err(profile::unknown_shape(value)),
    }
}
