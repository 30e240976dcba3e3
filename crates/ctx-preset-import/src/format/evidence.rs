//! What tells each format: one table, from which imports, checks and readers learn what a document is.

mod lists;
mod objects;
mod table;

pub(crate) use objects::is_profile;

use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, UserProfile};
use serde_json::{Map, Value};

use super::Format;
use lists::{Strictness, is_list_of_scripts, list_shape, messages};
use objects::{has_only, is_name_of_profile};
use table::{Evidence, FOREIGN, OWN, OWN_BEFORE_MESSAGES, Worth};

/// What a document is, and how sure that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Detected {
    /// Only this format has what the document has.
    Certain(Format),
    /// Other files may have it too; what it is.
    Guess(Format, &'static str),
    /// Nothing tells; the formats that have some of its keys, the nearest first.
    Unknown(Vec<Format>),
}

/// How many formats are named where nothing tells.
const NEAREST: usize = 3;

/// Returns what a document is for an import, which takes nothing for what it may not be; `stem` is the name of its file
/// without folders and ending.
pub(crate) fn detected(value: &Value, stem: &str) -> Detected {
    match value {
        Value::Object(map) => object(map, stem),
        Value::Array(items) => list_shape(items, Strictness::Strict)
            .map_or_else(|| Detected::Unknown(Vec::new()), Detected::Certain),
        Value::String(_) if is_name_of_profile(stem) => {
            Detected::Guess(Format::PlainText, "the name of the file")
        }
        Value::String(_) => Detected::Unknown(vec![Format::Profile]),
        _ => Detected::Unknown(Vec::new()),
    }
}

fn object(map: &Map<String, Value>, stem: &str) -> Detected {
    if let Some(format) = foreign(map).or_else(|| own(map, Strictness::Strict).map(|(format, _)| format)) {
        return Detected::Certain(format);
    }
    let guess = first(&FOREIGN, Worth::Guess, map).or_else(|| first(&OWN, Worth::Guess, map));
    if let Some((format, what)) = guess {
        return Detected::Guess(format, what);
    }
    if is_name_of_profile(stem) && is_profile(map) {
        return Detected::Guess(Format::Profile, "the name of the file");
    }
    Detected::Unknown(nearest(map))
}

/// The formats of which an object has some keys, those with the largest part of theirs first.
fn nearest(map: &Map<String, Value>) -> Vec<Format> {
    let share = |row: &Evidence| {
        let has = row.keys.iter().filter(|key| map.contains_key(**key)).count();
        (has > 0).then(|| (has * 100 / row.keys.len(), row.format))
    };
    let mut shares: Vec<(usize, Format)> = FOREIGN.iter().chain(&OWN).filter_map(share).collect();
    // Ties stay in the order of the table.
    shares.sort_by_key(|(share, _)| std::cmp::Reverse(*share));
    let mut nearest: Vec<Format> = Vec::new();
    for (_, format) in shares {
        if nearest.len() < NEAREST && !nearest.contains(&format) && Format::NAMED.contains(&format) {
            nearest.push(format);
        }
    }
    nearest
}

/// Returns what a value is, files of other applications among it, as far as one can tell.
pub(crate) fn source_format(value: &Value) -> Option<Format> {
    let Value::Object(map) = value else {
        let scripts = value.as_array().filter(|items| is_list_of_scripts(items));
        return scripts.map(|_| Format::RegexScripts).or_else(|| shape(value));
    };
    foreign(map).or_else(|| match own(map, Strictness::Loose).map(|(format, _)| format) {
        shape @ (None | Some(Format::Profile)) => {
            first(&FOREIGN, Worth::Guess, map).map(|(format, _)| format).or(shape)
        }
        shape => shape,
    })
}

/// Returns what tells that a value is what was asked for, in words; `None` if nothing else has it, or if it has nothing
/// else.
pub(super) fn weak_evidence(value: &Value, is_asked: fn(Format) -> bool) -> Option<(Format, &'static str)> {
    match detected(value, "") {
        Detected::Certain(format) if is_asked(format) => None,
        Detected::Guess(format, what) if is_asked(format) => Some((format, what)),
        _ => own_shape(value).filter(|(format, _)| is_asked(*format) && !has_only_keys_of(*format, value)),
    }
}

/// Returns whether a value has nothing but what a form of ours has.
fn has_only_keys_of(format: Format, value: &Value) -> bool {
    let known: &[&str] = match format {
        Format::Agent => Agent::KEYS,
        Format::Profile => UserProfile::KEYS,
        Format::Worldbook => Worldbook::KEYS,
        _ => return value.as_array().is_some_and(Vec::is_empty),
    };
    value.as_object().is_some_and(|map| has_only(map, known))
}

/// Returns what a value is of our own forms, for readers that are asked for one.
pub(crate) fn shape(value: &Value) -> Option<Format> {
    own_shape(value).map(|(format, _)| format)
}

fn own_shape(value: &Value) -> Option<(Format, &'static str)> {
    match value {
        Value::Object(map) => own(map, Strictness::Loose),
        Value::Array(items) => list_shape(items, Strictness::Loose)
            .map(|format| (format, "a list with keys such as `role` and `content`")),
        _ => None,
    }
}

/// Returns what another application wrote, for certain.
pub(super) fn foreign(map: &Map<String, Value>) -> Option<Format> {
    first(&FOREIGN, Worth::Certain, map).map(|(format, _)| versioned(format, map))
}

/// Returns the format of the first row of a worth that fits, and its evidence in words.
fn first(rows: &[Evidence], worth: Worth, map: &Map<String, Value>) -> Option<(Format, &'static str)> {
    let row = rows.iter().filter(|row| row.worth == worth).find(|row| (row.fits)(map))?;
    Some((row.format, row.what))
}

/// Returns which form of ours an object has, and the evidence in words; only certain evidence counts if strict.
fn own(map: &Map<String, Value>, strictness: Strictness) -> Option<(Format, &'static str)> {
    let counts = |row: &Evidence| strictness == Strictness::Loose || row.worth == Worth::Certain;
    let find = |rows: &[Evidence]| {
        let row = rows.iter().find(|row| counts(row) && (row.fits)(map))?;
        Some((row.format, row.what))
    };
    let (before, behind) = OWN.split_at(OWN_BEFORE_MESSAGES);
    let messages = || messages(map, strictness).map(|format| (format, "messages"));
    find(before).or_else(messages).or_else(|| find(behind))
}

/// Reports the version of a card by what it says of itself.
fn versioned(format: Format, map: &Map<String, Value>) -> Format {
    match (format, map.get("spec").and_then(Value::as_str)) {
        (Format::CardV1, Some("chara_card_v3")) => Format::CardV3,
        (Format::CardV1, Some(_)) => Format::CardV2,
        (Format::CardV1, None) if map.get("data").is_some_and(Value::is_object) => Format::CardV2,
        (format, _) => format,
    }
}
