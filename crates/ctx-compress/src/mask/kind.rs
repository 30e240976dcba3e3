//! What kind of conversation it is: that decides what a summary must not lose.

use ctx_types::{Message, Role};
use serde::Serialize;

/// A kind of conversation, with a profile of the built-in prompts for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConversationKind {
    /// People and what concerns them.
    #[default]
    Chat,
    /// A task that is worked on with tools.
    Tools,
    /// A story that is played.
    RolePlay,
    /// Programming and other technical matters.
    Technical,
}

/// How many bytes of each message are looked at.
const LOOKED_AT: usize = 4 * 1024;

impl ConversationKind {
    const ALL: [Self; 4] = [Self::Chat, Self::Tools, Self::RolePlay, Self::Technical];

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
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Finds the kind of a conversation by the marks that its messages bear.
    ///
    /// Tools: a tenth of the messages call tools or answer them. Role-play: a quarter of the others have
    /// actions between asterisks, or at least a third speak in quotation marks and tell what is done. Technical:
    /// a fifth of them have code, paths or names of code. Else it is a chat. O(messages), up to 4 KiB of each.
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
        let mut counts = Counts::default();
        let spoken = messages.iter().filter(|message| !is_tool(message) && !message.role.is_instruction());
        spoken.for_each(|message| counts.add(&message.text()));
        counts.kind()
    }
}

/// How many messages bear which mark.
#[derive(Debug, Default)]
struct Counts {
    messages: usize,
    acted: usize,
    quoted: usize,
    technical: usize,
}

impl Counts {
    fn add(&mut self, text: &str) {
        let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= LOOKED_AT);
        let text = end.and_then(|end| text.get(..end)).unwrap_or(text);
        self.messages += 1;
        let is_technical = has_code(text);
        self.technical += usize::from(is_technical);
        self.acted += usize::from(!is_technical && has_action(text));
        self.quoted += usize::from(!is_technical && is_told_speech(text));
    }

    fn kind(&self) -> ConversationKind {
        let is_share = |count: usize, of: usize| count > 0 && count * of >= self.messages;
        if is_share(self.acted, 4) || is_share(self.quoted, 3) {
            ConversationKind::RolePlay
        } else if is_share(self.technical, 5) {
            ConversationKind::Technical
        } else {
            ConversationKind::Chat
        }
    }
}

/// Returns whether something is told between single asterisks, or in brackets as Chinese players do.
fn has_action(text: &str) -> bool {
    let between_asterisks = text.lines().any(|line| {
        // A line that begins with an asterisk and a blank is a list; two asterisks make bold type.
        let mut parts = line.split('*');
        parts.next();
        let spaced = |part: &str| part.starts_with(' ') || part.ends_with(' ') || part.is_empty();
        parts.next().is_some_and(|inner| {
            !spaced(inner)
                && parts.next().is_some()
                && inner.chars().count() >= 4
                && inner.contains([' ', '，', '。', '的', '着', '了'])
        })
    });
    let in_brackets = text.trim_start().starts_with(['（', '(']) && text.contains(['）', ')']);
    between_asterisks || (in_brackets && text.contains(['“', '「', '"']))
}

/// Returns whether a text has speech in quotation marks, and words around it that tell who speaks.
fn is_told_speech(text: &str) -> bool {
    const TELLING: [&str; 16] = [
        "said",
        "says",
        "whispers",
        "whispered",
        "replies",
        "replied",
        "smiles",
        "smiled",
        "looks at",
        "looked at",
        "说道",
        "低声",
        "笑着",
        "轻声",
        "看着",
        "答道",
    ];
    let has_speech = [('"', '"'), ('“', '”'), ('「', '」')].iter().any(|marks| speaks_between(text, *marks));
    let lower = text.to_lowercase();
    has_speech && TELLING.iter().any(|word| lower.contains(word))
}

/// Returns whether more than a word or two stand between quotation marks: some twelve bytes.
fn speaks_between(text: &str, (open, close): (char, char)) -> bool {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(open) {
        let Some((inner, after)) = after.split_once(close) else { return false };
        if inner.len() >= 12 {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns whether a text has a block of code, code between backticks, or several words that look like code.
fn has_code(text: &str) -> bool {
    if text.contains("```") || text.matches('`').count() >= 2 {
        return true;
    }
    let words = text.split_whitespace().take(400);
    words.filter(|word| looks_like_code(word)).take(2).count() >= 2
}

fn looks_like_code(word: &str) -> bool {
    let word =
        word.trim_matches(|character: char| !character.is_alphanumeric() && !"()_/".contains(character));
    let has_inner = |mark: &str| word.find(mark).is_some_and(|at| at > 0 && at + mark.len() < word.len());
    let is_path = word.matches('/').count() >= 2 && !word.contains("//");
    let is_call = word.ends_with("()") && word.len() > 2;
    let is_snake = has_inner("_");
    let mut letters = word.chars().zip(word.chars().skip(1));
    let is_camel = letters.any(|(one, two)| one.is_lowercase() && two.is_uppercase());
    is_path || is_call || is_snake || has_inner("::") || (is_camel && word.is_ascii())
}
