//! Tokens of a request that repeat the previous request of its conversation.

use ctx_wire::BodyPart;
use serde_json::{Value, json};

/// A request to the provider, without its texts.
#[derive(Debug, Default)]
pub(crate) struct SentRequest {
    /// Base URL and model. Caches of other models do not help.
    target: String,
    /// The tools, system prompts and messages.
    parts: Vec<BodyPart>,
    tokens: u64,
}

/// Tokens of a request, and of the prefix that repeats the previous request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedPrefix {
    pub(crate) shared: u64,
    pub(crate) total: u64,
}

impl SentRequest {
    pub(crate) fn new(target: String, parts: Vec<BodyPart>, tokens: u64) -> Self {
        Self { target, parts, tokens }
    }

    /// Returns the size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.target.len() + self.parts.len() * size_of::<BodyPart>()
    }

    /// Compares whole parts from the start. Distributes the tokens of the request by the sizes of its parts, because
    /// counting each part would take as long as counting the request again.
    pub(crate) fn shared_prefix(&self, previous: Option<&Self>) -> SharedPrefix {
        let known = previous.filter(|previous| previous.target == self.target);
        let known = known.map(|previous| previous.parts.as_slice()).unwrap_or_default();
        let repeated = self.parts.iter().zip(known).take_while(|(part, known)| part == known).count();
        let bytes = |parts: &[BodyPart]| parts.iter().map(|part| part.bytes as u64).sum::<u64>();
        let all = bytes(&self.parts).max(1);
        let shared = self.tokens.saturating_mul(bytes(&self.parts[..repeated])) / all;
        SharedPrefix { shared, total: self.tokens }
    }
}

impl SharedPrefix {
    /// Writes the numbers for reports.
    pub(crate) fn to_json(self) -> Value {
        json!({ "tokens": self.shared, "total": self.total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_at_first_changed_part() {
        let part = |hash: u64| BodyPart { hash, bytes: 10 };
        let request_to = |target: &str, hashes: &[u64]| {
            SentRequest::new(target.to_owned(), hashes.iter().copied().map(part).collect(), 90)
        };
        let request = |hashes: &[u64]| request_to("a", hashes);
        let shared = |hashes: &[u64]| request(&[1, 2, 3]).shared_prefix(Some(&request(hashes))).shared;
        assert_eq!(request(&[1]).shared_prefix(Some(&request_to("b", &[1]))).shared, 0);
        assert_eq!([shared(&[1, 2]), shared(&[1, 9, 3]), shared(&[1, 2, 3, 4])], [60, 30, 90]);
        assert_eq!(request(&[1]).shared_prefix(None), SharedPrefix { shared: 0, total: 90 });
    }
}
