//! Names of sources for people: titles of entries, and numbers of messages in the conversation.

use ctx_language::Language;
use ctx_project::Turn;
use ctx_types::internal::Argument;
use ctx_types::{Phrase, Source, SourceKind, phrase};

use super::rows::name;

/// Names sources in a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) language: Language,
    pub(super) turn: &'a Turn,
}

impl Names<'_> {
    /// Returns the name of a source. Empty for sources with only a kind.
    pub(super) fn name(self, source: &Source) -> String {
        let id = source.id.as_deref().unwrap_or_default();
        match source.kind {
            SourceKind::History | SourceKind::Summary => {
                self.known_name(source.kind.as_str(), id).unwrap_or_default()
            }
            // Its id is the list of the joined sources.
            SourceKind::Merged => {
                id.split('+').map(|code| self.code_name(code)).collect::<Vec<_>>().join(" + ")
            }
            _ => name(source),
        }
    }

    /// Returns the name of a source such as `preset:main`. Default: its id.
    pub(super) fn code_name(self, code: &str) -> String {
        let (kind, id) = code.split_once(':').unwrap_or(("", code));
        self.known_name(kind, id).unwrap_or_else(|| id.to_owned())
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
                ("source", Some((kind, id))) => self.known_name(kind, id),
                ("summary", _) => self.known_name(SourceKind::Summary.as_str(), text),
                _ => None,
            }
            .map(|name| Argument::Text(name.into())),
            Argument::Phrase(phrase) => Some(Argument::Phrase(Box::new(self.named(phrase)))),
            _ => None,
        };
        named.unwrap_or_else(|| argument.clone())
    }

    /// Names an entry by its title, and a message or summary by its number on the page Chat.
    fn known_name(self, kind: &str, id: &str) -> Option<String> {
        let number = || self.turn.session().depth(id).filter(|number| *number > 0);
        let name = match kind {
            "history" => phrase!("Chat message {number}", number = number()?),
            "summary" => phrase!("Summary {number}", number = number()?),
            "preset" => {
                let mut entries = self.turn.agent().preset_messages.iter();
                let entry = entries.find(|entry| entry.id.as_deref() == Some(id))?;
                return Some(entry.name.as_deref().unwrap_or(id).to_owned());
            }
            _ => return None,
        };
        Some(self.language.say(&name))
    }
}
