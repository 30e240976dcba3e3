//! Languages of the built-in prompts.

use ctx_types::Message;
use serde::Serialize;

/// A language of the built-in prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Language {
    /// English, also for other languages: the summary is in the language of the conversation.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

/// Limit of the bytes of a conversation.
const MAX_BYTES: usize = 64 * 1024;

impl Language {
    /// Returns the spelling used in settings and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Reads the spelling of settings and files; anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::English, Self::Chinese].into_iter().find(|language| language.as_str() == text)
    }

    /// Detects the language of a conversation from its newest 64 KiB, without tool results.
    pub fn of(messages: &[Message]) -> Self {
        let newest = messages.iter().rev().filter(|message| message.tool_call_id.is_none());
        Self::of_texts(newest.map(Message::text))
    }

    /// Detects the language of texts from their first 64 KiB.
    ///
    /// It is Chinese if at least 20% of the letters are Chinese characters, since each of them says as much as a word.
    pub fn of_texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let (mut chinese, mut letters, mut left) = (0_usize, 0_usize, MAX_BYTES);
        for text in texts {
            for character in text.as_ref().chars() {
                let Some(rest) = left.checked_sub(character.len_utf8()) else { break };
                left = rest;
                let is_chinese = matches!(character, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}');
                chinese += usize::from(is_chinese);
                letters += usize::from(character.is_alphabetic());
            }
        }
        if chinese > 0 && chinese * 5 >= letters { Self::Chinese } else { Self::English }
    }
}
