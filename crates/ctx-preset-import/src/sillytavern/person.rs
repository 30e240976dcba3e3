//! The person who chats: personas, and what `settings.json` says of the one in use.

use serde_json::{Map, Value};

use super::role_of_number;
use crate::loose::{Object, object, said, text, whole};

/// A persona: its name, what it says, and where that goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Persona {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) place: PersonaPlace,
    pub(crate) book: Option<String>,
}

/// Where the description of a persona goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PersonaPlace {
    /// At its marker.
    #[default]
    Marker,
    /// Above the author's note.
    NoteTop,
    /// Below it.
    NoteBottom,
    /// At a depth of the conversation.
    Depth { depth: i64, role: &'static str },
    /// Nowhere.
    Nowhere,
}

impl PersonaPlace {
    fn of(position: Option<i64>, depth: Option<i64>, role: Option<i64>) -> Self {
        match position {
            Some(2) => Self::NoteTop,
            Some(3) => Self::NoteBottom,
            Some(4) => Self::Depth { depth: depth.unwrap_or(2).max(0), role: role_of_number(role) },
            Some(9) => Self::Nowhere,
            _ => Self::Marker,
        }
    }
}

impl Persona {
    /// Reads the persona in use of a backup of personas, or of the settings that hold them: the chosen one, else
    /// the default one, else the first.
    pub(crate) fn of(file: &Object) -> Option<Self> {
        let power = object(file, "power_user").unwrap_or(file);
        let empty = Map::new();
        let names = object(power, "personas").unwrap_or(&empty);
        let described = object(power, "persona_descriptions").unwrap_or(&empty);
        let avatar = Self::avatar(file);
        let name = avatar.and_then(|id| text(names, id)).or_else(|| said(file, "username"));
        let entry = avatar.and_then(|id| object(described, id));
        let own = |key: &str| entry.and_then(|entry| whole(entry, key));
        let global = |key: &str| whole(power, key);
        let description = entry.and_then(|entry| text(entry, "description"));
        let description = description.or_else(|| text(power, "persona_description"));
        if name.is_none() && description.is_none() {
            return None;
        }
        Some(Self {
            name: name.map(str::to_owned),
            description: description.filter(|text| !text.is_empty()).map(str::to_owned),
            place: PersonaPlace::of(
                own("position").or_else(|| global("persona_description_position")),
                own("depth").or_else(|| global("persona_description_depth")),
                own("role").or_else(|| global("persona_description_role")),
            ),
            book: entry.and_then(|entry| said(entry, "lorebook")).map(str::to_owned),
        })
    }

    /// Returns the picture by which the persona in use is known.
    pub(crate) fn avatar(file: &Object) -> Option<&str> {
        let power = object(file, "power_user").unwrap_or(file);
        let names = object(power, "personas")?;
        let chosen = text(file, "user_avatar").or_else(|| text(power, "default_persona"));
        chosen.filter(|id| names.contains_key(*id)).or_else(|| names.keys().next().map(String::as_str))
    }

    /// Returns the user profile of the persona.
    pub(crate) fn profile(&self) -> Object {
        let mut profile = Object::new();
        let fields = [("name", &self.name), ("content", &self.description)];
        profile.extend(
            fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::from(value.clone()?)))),
        );
        profile.extend(self.book.as_ref().map(|book| ("worldbookIds".to_owned(), serde_json::json!([book]))));
        profile
    }
}
