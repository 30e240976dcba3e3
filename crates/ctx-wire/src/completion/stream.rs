//! Reading the chunks of a streamed completion.

use serde_json::Value;

use crate::openai_chat::stream::{self, text_of};
use crate::stream::{Building, Delta};

/// Takes one chunk over into the answer; llama.cpp's own chunks have their words in `content`.
pub(crate) fn read(chunk: &Value, building: &mut Building) -> Vec<Delta> {
    let mut deltas = Vec::new();
    building.id = building.id.take().or_else(|| text_of(chunk, "id"));
    building.model = building.model.take().or_else(|| text_of(chunk, "model"));
    building.usage = stream::usage(chunk).or(building.usage);
    if let Some(choice) = chunk.pointer("/choices/0") {
        building.add_text(choice.get("text").and_then(Value::as_str).unwrap_or_default(), &mut deltas);
        building.finish = stream::finish(choice, false).or(building.finish.take());
    } else if let Some(text) = chunk.get("content").and_then(Value::as_str) {
        building.add_text(text, &mut deltas);
        if chunk.get("stop").and_then(Value::as_bool) == Some(true) {
            building.finish = Some(own_finish(chunk));
            building.is_done = true;
        }
    }
    deltas
}

/// Why an answer of llama.cpp's ended.
fn own_finish(chunk: &Value) -> crate::Finish {
    let is_cut = chunk.get("stopped_limit").and_then(Value::as_bool) == Some(true)
        || chunk.get("stop_type").and_then(Value::as_str) == Some("limit");
    if is_cut { crate::Finish::Length } else { crate::Finish::Stop }
}
