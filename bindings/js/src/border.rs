//! The border: two buffers, into which JavaScript writes what it gives, and from which it reads what it gets.
//!
//! Nothing is read through a pointer here: JavaScript alone touches memory by its address, in buffers that stand still
//! meanwhile. Texts are UTF-8.

use std::cell::RefCell;

use ctx_operations::{OperationError, Role, Text};
use serde_json::{Map, Value};

thread_local! {
    static GIVEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What a function of the package returns to JavaScript where it failed; the error is the answer.
const FAILED: i32 = -1;

/// Makes room for what JavaScript gives next, and tells where it is to be written.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn give(length: usize) -> *mut u8 {
    GIVEN.with_borrow_mut(|given| {
        // What was given before is used up. It goes first, so that two large ones are never there at once.
        *given = Vec::new();
        *given = vec![0; length];
        given.as_mut_ptr()
    })
}

/// Tells where the answer is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer_at() -> *const u8 {
    ANSWER.with_borrow(Vec::as_ptr)
}

/// Tells how many bytes the answer has.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer_length() -> usize {
    ANSWER.with_borrow(Vec::len)
}

/// Takes what JavaScript gave.
pub(crate) fn given() -> Vec<u8> {
    GIVEN.take()
}

/// Puts the answer where JavaScript reads it.
pub(crate) fn put(answer: String) {
    ANSWER.set(answer.into_bytes());
}

/// Takes a JSON text that JavaScript gave.
pub(crate) fn value(bytes: &[u8]) -> Result<Value, OperationError> {
    serde_json::from_slice(bytes).map_err(OperationError::usage)
}

/// Takes messages that have nothing but a role and a text, so many texts with NUL between any two; none if NUL is in one.
pub(crate) fn plain_messages(
    bytes: &[u8],
    count: usize,
) -> Result<Option<Vec<(Role, Text)>>, OperationError> {
    let mut texts = str::from_utf8(bytes).map_err(OperationError::usage)?.split('\0');
    let mut messages = Vec::new();
    while let Some(role) = texts.next() {
        // What NUL cuts a text into is no role, or has none before it.
        let Some((role, text)) = Role::parse(role).zip(texts.next()) else { return Ok(None) };
        messages.push((role, Text::from(text)));
    }
    Ok((messages.len() * 2 == count).then_some(messages))
}

/// Takes options that JavaScript gave.
pub(crate) fn options() -> Result<Map<String, Value>, OperationError> {
    match value(&given())? {
        Value::Object(options) => Ok(options),
        _ => Err(OperationError::usage("options are an object")),
    }
}

/// Returns what a function returns: a number, or [`FAILED`] with the error as the answer.
pub(crate) fn number(result: Result<i32, OperationError>) -> i32 {
    result.unwrap_or_else(|error| {
        put(serde_json::to_string(&error).unwrap_or_default());
        FAILED
    })
}

/// Returns that the answer is there, or why it is not.
pub(crate) fn answer(result: Result<Value, OperationError>) -> i32 {
    number(result.map(|value| {
        put(value.to_string());
        0
    }))
}
