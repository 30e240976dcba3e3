//! The person who chats: personas, and what `settings.json` says of the one in use.

use ctx_types::{Text, UserProfile};

use super::role_of_number;
use crate::report::NOT_READ;
use crate::source::Source;

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
    #[default]
    Marker,
    NoteTop,
    NoteBottom,
    Depth {
        depth: i64,
        role: &'static str,
    },
    Nowhere,
}

const ANOTHER: &str = "not the active persona";
const CHOSEN: &str = "the imported persona";
const ITS_OWN: &str = "set by the active persona";

impl PersonaPlace {
    /// Takes the place that the persona in use has of its own, or else the general one, field by field.
    fn take(own: Source<'_>, power: Source<'_>) -> Self {
        let fields = ["position", "depth", "role"]
            .map(|key| (own.at(key), power.at(&format!("persona_description_{key}"))));
        let [position, depth, role] =
            fields.map(|(own, general)| own.as_whole().or_else(|| general.as_whole()));
        for (at, (own, general)) in fields.into_iter().enumerate() {
            let is_used = at == 0 || position == Some(4);
            let take = |field: Source<'_>| {
                let read = match at {
                    0 => field.among(&[0, 1, 2, 3, 4, 9]),
                    1 => field.whole(0),
                    _ => field.among(&[0, 1, 2]),
                };
                // The entries of the agent have the position of a persona.
                read.into("/presetMessages");
            };
            if is_used {
                take(own);
            } else {
                own.keep("the persona has no depth");
            }
            if is_used && own.as_whole().is_none() {
                take(general);
            } else {
                general.keep(ITS_OWN);
            }
        }
        match position {
            Some(2) => Self::NoteTop,
            Some(3) => Self::NoteBottom,
            Some(4) => Self::Depth { depth: depth.unwrap_or(2).max(0), role: role_of_number(role) },
            Some(9) => Self::Nowhere,
            _ => Self::Marker,
        }
    }
}

/// Returns what is said of the persona in use; all that is said of others is kept.
fn in_use<'v>(all: Source<'v>, avatar: Option<&str>) -> Source<'v> {
    let all = all.with_names();
    let own = avatar.map(|avatar| all.field(avatar)).unwrap_or_default();
    if all.fields().next().is_none() {
        all.keep(ANOTHER);
    }
    all.fields().filter(|(id, _)| Some(*id) != avatar).for_each(|(_, other)| other.keep(ANOTHER));
    if own.object().is_none() {
        own.keep(ANOTHER);
    }
    own
}

impl Persona {
    /// Takes the persona in use of a backup of personas, or of the settings that hold them: the chosen one, else
    /// the default one, else the first.
    pub(crate) fn take(file: Source<'_>) -> Option<Self> {
        let power = power_user(file);
        let avatar = Self::avatar(file, power);
        file.at("user_avatar").any().approximated(CHOSEN).into("/profile");
        power.at("default_persona").any().approximated(CHOSEN).into("/profile");
        let named = in_use(power.at("personas"), avatar);
        let own = in_use(power.at("persona_descriptions"), avatar);
        let name = take_text(named, file.at("username"), "/profile/name");
        let name = name.filter(|name| named.as_str().is_some() || !name.trim().is_empty());
        if named.as_str().is_none() {
            named.keep(NOT_READ);
        }
        let description = own.at("description");
        let description = take_text(description, power.at("persona_description"), "/profile/content");
        let place = PersonaPlace::take(own, power);
        let book = own.at("lorebook").text().into("/profile/worldbookIds");
        if name.is_none() && description.is_none() {
            for (_, field) in own.fields() {
                field.keep("the persona has no name and no description");
            }
            return None;
        }
        Some(Self {
            name: name.map(str::to_owned),
            description: description.filter(|text| !text.is_empty()).map(str::to_owned),
            place,
            book: book.filter(|book| !book.trim().is_empty()).map(str::to_owned),
        })
    }

    /// Returns the picture by which the persona in use is known.
    fn avatar<'v>(file: Source<'v>, power: Source<'v>) -> Option<&'v str> {
        let names = power.at("personas").object()?;
        let chosen = file.at("user_avatar").as_str().or_else(|| power.at("default_persona").as_str());
        chosen.filter(|id| names.contains_key(*id)).or_else(|| names.keys().next().map(String::as_str))
    }

    pub(crate) fn profile(&self) -> UserProfile {
        UserProfile {
            name: self.name.as_deref().map(Into::into),
            content: self.description.as_deref().map(Text::from),
            worldbook_ids: self.book.iter().map(|book| book.as_str().into()).collect(),
            ..UserProfile::default()
        }
    }
}

/// Takes a text of the persona in use. If it is missing, takes the general text.
fn take_text<'v>(own: Source<'v>, general: Source<'v>, to: &'static str) -> Option<&'v str> {
    let text = own.text().into(to);
    if text.is_none() {
        return general.text().into(to);
    }
    general.keep(ITS_OWN);
    text
}

/// Explains why name and text of personas are only kept: a profile of another file is used.
pub(crate) fn keep_profile(file: Source<'_>, note: &'static str) {
    let power = power_user(file);
    for key in ["username", "user_avatar"] {
        file.at(key).keep(note);
    }
    for key in ["default_persona", "persona_description"] {
        power.at(key).keep(note);
    }
    power.at("personas").children().for_each(|name| name.keep(note));
    for own in power.at("persona_descriptions").children() {
        own.at("description").keep(note);
        own.at("lorebook").keep(note);
    }
}

/// Explains why the position of personas is only kept.
pub(crate) fn keep_place(file: Source<'_>, note: &'static str) {
    for own in power_user(file).at("persona_descriptions").children() {
        for key in ["position", "depth", "role"] {
            own.at(key).keep(note);
        }
    }
}

/// Explains why all fields of personas in settings are only kept: a persona of another file is used.
pub(crate) fn keep_all(file: Source<'_>, note: &'static str) {
    let power = power_user(file);
    let of_persona =
        power.fields().filter(|(key, _)| key.starts_with("persona") || *key == "default_persona");
    of_persona.for_each(|(_, field)| field.keep(note));
    for key in ["username", "user_avatar"] {
        file.at(key).keep(note);
    }
}

/// Returns the object that has the personas: the file itself in a backup of personas.
fn power_user(file: Source<'_>) -> Source<'_> {
    Some(file.at("power_user")).filter(|power| power.object().is_some()).unwrap_or(file)
}
