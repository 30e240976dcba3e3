//! The anchors that presets may use, as a value.

use std::sync::Arc;

use ctx_types::{CHAT_HISTORY, Text, anchor_id};

/// What is known about an anchor, independent of any preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorDefinition {
    /// The id; an entry of this `type` declares the anchor in its preset.
    pub id: Arc<str>,
    /// The name shown to people.
    pub name: Arc<str>,
    /// What belongs there, for people.
    pub description: Arc<str>,
    /// Whether it is built in and cannot be unregistered.
    pub is_system: bool,
    /// Whether the entry's own content is sent; otherwise the entry only marks a place.
    pub has_template: bool,
    /// The content that a new entry of this type begins with.
    pub default_template: Option<Text>,
}

/// The anchors that presets may use.
///
/// A value, not a global: an application makes one, registers its own anchors, and compiles agents with it.
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

/// Why an anchor cannot be registered or unregistered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// An anchor with this id exists.
    #[error("anchor `{id}` is registered already")]
    Duplicate {
        /// The id.
        id: Arc<str>,
    },
    /// The id is one that entries use for something else, or one that no entry can name.
    #[error("`{id}` cannot be the id of an anchor")]
    Reserved {
        /// The id.
        id: Arc<str>,
    },
    /// The anchor is built in.
    #[error("anchor `{id}` is built in and cannot be unregistered")]
    System {
        /// The id.
        id: Arc<str>,
    },
    /// No anchor has this id.
    #[error("unknown anchor `{id}`")]
    Unknown {
        /// The id.
        id: Arc<str>,
    },
}

impl AnchorRegistry {
    /// Returns the built-in anchors.
    ///
    /// `chat_history` and `user_profile` are those of seeds 000 and 001; the others keep the places of
    /// imported SillyTavern presets.
    pub fn system() -> Self {
        let definitions = SYSTEM_ANCHORS.iter().map(SystemAnchor::definition).collect();
        Self { definitions }
    }

    /// Returns the definition of an anchor.
    pub fn get(&self, id: &str) -> Option<&AnchorDefinition> {
        self.definitions.iter().find(|definition| &*definition.id == id)
    }

    /// Returns all definitions, built-in ones first, then in the order of registration.
    pub fn definitions(&self) -> &[AnchorDefinition] {
        &self.definitions
    }

    /// Adds an anchor.
    ///
    /// Refused are ids that are registered, that entries use for something else, and that no target can spell:
    /// with white space around them.
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

    /// Removes an anchor that is not built in and returns its definition.
    pub fn unregister(&mut self, id: &str) -> Result<AnchorDefinition, RegistryError> {
        let found = self.definitions.iter().position(|definition| &*definition.id == id);
        let index = found.ok_or_else(|| RegistryError::Unknown { id: Arc::from(id) })?;
        if self.definitions.get(index).is_some_and(|definition| definition.is_system) {
            return Err(RegistryError::System { id: Arc::from(id) });
        }
        Ok(self.definitions.remove(index))
    }
}

/// One row of the built-in table.
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
        // Seed 001 §2.3: a heading with the user's name, a blank line, the persona.
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
