use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::loose::{loose_field, number};
use crate::message::Role;

/// The id of an entry: a text or a formatted integer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub Arc<str>);

/// Rule for secondary keys after a primary key matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SelectiveLogic {
    /// At least one secondary key must match.
    #[default]
    AndAny,
    /// At least one secondary key must be missing.
    NotAll,
    /// No secondary key may match.
    NotAny,
    /// All secondary keys must match.
    AndAll,
}

/// Place of an entry's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EntryPosition {
    /// Before the character description.
    #[default]
    BeforeCharacter,
    /// After the character description.
    AfterCharacter,
    /// Before the author's note.
    NoteTop,
    /// After the author's note.
    NoteBottom,
    /// At a depth of the conversation, set by `depth`.
    AtDepth,
    /// Before the example dialogues.
    ExamplesTop,
    /// After the example dialogues.
    ExamplesBottom,
    /// Only at the macro `{{outlet::name}}`.
    Outlet,
}

/// The role of an entry's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntryRole(pub Role);

/// The first recursion level of an entry; 0 is the initial scan, `true` is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecursionDelay(pub u32);

/// In the order of their numbers.
const LOGICS: [(&str, SelectiveLogic); 4] = [
    ("andany", SelectiveLogic::AndAny),
    ("notall", SelectiveLogic::NotAll),
    ("notany", SelectiveLogic::NotAny),
    ("andall", SelectiveLogic::AndAll),
];

/// In the order of their numbers.
const POSITIONS: [(&[&str], EntryPosition); 8] = [
    (&["beforechar", "before", "beforedesc"], EntryPosition::BeforeCharacter),
    (&["afterchar", "after", "afterdesc"], EntryPosition::AfterCharacter),
    (&["antop", "beforean"], EntryPosition::NoteTop),
    (&["anbottom", "afteran"], EntryPosition::NoteBottom),
    (&["atdepth", "depth"], EntryPosition::AtDepth),
    (&["emtop", "beforeem"], EntryPosition::ExamplesTop),
    (&["embottom", "afterem"], EntryPosition::ExamplesBottom),
    (&["outlet"], EntryPosition::Outlet),
];

/// In the order of their numbers.
const ROLES: [Role; 3] = [Role::System, Role::User, Role::Assistant];

loose_field!(
    SelectiveLogic,
    "a number from 0 to 3",
    crate::schema::numbered::<SelectiveLogic>,
    |value| place(value.as_f64()?, &LOGICS).map(|(_, logic)| *logic),
    |value| {
        let name = plain(value)?;
        let named = LOGICS.iter().find(|(known, _)| *known == name);
        named.or_else(|| place(number(value)?, &LOGICS)).map(|(_, logic)| *logic)
    },
    |logic| Value::from(LOGICS.iter().position(|(_, known)| known == logic).unwrap_or_default())
);

loose_field!(
    EntryPosition,
    "a number from 0 to 7",
    crate::schema::numbered::<EntryPosition>,
    |value| place(value.as_f64()?, &POSITIONS).map(|(_, position)| *position),
    |value| {
        let name = plain(value)?;
        let named = POSITIONS.iter().find(|(known, _)| known.contains(&name.as_str()));
        named.or_else(|| place(number(value)?, &POSITIONS)).map(|(_, position)| *position)
    },
    |position| Value::from(POSITIONS.iter().position(|(_, known)| known == position).unwrap_or_default())
);

loose_field!(
    EntryRole,
    "0, 1 or 2",
    |_| crate::schema::numbers(ROLES.map(Role::as_str)),
    |value| place(value.as_f64()?, &ROLES).copied().map(EntryRole),
    |value| {
        let named = plain(value).and_then(|name| ROLES.into_iter().find(|role| role.as_str() == name));
        named.or_else(|| place(number(value)?, &ROLES).copied()).map(EntryRole)
    },
    |role| Value::from(ROLES.iter().position(|known| *known == role.0).unwrap_or_default())
);

loose_field!(
    RecursionDelay,
    "true, false, or a level",
    |_| schemars::json_schema!({ "type": ["boolean", "number", "null"], "minimum": 0 }),
    |value| match value {
        Value::Bool(is_delayed) => Some(RecursionDelay(u32::from(*is_delayed))),
        _ => level(value.as_f64()?),
    },
    |value| level(number(value)?),
    |delay| Value::from(delay.0)
);

loose_field!(
    EntryId,
    "a whole number or a string",
    |_| schemars::json_schema!({ "type": ["string", "number", "null"] }),
    |value| match value {
        Value::String(text) => Some(EntryId(text.as_str().into())),
        Value::Number(number) => Some(EntryId(number.to_string().into())),
        _ => None,
    },
    |_| None,
    |id| id.0.parse::<i64>().map_or_else(|_| Value::from(&*id.0), Value::from)
);

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range and fraction are checked")]
fn place<T>(number: f64, items: &[T]) -> Option<&T> {
    (number >= 0.0 && number.fract() == 0.0).then(|| items.get(number as usize)).flatten()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn level(number: f64) -> Option<RecursionDelay> {
    (number >= 0.0).then_some(RecursionDelay(number as u32))
}

/// Removes differences in case, `_`, `-`, and spaces.
fn plain(value: &Value) -> Option<String> {
    let letters = value.as_str()?.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    Some(letters.map(|c| c.to_ascii_lowercase()).collect())
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for EntryPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeCharacter => "before the character",
            Self::AfterCharacter => "after the character",
            Self::NoteTop => "above the author's note",
            Self::NoteBottom => "below the author's note",
            Self::AtDepth => "at a depth",
            Self::ExamplesTop => "above the examples",
            Self::ExamplesBottom => "below the examples",
            Self::Outlet => "an outlet",
        })
    }
}
