//! The languages that the built-in prompts speak.

use ctx_types::Message;
use serde::Serialize;

/// A language of the built-in prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Language {
    /// English, also for conversations in other languages: the answer follows the conversation.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

/// How many bytes are looked at.
const LOOKED_AT: usize = 64 * 1024;

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

    /// Finds the language of a conversation by its newest 64 KiB.
    ///
    /// Results of tools do not count; see [`Language::of_texts`].
    pub fn of(messages: &[Message]) -> Self {
        let said = messages.iter().rev().filter(|message| message.tool_call_id.is_none());
        Self::of_texts(said.map(Message::text))
    }

    /// Finds the language of texts by their first 64 KiB.
    ///
    /// They are Chinese if a fifth of their letters are Chinese characters, since one of these says as much as a
    /// word.
    pub fn of_texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let (mut chinese, mut letters, mut room) = (0_usize, 0_usize, LOOKED_AT);
        for text in texts {
            for character in text.as_ref().chars() {
                let Some(left) = room.checked_sub(character.len_utf8()) else { break };
                room = left;
                chinese += usize::from(is_chinese(character));
                letters += usize::from(character.is_alphabetic());
            }
        }
        if chinese > 0 && chinese * 5 >= letters { Self::Chinese } else { Self::English }
    }
}

/// Returns whether a character is one of the common Chinese ones.
pub(crate) fn is_chinese(character: char) -> bool {
    matches!(character, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}')
}
