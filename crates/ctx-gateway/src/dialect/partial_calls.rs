//! Streaming tool calls. If the API dialect has one open part at a time, the next part waits for the end of a call.

use ctx_types::ToolCall;
use ctx_wire::Dialect;

use super::{Part, StreamWriter};

/// Stored arguments of a call without arguments.
const NO_ARGUMENTS: &str = "{}";

/// A tool call that may be incomplete.
#[derive(Debug, Default)]
pub(super) struct PartialCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Index among the parts of the response, after the call was sent to the client.
    pub(super) place: Option<usize>,
    progress: JsonProgress,
}

/// Parse position in a JSON object. Only whitespace can follow its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum JsonProgress {
    #[default]
    Blank,
    /// Inside this number of braces.
    Object(usize),
    /// Inside a string there, and after a backslash in it.
    Text(usize),
    Escape(usize),
    Ended,
    /// Not an object, so its end is unknown.
    Other,
}

impl JsonProgress {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Blank, b'{') => Self::Object(1),
            (Self::Blank, byte) if byte.is_ascii_whitespace() => Self::Blank,
            (Self::Blank, _) => Self::Other,
            (Self::Object(1), b'}') => Self::Ended,
            (Self::Object(depth), b'}') => Self::Object(depth - 1),
            (Self::Object(depth), b'{') => Self::Object(depth + 1),
            (Self::Object(depth), b'"') | (Self::Escape(depth), _) => Self::Text(depth),
            (Self::Text(depth), b'"') => Self::Object(depth),
            (Self::Text(depth), b'\\') => Self::Escape(depth),
            (other, _) => other,
        }
    }
}

impl PartialCall {
    fn new(id: &str, name: &str) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), ..Self::default() }
    }

    fn add(&mut self, text: &str) {
        self.arguments += text;
        self.progress = text.bytes().fold(self.progress, JsonProgress::after);
    }

    /// Returns the end of the complete arguments that no chunk contained. Blank arguments become an empty object.
    fn remaining_arguments(&self, complete: &str) -> String {
        let blank = if self.arguments.trim().is_empty() { Some(complete) } else { None };
        complete.strip_prefix(self.arguments.as_str()).or(blank).unwrap_or_default().to_owned()
    }
}

impl StreamWriter {
    /// Writes text, unless it has to wait for the end of a call.
    pub(super) fn write_text(&mut self, part: Part, text: &str) -> Vec<u8> {
        if self.is_next_allowed() {
            return self.write_part(part, text);
        }
        self.waiting.push((part, text.to_owned()));
        Vec::new()
    }

    pub(super) fn start_call(&mut self, index: usize, id: &str, name: &str) -> Vec<u8> {
        self.calls.insert(index, PartialCall::new(id, name));
        self.write_waiting()
    }

    pub(super) fn add_arguments(&mut self, index: usize, text: &str) -> Vec<u8> {
        let Some(call) = self.calls.get_mut(&index) else { return Vec::new() };
        call.add(text);
        let is_open = call.place.is_some() && (!self.is_sequential() || self.open == Some(Part::Call(index)));
        let mut written = if is_open { self.write_part(Part::Call(index), text) } else { Vec::new() };
        written.extend(self.write_waiting());
        written
    }

    /// Writes the rest of the complete calls, of the open call first.
    pub(super) fn end_calls(&mut self, calls: &[ToolCall]) -> Vec<u8> {
        let mut written = Vec::new();
        let open = self.open;
        let open = calls.iter().enumerate().filter(|(index, _)| open == Some(Part::Call(*index)));
        for (index, call) in open.chain(calls.iter().enumerate()) {
            let known = self.calls.entry(index).or_insert_with(|| PartialCall::new(&call.id, &call.name));
            let rest = known.remaining_arguments(&call.arguments);
            if rest.is_empty() && known.arguments.trim() != call.arguments.trim() {
                tracing::warn!(
                    index,
                    "received arguments after the end of a tool call; the client does not get them"
                );
            }
            // Even if it is not an object.
            known.progress = JsonProgress::Ended;
            written.extend(if rest.is_empty() {
                self.write_waiting()
            } else {
                self.add_arguments(index, &rest)
            });
        }
        written
    }

    /// Returns whether a part waits for the end of the previous part.
    fn is_sequential(&self) -> bool {
        matches!(self.dialect, Dialect::Anthropic | Dialect::OpenaiResponses)
    }

    /// Returns whether another part may start. It closes a completed call.
    fn is_next_allowed(&self) -> bool {
        match self.open.filter(|_| self.is_sequential()) {
            Some(Part::Call(index)) => {
                self.calls.get(&index).is_none_or(|call| call.progress == JsonProgress::Ended)
            }
            _ => true,
        }
    }

    /// Ends the open call if it has no arguments and a later call has some. Providers write calls one after the other.
    fn end_blank_call(&mut self) -> Vec<u8> {
        let Some(Part::Call(index)) = self.open.filter(|_| self.is_sequential()) else { return Vec::new() };
        let is_overtaken =
            self.calls.range(index + 1..).any(|(_, later)| later.progress != JsonProgress::Blank);
        let open =
            self.calls.get_mut(&index).filter(|call| is_overtaken && call.progress == JsonProgress::Blank);
        let Some(open) = open else { return Vec::new() };
        open.add(NO_ARGUMENTS);
        self.write_part(Part::Call(index), NO_ARGUMENTS)
    }

    /// Sets the index of a call that is sent to the client. Returns whether the call is new to the client.
    pub(super) fn set_place(&mut self, index: usize, place: usize) -> bool {
        self.calls.get_mut(&index).is_some_and(|call| call.place.replace(place).is_none())
    }

    /// Writes the waiting parts that may start: calls in order, then texts.
    fn write_waiting(&mut self) -> Vec<u8> {
        let mut written = self.end_blank_call();
        while self.is_next_allowed() {
            let next = self.calls.iter().find(|(_, call)| call.place.is_none());
            let next = next.map(|(index, call)| (*index, call.arguments.clone()));
            let Some((index, text)) = next else { break };
            written.extend(self.write_part(Part::Call(index), &text));
            written.extend(self.end_blank_call());
        }
        if self.is_next_allowed() {
            for (part, text) in std::mem::take(&mut self.waiting) {
                written.extend(self.write_part(part, &text));
            }
        }
        written
    }
}
