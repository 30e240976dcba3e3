use std::sync::Arc;

use ctx_types::{CHAT_HISTORY, Text, anchor_id};

/// Definition of an anchor, independent of a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorDefinition {
    /// Id. An entry with this `type` declares the anchor.
    pub id: Arc<str>,
    /// Display name.
    pub name: Arc<str>,
    /// Display description.
    pub description: Arc<str>,
    /// Built-in; cannot be unregistered.
    pub is_system: bool,
    /// Whether the entry's own content is sent.
    pub has_template: bool,
    /// Initial content of a new entry.
    pub default_template: Option<Text>,
}

/// Anchors available to presets.
///
/// ```
/// use ctx_anchors::{AnchorDefinition, AnchorRegistry};
///
/// let mut registry = AnchorRegistry::system();
/// registry.register(AnchorDefinition {
///     id: "weather".into(),
///     name: "Weather".into(),
///     description: "What the sky looks like".into(),
///     is_system: false,
///     has_template: true,
///     default_template: Some("## Weather".into()),
/// })?;
/// assert!(registry.get("weather").is_some());
/// assert!(registry.unregister("chat_history").is_err());
/// # Ok::<(), ctx_anchors::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorRegistry {
    definitions: Vec<AnchorDefinition>,
}

/// Reason why an anchor cannot be registered or unregistered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The id is already registered.
    #[error("anchor `{id}` is registered already")]
    Duplicate {
        /// Id.
        id: Arc<str>,
    },
    /// The id has another meaning in entries, or cannot be a target.
    #[error("`{id}` cannot be the id of an anchor")]
    Reserved {
        /// Id.
        id: Arc<str>,
    },
    /// The anchor is built-in.
    #[error("anchor `{id}` is built in and cannot be unregistered")]
    System {
        /// Id.
        id: Arc<str>,
    },
    /// The id is not registered.
    #[error("unknown anchor `{id}`")]
    Unknown {
        /// Id.
        id: Arc<str>,
    },
}

impl AnchorRegistry {
    /// Returns the built-in anchors.
    ///
    /// All except `chat_history` and `user_profile` are positions in SillyTavern presets.
    pub fn system() -> Self {
        let definitions = SYSTEM_ANCHORS.iter().map(SystemAnchor::definition).collect();
        Self { definitions }
    }

    /// Returns the definition of an anchor.
    pub fn get(&self, id: &str) -> Option<&AnchorDefinition> {
        self.definitions.iter().find(|definition| &*definition.id == id)
    }

    /// Returns all definitions: built-in ones, then others in registration order.
    pub fn definitions(&self) -> &[AnchorDefinition] {
        &self.definitions
    }

    /// Adds an anchor.
    ///
    /// Rejects ids that are registered, have another meaning in entries, or have surrounding white space.
    pub fn register(&mut self, definition: AnchorDefinition) -> Result<(), RegistryError> {
        let id = definition.id.clone();
        if matches!(&*id, "message" | "placeholder") || anchor_id(&id) != &*id {
            return Err(RegistryError::Reserved { id });
        }
        if self.get(&id).is_some() {
            return Err(RegistryError::Duplicate { id });
        }
        self.definitions.push(definition);
        Ok(())
    }

    /// Removes an anchor that is not built-in and returns its definition.
    pub fn unregister(&mut self, id: &str) -> Result<AnchorDefinition, RegistryError> {
        let found = self.definitions.iter().position(|definition| &*definition.id == id);
        let index = found.ok_or_else(|| RegistryError::Unknown { id: Arc::from(id) })?;
        if self.definitions[index].is_system {
            return Err(RegistryError::System { id: Arc::from(id) });
        }
        Ok(self.definitions.remove(index))
    }
}

struct SystemAnchor {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    template: Option<&'static str>,
}

impl SystemAnchor {
    fn definition(&self) -> AnchorDefinition {
        AnchorDefinition {
            id: self.id.into(),
            name: self.name.into(),
            description: self.description.into(),
            is_system: true,
            has_template: self.template.is_some(),
            default_template: self.template.map(Text::from),
        }
    }
}

const SYSTEM_ANCHORS: &[SystemAnchor] = &[
    SystemAnchor {
        id: CHAT_HISTORY,
        name: "Chat history",
        description: "Position of the conversation's messages",
        template: None,
    },
    SystemAnchor {
        id: "user_profile",
        name: "User profile",
        description: "User profile; its content is a template",
        // Heading with the user's name, blank line, persona.
        template: Some("### {{user}}的档案\n\n{{persona}}"),
    },
    SystemAnchor {
        id: "world_info_before",
        name: "World Info (before)",
        description: "Position of worldbook entries before the character",
        template: None,
    },
    SystemAnchor {
        id: "world_info_after",
        name: "World Info (after)",
        description: "Position of worldbook entries after the character",
        template: None,
    },
    SystemAnchor {
        id: "char_description",
        name: "Character description",
        description: "Character's description; its content is a template",
        template: Some("{{description}}"),
    },
    SystemAnchor {
        id: "char_personality",
        name: "Character personality",
        description: "Character's personality; its content is a template",
        template: Some("{{personality}}"),
    },
    SystemAnchor {
        id: "scenario",
        name: "Scenario",
        description: "Scenario; its content is a template",
        template: Some("{{scenario}}"),
    },
    SystemAnchor {
        id: "dialogue_examples",
        name: "Dialogue examples",
        description: "Position of the dialogue examples",
        template: None,
    },
    SystemAnchor {
        id: "author_note",
        name: "Author's note",
        description: "Position of the author's note and the worldbook entries around it",
        template: None,
    },
];
