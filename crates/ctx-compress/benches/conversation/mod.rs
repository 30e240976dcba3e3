//! Conversations of any length, always the same: talk in English and Chinese, tools with records, ids, dates, prices.

use ctx_types::{Message, Role, Source, ToolCall};
use serde_json::json;

/// How many words there are; few of them make most of a text.
const WORDS: usize = 6_000;

/// Every such turn asks a tool.
const TOOL_EVERY: usize = 5;

/// Writes so many messages, some 600 bytes each. No text was counted before.
pub(crate) fn conversation(len: usize) -> Vec<Message> {
    let mut writer = Writer::default();
    let mut messages = Vec::with_capacity(len + 4);
    for turn in 0.. {
        if messages.len() >= len {
            break;
        }
        let is_chinese = turn % 3 == 2;
        messages.push(writer.message(Role::User, 380, is_chinese));
        if turn % TOOL_EVERY == 0 {
            let id = format!("call_{turn}");
            let (order, city) = (writer.id(), writer.name());
            let arguments = json!({ "order": order, "city": city, "limit": writer.below(50) }).to_string();
            let call =
                ToolCall { id: id.as_str().into(), name: "find_orders".into(), arguments: arguments.into() };
            let text = writer.record();
            messages.push(
                writer
                    .message(Role::Assistant, 60, is_chinese)
                    .with(|message| message.tool_calls = vec![call]),
            );
            let source = Source::history(format!("r{turn}"), Role::Tool);
            messages.push(
                Message::new(Role::Tool, text, source)
                    .with(|message| message.tool_call_id = Some(id.as_str().into())),
            );
        }
        messages.push(writer.message(Role::Assistant, 700, is_chinese));
    }
    messages.truncate(len);
    messages
}

/// The bytes of texts and arguments.
pub(crate) fn bytes(messages: &[Message]) -> usize {
    let calls = |message: &Message| message.tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>();
    messages.iter().map(|message| message.text().len() + calls(message)).sum()
}

#[derive(Default)]
struct Writer {
    state: u64,
    messages: usize,
}

impl Writer {
    fn message(&mut self, role: Role, bytes: usize, is_chinese: bool) -> Message {
        self.messages += 1;
        let target = bytes / 2 + self.below(bytes);
        let mut text = String::with_capacity(target + 100);
        while text.len() < target {
            if is_chinese { self.chinese_sentence(&mut text) } else { self.english_sentence(&mut text) }
        }
        Message::new(role, text, Source::history(format!("m{}", self.messages), role))
    }

    fn english_sentence(&mut self, text: &mut String) {
        for place in 0..6 + self.below(14) {
            let word = match self.below(28) {
                0 => self.name(),
                1 => self.id(),
                2 => format!("{}", self.below(9_000)),
                3 => format!("{} {} 2026", 1 + self.below(28), ["March", "June", "October"][self.below(3)]),
                4 => ["not", "must", "never", "because"][self.below(4)].to_owned(),
                _ => self.word(),
            };
            if place > 0 {
                text.push(' ');
            }
            text.push_str(&word);
        }
        text.push_str(if self.below(7) == 0 { "? " } else { ". " });
    }

    fn chinese_sentence(&mut self, text: &mut String) {
        for _ in 0..8 + self.below(24) {
            match self.below(24) {
                0 => text.push('，'),
                1 => text.push_str(&self.below(9_000).to_string()),
                2 => text.push('不'),
                _ => text.push(self.character()),
            }
        }
        text.push('。');
    }

    fn record(&mut self) -> String {
        let rows: Vec<_> = (0..2 + self.below(6))
            .map(|_| {
                let (id, name, city) = (self.id(), self.name(), self.name());
                json!({ "id": id, "customer": name, "city": city, "total": self.below(90_000), "open": self.below(2) == 0, "note": self.word() })
            })
            .collect();
        json!({ "rows": rows, "next": null }).to_string()
    }

    /// A word, of which few are usual and most are rare.
    fn word(&mut self) -> String {
        let most = 1 + self.below(WORDS);
        spelled(self.below(most))
    }

    fn name(&mut self) -> String {
        let name = spelled(WORDS + self.below(900));
        let mut letters = name.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
    }

    fn id(&mut self) -> String {
        format!("{}-{:05}", ["ORD", "KX", "T"][self.below(3)], self.below(100_000))
    }

    fn character(&mut self) -> char {
        let most = 1 + self.below(2_000);
        u32::try_from(0x4E00 + self.below(most) * 3).ok().and_then(char::from_u32).unwrap_or('一')
    }

    /// Draws a number below a limit from a linear congruential generator (Knuth's constants for MMIX).
    fn below(&mut self, limit: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The upper bits are the random ones.
        usize::try_from(self.state >> 33).unwrap_or_default() % limit.max(1)
    }
}

/// Writes a number as a word that can be spoken.
fn spelled(number: usize) -> String {
    const SYLLABLES: [&str; 24] = [
        "ba", "do", "ri", "ten", "mal", "se", "go", "lur", "fin", "ka", "po", "ver", "shi", "nor", "ul", "e",
        "ta", "mo", "bren", "ci", "wel", "dra", "hu", "sto",
    ];
    let (mut rest, mut word) = (number + 30, String::new());
    while rest > 0 {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
    }
    word
}
