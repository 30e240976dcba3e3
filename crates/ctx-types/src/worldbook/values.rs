use std::sync::Arc;

use serde_json::{Map, Value};

use super::loose::number;
use crate::message::Role;
use crate::persist::loose_field;

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

/// Values in the order of their numbers, with their names.
type Numbered<T, const N: usize> = [(&'static [&'static str], T); N];

const LOGICS: Numbered<SelectiveLogic, 4> = [
    (&["andany"], SelectiveLogic::AndAny),
    (&["notall"], SelectiveLogic::NotAll),
    (&["notany"], SelectiveLogic::NotAny),
    (&["andall"], SelectiveLogic::AndAll),
];

const POSITIONS: Numbered<EntryPosition, 8> = [
    (&["beforechar", "before", "beforedesc"], EntryPosition::BeforeCharacter),
    (&["afterchar", "after", "afterdesc"], EntryPosition::AfterCharacter),
    (&["antop", "beforean"], EntryPosition::NoteTop),
    (&["anbottom", "afteran"], EntryPosition::NoteBottom),
    (&["atdepth", "depth"], EntryPosition::AtDepth),
    (&["emtop", "beforeem"], EntryPosition::ExamplesTop),
    (&["embottom", "afterem"], EntryPosition::ExamplesBottom),
    (&["outlet"], EntryPosition::Outlet),
];

const ROLES: Numbered<EntryRole, 3> = [
    (&["system"], EntryRole(Role::System)),
    (&["user"], EntryRole(Role::User)),
    (&["assistant"], EntryRole(Role::Assistant)),
];

macro_rules! numbered_field {
    ($Type:ty, $values:expr, $expected:literal, $schema:expr) => {
        loose_field!(
            $Type,
            $expected,
            $schema,
            |value| at_place(value.as_f64()?, &$values),
            |value| {
                let name = plain(value)?;
                let named = $values.iter().find(|(names, _)| names.contains(&name.as_str()));
                named.map(|(_, value)| *value).or_else(|| at_place(number(value)?, &$values))
            },
            |value| Value::from(
                $values.iter().position(|(_, known)| known == value).expect("all are listed")
            )
        );
    };
}

numbered_field!(SelectiveLogic, LOGICS, "a number from 0 to 3", crate::schema::numbered::<SelectiveLogic>);
numbered_field!(EntryPosition, POSITIONS, "a number from 0 to 7", crate::schema::numbered::<EntryPosition>);
numbered_field!(EntryRole, ROLES, "0, 1 or 2", |_| crate::schema::numbers(ROLES.map(|(names, _)| names[0])));

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
fn at_place<T: Copy>(number: f64, values: &[(&[&str], T)]) -> Option<T> {
    let is_place = number >= 0.0 && number.fract() == 0.0;
    is_place.then(|| values.get(number as usize)).flatten().map(|(_, value)| *value)
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
