//! What a client says beside the body: which conversation is meant, and what is to be told.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use ctx_types::phrase;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::refusal::Refusal;

/// The longest name of a conversation, in bytes.
const MAX_NAME: usize = 200;

/// What the headers of a request ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// The conversation that is gone on with; the body may name it too.
    pub(crate) conversation: Option<String>,
    /// The message behind which the new ones go; the last if absent.
    pub(crate) after: Option<String>,
    /// The revision that the client has seen.
    pub(crate) revision: Option<u64>,
    /// Whether the answer tells why it was sent what was sent.
    pub(crate) explains: bool,
    /// Whether the body for the provider is answered, and nothing sent or stored.
    pub(crate) dry_run: bool,
}

impl Wishes {
    /// Reads the headers.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let revision = one(headers, "x-ctx-revision")?;
        let revision = revision.map(|text| text.parse().map_err(|_| odd("x-ctx-revision"))).transpose()?;
        Ok(Self {
            conversation: one(headers, "x-ctx-conversation")?
                .map(|name| decode_name(&name).and_then(|name| conversation(&name)))
                .transpose()?,
            after: one(headers, "x-ctx-after")?,
            revision,
            explains: flag(headers, "x-ctx-explain")?,
            dry_run: flag(headers, "x-ctx-dry-run")?,
        })
    }
}

/// Checks the name of a conversation: what it says never leads out of those of its key.
pub(crate) fn conversation(name: &str) -> Result<String, Refusal> {
    let is_fine = (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    match is_fine {
        true => Ok(name.to_owned()),
        false => Err(Refusal::malformed(phrase!(
            "the name of a conversation has 1 to {limit} bytes and no control characters",
            limit = MAX_NAME
        ))),
    }
}

/// Bytes that a header cannot carry, and `%` itself. The bytes of non-ASCII letters are always encoded.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// Writes the name of a conversation for a header.
pub(crate) fn encode_name(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}

/// Reads the name of a conversation from a header.
fn decode_name(name: &str) -> Result<String, Refusal> {
    let decoded = percent_decode_str(name).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| odd("x-ctx-conversation"))
}

/// Returns the id under which the conversation of a key is stored. No name of a key has a `/`.
pub(crate) fn stored_id(owner: &str, name: &str) -> String {
    format!("{owner}/{name}")
}

/// Returns the one value of a header.
fn one(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all(HeaderName::from_static(name)).iter();
    match (values.next().map(|value| value.to_str()), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(text)), None) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        _ => Err(odd(name)),
    }
}

fn flag(headers: &HeaderMap, name: &'static str) -> Result<bool, Refusal> {
    match one(headers, name)?.as_deref() {
        None | Some("0" | "false") => Ok(false),
        Some("1" | "true") => Ok(true),
        Some(_) => Err(odd(name)),
    }
}

fn odd(name: &str) -> Refusal {
    Refusal::malformed(phrase!("the header `{name}` cannot be read", name)).at(name)
}
