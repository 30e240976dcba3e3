use std::fmt;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, Segment, Text, count_of, phrase, words};

use crate::hits::View;
use crate::input::{Ports, ScanInput, ScanMessage};
use crate::keys::Key;
use crate::reason::{Cause, KeyHit, KeyPlace, Reason, secondary, until};
use crate::run::Run;
use crate::set::{BookSet, Member};
use crate::source::SourceSet;
use crate::texts::Texts;
use crate::timed::TimedState;

/// Result of a scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scan {
    /// Active entries, in the order of activation.
    pub activations: Vec<Activation>,
    /// Status of each member.
    pub statuses: Vec<Status>,
    /// Timed effects for the next scan.
    pub state: TimedState,
    /// Passes.
    pub passes: Vec<PassKind>,
    /// Token budget, if any.
    pub budget: Option<u64>,
    /// Stopped searches and reached limits.
    pub diagnostics: Vec<Diagnostic>,
}

/// An active entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Activation {
    /// Index in `BookSet::members`.
    pub member: usize,
    /// Cause.
    pub cause: Cause,
    /// Pass number, from 1.
    pub pass: usize,
    /// Text with macros expanded.
    pub content: Text,
    /// Origin of each byte; empty if all text is the entry's.
    pub written: Vec<Segment>,
}

/// Status of an entry after a scan.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Active; index of the [`Activation`].
    Activated(usize),
    /// Not active.
    NotActivated(Reason),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Activated(_) => f.write_str("it is active"),
            Self::NotActivated(reason) => reason.fmt(f),
        }
    }
}

words! {
    /// Reason for a pass.
    pub enum PassKind: [as_str] {
        /// First pass.
        Initial = "initial",
        /// Active entries may activate others.
        Recursion = "recursion",
        /// Too few entries were active; another message is searched.
        MinActivations = "min_activations",
    }
}

impl BookSet {
    /// Finds the active entries.
    ///
    /// Deterministic for equal inputs, random values, and macros. Each pass is linear in the entries; the
    /// search is linear in the text.
    pub fn scan(&self, input: &ScanInput<'_>, ports: Ports<'_>) -> Scan {
        Run::new(self, input, ports).run()
    }

    /// Returns the newest message with a plain key of each entry, at any depth.
    ///
    /// `messages` starts with the oldest. Skips regular expressions and keys with macros. Linear in the
    /// texts.
    pub fn newest_hits(&self, messages: &[ScanMessage]) -> Vec<Option<KeyHit>> {
        let input = ScanInput { messages, ..ScanInput::default() };
        let mut texts = Texts::new(self, &input);
        texts.read_to_depth(messages.len());
        let view = View { depth: messages.len(), sources: SourceSet::default(), has_recursion: false };
        let newest = |member: &Member| {
            let keys = member.entry.keys.iter().zip(&member.keys);
            let hits = keys.filter_map(|(key, parsed)| match parsed {
                Key::Literal(literal) => match texts.hits.place(*literal, view)? {
                    KeyPlace::Message(newest) => Some((newest, key)),
                    _ => None,
                },
                _ => None,
            });
            let (newest, key) = hits.min_by_key(|(newest, _)| *newest)?;
            Some(KeyHit { key: key.clone(), place: KeyPlace::Message(newest) })
        };
        self.members().iter().map(newest).collect()
    }

    /// Explains why no key matches after `searched` messages. `earlier` is a match in an older message.
    pub fn describe_missing_key(
        &self,
        member: usize,
        searched: usize,
        earlier: Option<&KeyHit>,
        message: &dyn Fn(usize) -> Phrase,
    ) -> Phrase {
        let own = self.members().get(member).and_then(|member| member.entry.scan_depth);
        let depth = own.map_or(self.settings().depth, |depth| u64::try_from(depth).unwrap_or(0));
        let searched = match depth {
            0 => phrase!("scan depth is 0, so no key can match"),
            _ if searched == 0 => return phrase!("no messages to search"),
            1 => phrase!("no key in the last message (scan depth 1)"),
            _ => phrase!("no key in the last {depth} messages (scan depth {depth})", depth),
        };
        let place = earlier.and_then(|hit| match hit.place {
            KeyPlace::Message(newest) => Some((hit, newest)),
            _ => None,
        });
        let Some((hit, newest)) = place else { return searched };
        phrase!(
            "{searched}; `{key}` is in {message}, {back} back",
            searched,
            key = excerpt(&hit.key),
            message = message(newest),
            back = count_of!(newest + 1, "message")
        )
    }

    /// Explains why an entry is active. Messages are named by their index.
    pub fn describe(&self, activation: &Activation, messages: &[ScanMessage]) -> Phrase {
        self.describe_with(activation, &|newest| {
            let number = messages.len().checked_sub(newest + 1);
            number.map_or_else(|| phrase!("a message"), |number| phrase!("message {number}", number))
        })
    }

    /// Like [`BookSet::describe`]; `message` names a message, counted from the newest.
    pub fn describe_with(&self, activation: &Activation, message: &dyn Fn(usize) -> Phrase) -> Phrase {
        match &activation.cause {
            Cause::Constant => phrase!("constant"),
            Cause::Decorator => phrase!("forced by `@@activate`"),
            Cause::External => phrase!("activated by the host"),
            Cause::Sticky { until: end } => phrase!("sticky {until}", until = until(*end)),
            Cause::Keys { primary, secondary } => {
                let primary = self.describe_hit(primary, message);
                match secondary {
                    Some(secondary) => {
                        let secondary = self.describe_hit(secondary, message);
                        phrase!("key {primary} with {secondary}", primary, secondary)
                    }
                    None => phrase!("key {primary}", primary),
                }
            }
        }
    }

    /// Describes a match; `message` names a message, counted from the newest.
    pub(crate) fn describe_hit(&self, hit: &KeyHit, message: &dyn Fn(usize) -> Phrase) -> Phrase {
        let place = match hit.place {
            KeyPlace::Message(newest) => message(newest),
            KeyPlace::Source(source) => source.phrase(),
            KeyPlace::Injected(number) => phrase!("additional text {number}", number),
            KeyPlace::Entry(number) => phrase!("the content of {entry}", entry = self.name(number)),
        };
        phrase!("`{key}` in {place}", key = excerpt(&hit.key), place)
    }

    /// Explains why an entry is not active. Unlike the status, names other entries and places; `message`
    /// names a message, counted from the newest.
    pub fn describe_reason(&self, reason: &Reason, message: &dyn Fn(usize) -> Phrase) -> Phrase {
        match reason {
            Reason::Group { group, loss } => loss.in_group(group, &self.name(loss.winner())),
            Reason::Secondary { primary, logic, found } => {
                let found = found.as_ref().map(|found| self.describe_hit(found, message));
                secondary(&self.describe_hit(primary, message), *logic, found)
            }
            other => other.phrase(),
        }
    }

    fn name(&self, member: usize) -> Phrase {
        phrase!("`{name}`", name = excerpt(&self.members()[member].id))
    }
}
