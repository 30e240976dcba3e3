//! Calls piece by piece, as they come; where a dialect has one part at a time, the next waits until a call has ended.

use ctx_types::ToolCall;
use ctx_wire::Dialect;

use super::{Part, Pieces};

/// What a call without arguments is stored with.
const NO_ARGUMENTS: &str = "{}";

/// A call as far as it has come.
#[derive(Debug, Default)]
pub(super) struct CallSoFar {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Where the client is told of it, among the parts of the answer; nowhere yet if absent.
    pub(super) place: Option<usize>,
    progress: Progress,
}

/// How far a JSON object has come: once it has ended only blanks can follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    Blank,
    /// Within so many braces.
    Object(usize),
    /// Within a text there, and behind a backslash in it.
    Text(usize),
    Escape(usize),
    Ended,
    /// It is no object, whose end nobody knows.
    Other,
}

impl Progress {
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

impl CallSoFar {
    fn new(id: &str, name: &str) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), ..Self::default() }
    }

    fn add(&mut self, text: &str) {
        self.arguments += text;
        self.progress = text.bytes().fold(self.progress, Progress::after);
    }

    /// What of the whole arguments has not come in pieces; blank ones have become an empty object.
    fn rest(&self, whole: &str) -> String {
        let blank = if self.arguments.trim().is_empty() { Some(whole) } else { None };
        whole.strip_prefix(self.arguments.as_str()).or(blank).unwrap_or_default().to_owned()
    }
}

impl Pieces {
    /// Writes words, unless a call has to end before.
    pub(super) fn words(&mut self, part: Part, text: &str) -> Vec<u8> {
        if self.may_begin() {
            return self.write(part, text);
        }
        self.held.push((part, text.to_owned()));
        Vec::new()
    }

    pub(super) fn begin_call(&mut self, index: usize, id: &str, name: &str) -> Vec<u8> {
        self.calls.insert(index, CallSoFar::new(id, name));
        self.go_on()
    }

    pub(super) fn arguments(&mut self, index: usize, text: &str) -> Vec<u8> {
        let Some(call) = self.calls.get_mut(&index) else { return Vec::new() };
        call.add(text);
        let is_open = call.place.is_some() && (!self.is_in_turn() || self.open == Some(Part::Call(index)));
        let mut written = if is_open { self.write(Part::Call(index), text) } else { Vec::new() };
        written.extend(self.go_on());
        written
    }

    /// Writes what is left of calls, now that they are whole: that of the open one first.
    pub(super) fn end_calls(&mut self, calls: &[ToolCall]) -> Vec<u8> {
        let mut written = Vec::new();
        let open = self.open;
        let open = calls.iter().enumerate().filter(|(index, _)| open == Some(Part::Call(*index)));
        for (index, call) in open.chain(calls.iter().enumerate()) {
            let known = self.calls.entry(index).or_insert_with(|| CallSoFar::new(&call.id, &call.name));
            let rest = known.rest(&call.arguments);
            if rest.is_empty() && known.arguments.trim() != call.arguments.trim() {
                tracing::warn!(
                    index,
                    "received arguments after the end of a tool call; the client does not get them"
                );
            }
            // Whatever it looks like.
            known.progress = Progress::Ended;
            written.extend(if rest.is_empty() { self.go_on() } else { self.arguments(index, &rest) });
        }
        written
    }

    /// Whether a part waits for the end of the one before it.
    fn is_in_turn(&self) -> bool {
        matches!(self.dialect, Dialect::Anthropic | Dialect::OpenaiResponses)
    }

    /// Whether another part may begin. A call that has ended is closed by what follows it.
    fn may_begin(&self) -> bool {
        match self.open.filter(|_| self.is_in_turn()) {
            Some(Part::Call(index)) => {
                self.calls.get(&index).is_none_or(|call| call.progress == Progress::Ended)
            }
            _ => true,
        }
    }

    /// Ends the open call if it has got no arguments and a later one has: providers write one call after the other.
    fn end_blank(&mut self) -> Vec<u8> {
        let Some(Part::Call(index)) = self.open.filter(|_| self.is_in_turn()) else { return Vec::new() };
        let is_overtaken = self.calls.range(index + 1..).any(|(_, later)| later.progress != Progress::Blank);
        let open = self.calls.get_mut(&index).filter(|call| is_overtaken && call.progress == Progress::Blank);
        let Some(open) = open else { return Vec::new() };
        open.add(NO_ARGUMENTS);
        self.write(Part::Call(index), NO_ARGUMENTS)
    }

    /// Notes that the client is told of a call; says whether it was not told of it before.
    pub(super) fn place(&mut self, index: usize, place: usize) -> bool {
        self.calls.get_mut(&index).is_some_and(|call| call.place.replace(place).is_none())
    }

    /// Writes what waits, as far as it may begin: calls in their order, then words.
    fn go_on(&mut self) -> Vec<u8> {
        let mut written = self.end_blank();
        while self.may_begin() {
            let next = self.calls.iter().find(|(_, call)| call.place.is_none());
            let next = next.map(|(index, call)| (*index, call.arguments.clone()));
            let Some((index, text)) = next else { break };
            written.extend(self.write(Part::Call(index), &text));
            written.extend(self.end_blank());
        }
        if self.may_begin() {
            for (part, text) in std::mem::take(&mut self.held) {
                written.extend(self.write(part, &text));
            }
        }
        written
    }
}
