//! Fields of worldbook entries in other formats.

use serde_json::Value;

use crate::source::Source;

/// A field of an entry in another format.
#[derive(Debug)]
pub(crate) struct EntryField {
    /// Its path there, with `/` between an object and its field.
    pub(crate) theirs: &'static str,
    pub(crate) ours: &'static str,
    pub(crate) kind: Kind,
}

/// How a field is written there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Any,
    /// For editors, which show it.
    Shown,
    Text,
    Number,
    Scalar,
    Switch,
    /// The opposite of ours.
    Switched,
    Texts,
    /// Texts, or any other value.
    Triggers,
    /// The title of an entry without a comment.
    Title,
    /// Keys of `RisuAI` in one text, with commas between them.
    Divided,
    /// A text of `RisuAI`, below decorators that may have keys.
    Decorated,
    /// For quick replies, which are not supported.
    QuickReply,
    /// Only written.
    Unread,
}

pub(crate) const fn row(theirs: &'static str, ours: &'static str, kind: Kind) -> EntryField {
    EntryField { theirs, ours, kind }
}

impl Kind {
    /// Takes a field, and returns its value here. A value of another type stays; readers of worldbooks report it.
    pub(crate) fn take(self, field: Source<'_>, ours: &'static str) -> Option<Value> {
        match self {
            Self::Any => drop(field.any().into(ours)),
            Self::Shown => drop(field.any().equivalent("for editors; same field here").into(ours)),
            Self::Text | Self::Title | Self::Divided | Self::Decorated => drop(field.text().into(ours)),
            Self::Number => drop(field.number().into(ours)),
            Self::Scalar => drop(field.scalar().into(ours)),
            Self::Switch => drop(field.switch().into(ours)),
            Self::Switched => return field.flag().into(ours).map(|is_on| Value::Bool(!is_on)),
            Self::Texts => field.texts(ours),
            Self::Triggers => {
                field.any().into(ours);
                field.each_text(ours);
            }
            Self::QuickReply => field.keep("quick replies are not supported"),
            Self::Unread => return None,
        }
        field.value().cloned()
    }
}

/// Returns the path of a field of ours in a format, if it has another one there.
pub(crate) fn theirs(fields: &[EntryField], ours: &str) -> Option<&'static str> {
    fields.iter().find(|known| known.ours == ours).map(|known| known.theirs)
}
