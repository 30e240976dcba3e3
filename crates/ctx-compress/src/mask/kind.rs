//! Kinds of conversations, which determine the content that a summary must keep.

use std::sync::LazyLock;

use ctx_types::{Message, Role};
use regex::Regex;
use serde::Serialize;

use crate::mask::parts::prefix;

/// A kind of conversation; the built-in prompts have a profile for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConversationKind {
    /// Everyday talk.
    #[default]
    Chat,
    /// A task that is solved with tools.
    Tools,
    /// A story that is played.
    RolePlay,
    /// Programming and other technical topics.
    Technical,
}

/// Limit of the bytes of a message.
const MAX_BYTES: usize = 4 * 1024;

impl ConversationKind {
    /// Returns the spelling used in settings and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Tools => "tools",
            Self::RolePlay => "roleplay",
            Self::Technical => "technical",
        }
    }

    /// Reads the spelling of settings and files; anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Chat, Self::Tools, Self::RolePlay, Self::Technical]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// Detects the kind of a conversation.
    ///
    /// Tools: at least 10% of the messages are tool calls or results. Role-play: of the others, at least 25% have actions
    /// between asterisks, or 34% have quoted speech with its speaker. Technical: at least 20% of them have code, paths or
    /// names of code. Otherwise a chat. O(messages), up to 4 KiB of each.
    ///
    /// ```
    /// use ctx_compress::mask::ConversationKind;
    /// use ctx_types::{Message, Role, Source};
    ///
    /// let text = "*She closes the door.* \"We are not alone.\"";
    /// let message = Message::new(Role::Assistant, text, Source::history("n1", Role::Assistant));
    /// assert_eq!(ConversationKind::of(&[message]), ConversationKind::RolePlay);
    /// ```
    pub fn of(messages: &[Message]) -> Self {
        let is_tool = |message: &&Message| message.role == Role::Tool || !message.tool_calls.is_empty();
        let tools = messages.iter().filter(is_tool).count();
        if tools > 0 && tools * 10 >= messages.len() {
            return Self::Tools;
        }
        let (mut spoken, mut acted, mut quoted, mut technical) = (0, 0, 0, 0);
        for message in messages.iter().filter(|message| !is_tool(message) && !message.role.is_instruction()) {
            let text = message.text();
            let text = prefix(&text, MAX_BYTES);
            let is_technical = has_code(text);
            spoken += 1;
            technical += usize::from(is_technical);
            acted += usize::from(!is_technical && has_action(text));
            quoted += usize::from(!is_technical && has_speech(text));
        }
        let is_share = |count: usize, of: usize| count > 0 && count * of >= spoken;
        if is_share(acted, 4) || is_share(quoted, 3) {
            Self::RolePlay
        } else if is_share(technical, 5) {
            Self::Technical
        } else {
            Self::Chat
        }
    }
}

/// Some words between the first two asterisks of a line; not a list, and not bold type.
static ACTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[^*\n]*\*[^*\s][^*\n]*[ ，。的着了][^*\n]*[^*\s]\*"));

static QUOTE: LazyLock<Regex> = LazyLock::new(|| pattern(r#""([^"]*)"|“([^”]*)”|「([^」]*)」"#));

/// Words that tell who speaks.
static SPEAKING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?i)said|says|whispers|whispered|replie[sd]|smile[sd]|look(?:s|ed) at|说道|低声|笑着|轻声|看着|答道",
    )
});

/// `call()`, `snake_case`, `a::path` and `camelCase`.
static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\w\(\)|[^\W_]_[^\W_]|\w::\w|[a-z][A-Z]"));

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Returns whether an action is between asterisks, or in brackets as Chinese players write it.
fn has_action(text: &str) -> bool {
    let is_bracketed = text.trim_start().starts_with(['（', '(']) && text.contains(['）', ')']);
    ACTION.is_match(text) || (is_bracketed && text.contains(['“', '「', '"']))
}

/// Returns whether a text has quoted speech of more than a word or two, and words that tell who speaks.
fn has_speech(text: &str) -> bool {
    const SHORTEST: usize = 12;
    let mut quotes = QUOTE.captures_iter(text).filter_map(|found| found.iter().skip(1).flatten().next());
    quotes.any(|quote| quote.len() >= SHORTEST) && SPEAKING.is_match(text)
}

/// Returns whether a text has code between backticks, or several words that look like code.
fn has_code(text: &str) -> bool {
    let is_path = |word: &str| word.matches('/').count() >= 2 && !word.contains("//");
    let words = text.split_whitespace().take(400).filter(|word| CODE.is_match(word) || is_path(word));
    text.matches('`').count() >= 2 || words.take(2).count() == 2
}
