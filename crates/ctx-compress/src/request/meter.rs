//! Tokens of messages, counted in one way for a whole pass.

use std::fmt;
use std::sync::Arc;

use ctx_tokens::{
    Counter, ModelFacts,
    internal::{MediaFamily, MediaItem, media_cost, message_cost},
};
use ctx_types::ports::TokenCounter;
use ctx_types::{Content, ContentPart, EncodingId, Message, Role, Source, Text};

/// Tokens of a message without text, in the estimate.
const MESSAGE: u64 = 10;

/// Tokens of a tool call without arguments, in the estimate.
const CALL: u64 = 50;

/// Counts the tokens of messages by an estimate, or like a model.
///
/// The estimate is 10 for a message, 50 for a tool call, and for text 0.25 per ASCII character and 1 per other character,
/// rounded up. Media have a fixed cost. Texts cache their counts.
///
/// ```
/// use ctx_compress::request::Meter;
/// use ctx_types::{Message, Role, Source};
///
/// let message = Message::new(Role::User, "hello你好", Source::history("n1", Role::User));
/// assert_eq!(Meter::estimate().message(&message), 10 + 4);
/// ```
#[derive(Clone)]
pub struct Meter<'a> {
    counter: Arc<dyn TokenCounter + 'a>,
    model: Option<Arc<ModelFacts>>,
}

impl Meter<'static> {
    /// Makes a meter with the estimate.
    pub fn estimate() -> Self {
        Self { counter: Arc::new(Counter::estimate()), model: None }
    }
}

impl<'a> Meter<'a> {
    /// Makes a meter for a model, with the overhead of its provider.
    pub fn for_model(model: Arc<ModelFacts>, counter: Arc<dyn TokenCounter + 'a>) -> Self {
        Self { counter, model: Some(model) }
    }

    /// Makes a meter for a model with a borrowed counter.
    pub fn lent(model: &ModelFacts, counter: &'a dyn TokenCounter) -> Self {
        Self { counter: Arc::new(Lent(counter)), model: Some(Arc::new(model.clone())) }
    }

    /// Returns whether it uses the estimate.
    pub const fn is_estimate(&self) -> bool {
        self.model.is_none()
    }

    /// Returns the tokens of a message with its calls, files and reasoning.
    pub fn message(&self, message: &Message) -> u64 {
        match &self.model {
            Some(model) => u64::from(message_cost(message, model, &*self.counter).total()),
            None => self.estimated(message),
        }
    }

    /// Returns the tokens of several messages.
    pub fn messages<'t>(&self, messages: impl IntoIterator<Item = &'t Message>) -> u64 {
        messages.into_iter().map(|message| self.message(message)).sum()
    }

    /// Returns the tokens of a text alone.
    pub fn text(&self, text: &str) -> u64 {
        u64::from(self.counter.count(text))
    }

    /// Returns the tokens of a message without text.
    pub(crate) fn frame(&self) -> u64 {
        let source = Source::history("", Role::System);
        self.message(&Message::new(Role::System, "", source))
    }

    fn estimated(&self, message: &Message) -> u64 {
        let calls = message.tool_calls.iter();
        let calls: u64 = calls.map(|call| CALL + u64::from(self.counter.count_text(&call.arguments))).sum();
        let files = message.attachments.iter().map(MediaItem::from_attachment);
        let files: u64 = files.map(|file| flat(&file)).sum();
        let reasoning = message.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref());
        let reasoning = reasoning.map_or(0, |text| u64::from(self.counter.count_text(text)));
        MESSAGE + self.content(&message.content) + calls + files + reasoning
    }

    /// Text parts count as one text with line breaks between.
    fn content(&self, content: &Content) -> u64 {
        let parts = match content {
            Content::Text(text) => return u64::from(self.counter.count_text(text)),
            Content::Parts(parts) => parts,
        };
        let texts = parts.iter().filter_map(ContentPart::as_text).map(|text| quarters(text) + 1);
        let texts: u64 = texts.sum::<u64>().saturating_sub(1).div_ceil(4);
        let others = parts.iter().filter_map(|part| match part {
            ContentPart::Text(_) => None,
            ContentPart::Other(value) => Some(match MediaItem::from_part(value) {
                Some(item) => flat(&item),
                None => quarters(&value.to_string()).div_ceil(4),
            }),
        });
        texts + others.sum::<u64>()
    }
}

impl Default for Meter<'static> {
    fn default() -> Self {
        Self::estimate()
    }
}

/// A borrowed counter.
struct Lent<'a>(&'a dyn TokenCounter);

impl TokenCounter for Lent<'_> {
    fn encoding(&self) -> EncodingId {
        self.0.encoding()
    }

    fn count(&self, text: &str) -> u32 {
        self.0.count(text)
    }

    fn count_till_limit(&self, text: &str, limit: u32) -> Option<u32> {
        self.0.count_till_limit(text, limit)
    }

    fn count_text(&self, text: &Text) -> u32 {
        self.0.count_text(text)
    }
}

impl fmt::Debug for Meter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Returns the cost of a medium for an unknown model.
fn flat(item: &MediaItem) -> u64 {
    u64::from(media_cost(MediaFamily::Unknown, item))
}

/// Returns the estimate of a text in quarters of a token: one for an ASCII character, four for any other.
pub(crate) fn quarters(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    // Continuation bytes are 0x80 to 0xBF, so a character outside ASCII has exactly one byte above.
    let others = text.bytes().filter(|byte| *byte >= 0xC0).count() as u64;
    ascii + 4 * others
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::{Text, ToolCall};
    use serde_json::json;

    #[track_caller]
    fn check(message: &Message, expected: u64) {
        assert_eq!(Meter::estimate().message(message), expected, "{message:?}");
    }

    fn message(text: &str) -> Message {
        Message::new(Role::Assistant, text, Source::history("n", Role::Assistant))
    }

    #[test]
    fn estimates_text_and_calls() {
        check(&message("hello"), 12);
        check(&message("你好"), 12);
        check(&message("hello你好"), 14);
        check(&message(""), 10);
        let call = ToolCall { id: "c".into(), name: "f".into(), arguments: Text::from("{\"a\":1}") };
        check(&message("hello").with(|message| message.tool_calls = vec![call]), 12 + 50 + 2);
    }

    #[test]
    fn parts_are_one_text_with_line_breaks_and_other_parts_are_their_json() {
        let parts = |texts: &[&str], others: &[serde_json::Value]| {
            let texts = texts.iter().map(|text| ContentPart::Text((*text).into()));
            let others = others.iter().map(|value| ContentPart::Other(Arc::new(value.clone())));
            message("").with(|message| message.content = Content::Parts(texts.chain(others).collect()))
        };
        check(&parts(&[], &[]), 10);
        check(&parts(&["abcd"], &[]), 11);
        check(&parts(&["abcd", "efg"], &[]), 12);
        check(&parts(&["abcd", "efgh"], &[]), 13);
        check(&parts(&["abcd", "你"], &[]), 13);
        // `{"a":1}` has seven quarters.
        check(&parts(&["abcd"], &[json!({ "a": 1 }), json!({ "a": 1 })]), 11 + 2 + 2);
    }

    #[test]
    fn calls_files_and_reasoning_are_added() {
        let all = message("hello").with(|message| {
            let call =
                |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: Text::from("{\"a\":1}") };
            message.tool_calls = vec![call("c"), call("d")];
            message.reasoning = Some(ctx_types::Reasoning {
                text: Some("because".into()),
                artifacts: Vec::new(),
                model: None,
            });
        });
        check(&all, 12 + 2 * (50 + 2) + 2);
        let file = json!({ "id": "f1", "name": "plan.png", "mimeType": "image/png" });
        let file = ctx_types::Attachment::from_value(&file);
        let price = flat(&MediaItem::from_attachment(&file));
        assert!(price > 1);
        check(
            &all.with(|message| message.attachments = vec![file.clone(), file]),
            12 + 2 * 52 + 2 + 2 * price,
        );
    }

    /// Counts bytes.
    struct Bytes;

    impl TokenCounter for Bytes {
        fn encoding(&self) -> EncodingId {
            EncodingId(904)
        }

        fn count(&self, text: &str) -> u32 {
            u32::try_from(text.len()).unwrap()
        }
    }

    #[test]
    fn a_counter_that_is_lent_counts_as_it_does_itself() {
        let (lent, text) = (Lent(&Bytes), Text::from("hello"));
        assert_eq!((lent.encoding(), lent.count("hello"), lent.count_text(&text)), (EncodingId(904), 5, 5));
        assert_eq!([4, 5].map(|limit| lent.count_till_limit("hello", limit)), [None, Some(5)]);
        let model = ModelFacts::unknown("m");
        let meters =
            [Meter::lent(&model, &Bytes), Meter::for_model(Arc::new(model.clone()), Arc::new(Bytes))];
        for meter in &meters {
            assert_eq!((meter.text("hello"), meter.is_estimate()), (5, false));
            assert_eq!(meter.message(&message("hello")), meter.frame() + 5);
        }
        assert!(Meter::estimate().is_estimate());
        assert_eq!((Meter::estimate().text("hello"), Meter::estimate().frame()), (2, 10));
    }

    #[test]
    fn an_image_costs_the_same_however_long_its_encoding_is() {
        let image = |url: String| {
            let part = json!({ "type": "image_url", "image_url": { "url": url } });
            message("")
                .with(|message| message.content = Content::Parts(vec![ContentPart::Other(Arc::new(part))]))
        };
        let meter = Meter::estimate();
        let short = meter.message(&image("data:image/png;base64,AA".to_owned()));
        assert_eq!(short, meter.message(&image("A".repeat(100_000))));
        assert!(short > 100);
    }
}
