//! Names of sources for people: titles of entries, and numbers of messages in the conversation.

use ctx_language::Language;
use ctx_types::internal::Argument;
use ctx_types::session::Session;
use ctx_types::{Phrase, Source, SourceKind, phrase};

use super::rows::name;

/// Names sources in a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) language: Language,
    pub(super) session: &'a Session,
}

impl Names<'_> {
    /// Returns the name of a source. Empty for sources with only a kind.
    pub(super) fn name(self, source: &Source) -> String {
        if !matches!(source.kind, SourceKind::History | SourceKind::Summary) {
            return name(source);
        }
        let id = source.id.as_deref().unwrap_or_default();
        self.numbered(source.kind.as_str(), id).unwrap_or_default()
    }

    /// Returns the name of a source. Default: its kind.
    pub(super) fn name_or_kind(self, source: &Source) -> String {
        Some(self.name(source))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| self.language.word(source.kind.as_str()).into_owned())
    }

    /// Says a phrase with names in place of ids.
    pub(super) fn say(self, phrase: &Phrase) -> String {
        self.language.say(&self.named(phrase))
    }

    fn named(self, phrase: &Phrase) -> Phrase {
        let arguments = phrase.arguments().iter();
        let named = arguments.map(|(name, argument)| (*name, self.named_argument(name, argument)));
        Phrase::new(phrase.template(), named.collect())
    }

    fn named_argument(self, name: &str, argument: &Argument) -> Argument {
        let named = match argument {
            Argument::Text(text) => match (name, text.split_once(':')) {
                ("source", Some((kind, id))) => self.numbered(kind, id),
                ("summary", _) => self.numbered(SourceKind::Summary.as_str(), text),
                _ => None,
            }
            .map(|name| Argument::Text(name.into())),
            Argument::Phrase(phrase) => Some(Argument::Phrase(Box::new(self.named(phrase)))),
            _ => None,
        };
        named.unwrap_or_else(|| argument.clone())
    }

    /// Names a message or summary by its number in the conversation, as the page Chat does.
    fn numbered(self, kind: &str, id: &str) -> Option<String> {
        let number = self.session.depth(id).filter(|number| *number > 0)?;
        let name = match kind {
            "history" => phrase!("Chat message {number}", number),
            "summary" => phrase!("Summary {number}", number),
            _ => return None,
        };
        Some(self.language.say(&name))
    }
}
