//! Bodies of text completions.

use ctx_types::{Diagnostic, phrase};

use super::{check_model, refused};
use crate::codes;
use crate::json::Json;

/// The most texts at which an answer may end.
const MAX_STOPS: usize = 4;

/// Checks a body.
pub(crate) fn check(body: &Json<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    check_model(body, &mut found);
    if body.get("prompt").and_then(Json::as_str).is_none_or(|prompt| prompt.trim().is_empty()) {
        found.push(refused(codes::EMPTY_CONTENT, phrase!("the prompt is empty")).at_pointer("/prompt"));
    }
    if body.get("max_tokens").is_none_or(Json::is_null) {
        let text = phrase!("`max_tokens` is not set; some servers stop after 16 tokens");
        found.push(Diagnostic::info(codes::DIALECT_LIMIT, text).at_pointer("/max_tokens"));
    }
    let stops = body.get("stop").and_then(Json::as_list).map_or(0, <[_]>::len);
    if stops > MAX_STOPS {
        let text =
            phrase!("`stop` has {stops} strings; large providers accept {limit}", stops, limit = MAX_STOPS);
        found.push(Diagnostic::warning(codes::DIALECT_LIMIT, text).at_pointer("/stop"));
    }
    found
}
