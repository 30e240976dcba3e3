//! Sessions in two halves, as AIO Hub keeps them in memory: `{index, detail}`.

use ctx_types::internal::{Argument, Divider, excerpt, pointer_step};
use ctx_types::session::Session;
use ctx_types::{Diagnostic, Persist, Reader, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::conversation::linear::kept_at;
use crate::format::Format;
use crate::imported::{Imported, Moved, relocate};
use crate::kept;

/// Joins the halves and reads the session; where they disagree, the half with the messages counts. Adds where in the
/// file something stands that is kept elsewhere, and where in the session that is.
pub(super) fn read(mut file: Map<String, Value>, kept: &mut Vec<(String, String)>) -> Imported<Session> {
    let detail = take_object(&mut file, "detail");
    let index = take_object(&mut file, "index");
    let news = index.into_iter().filter(|(key, value)| detail.get(key) != Some(value));
    let (differing, mut flat): (Map<_, _>, Map<_, _>) = news.partition(|(key, _)| detail.contains_key(key));
    let from_index: Vec<String> = flat.keys().cloned().collect();
    flat.extend(detail);
    let (mut aside, around): (Map<_, _>, Map<_, _>) =
        file.into_iter().partition(|(key, _)| flat.contains_key(key));
    let place = match kept::IMPORTED {
        key if around.contains_key(key) => "",
        key if from_index.iter().any(|moved| moved == key) => "/index",
        _ => "/detail",
    };
    flat.extend(around);
    kept.extend(aside.keys().map(|key| kept_at("", key)));
    let of_index = |key| format!("/imported/index/{}", pointer_step(key));
    kept.extend(differing.keys().map(|key| (kept_at("/index", key).0, of_index(key))));
    let found = disagreement(&differing);
    if !differing.is_empty() {
        aside.insert("index".to_owned(), Value::Object(differing));
    }
    if kept::add(&mut flat, aside) {
        kept.push(kept_at(place, kept::IMPORTED));
    }
    join(flat, &from_index, found)
}

/// Takes an object out of the file; what is none stays.
fn take_object(file: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    if !file.get(key).is_some_and(Value::is_object) {
        return Map::new();
    }
    match file.shift_remove(key) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// Reads the joined session; `from_index` names the keys that the index brought.
fn join(flat: Map<String, Value>, from_index: &[String], found: Option<Diagnostic>) -> Imported<Session> {
    let mut reader = Reader::new();
    let session = Session::read(Value::Object(flat), &mut reader);
    let mut diagnostics = reader.finish();
    let name = |key: &str| from_index.iter().any(|moved| moved == key);
    let mut moves = Vec::new();
    if name("id") {
        moves.push(Moved { ours: "/id", theirs: "/index/id" });
    }
    if name("name") {
        moves.push(Moved { ours: "/name", theirs: "/index/name" });
    }
    moves.push(Moved { ours: "", theirs: "/detail" });
    relocate(&mut diagnostics, &moves);
    let diagnostics = found.into_iter().chain(diagnostics).collect();
    Imported { value: session, format: Format::SessionHalves, diagnostics }
}

/// How many keys on which the halves disagree are named.
const SHOWN_KEYS: usize = 8;

fn disagreement(differing: &Map<String, Value>) -> Option<Diagnostic> {
    // The times of the last change differ as a rule.
    let mut keys = differing.keys().filter(|key| *key != "updatedAt");
    let shown: Vec<_> = keys.by_ref().take(SHOWN_KEYS).map(|key| excerpt(key)).collect();
    if shown.is_empty() {
        return None;
    }
    let shown = Argument::names(shown, Divider::Comma);
    let message = if keys.next().is_some() {
        phrase!("index and detail differ in {shown} and more; the detail is used", shown)
    } else {
        phrase!("index and detail differ in {shown}; the detail is used", shown)
    };
    let help = phrase!("compare the values of the index, kept under `imported`");
    Some(Diagnostic::warning(codes::SESSION_HALVES, message).at_pointer("/index").with_help(help))
}
