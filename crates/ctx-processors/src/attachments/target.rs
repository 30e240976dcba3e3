//! What the target of a request takes: its dialect has a shape for it, and its model has eyes or ears.

use ctx_tokens::ModelFacts;
use ctx_types::{MediaKind, Phrase, TurnInput, phrase};
use ctx_wire::Dialect;

/// To whom a request goes, as far as files depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// How the provider speaks; any way if nobody says.
    dialect: Option<Dialect>,
    model: &'a ModelFacts,
}

impl<'a> Target<'a> {
    pub(crate) fn new(turn: &TurnInput, model: &'a ModelFacts) -> Self {
        Self { dialect: turn.dialect.as_deref().and_then(Dialect::parse), model }
    }

    /// Explains why a file of a media type cannot be sent as it is; `None` if it can.
    pub(crate) fn refuses(&self, mime_type: &str) -> Option<Phrase> {
        let kind = MediaKind::of_mime(mime_type);
        let takes = |dialect: Dialect| dialect.takes(mime_type);
        match self.dialect {
            Some(dialect) if !takes(dialect) => {
                return Some(phrase!(
                    "API dialect `{dialect}` does not support {kind}",
                    dialect = dialect.to_string(),
                    kind = mime_type
                ));
            }
            None if !Dialect::ALL.into_iter().any(takes) => {
                return Some(phrase!("no API dialect supports {kind}", kind = mime_type));
            }
            _ => {}
        }
        (!self.has_sense_for(kind)).then(|| takes_no(kind))
    }

    /// Returns whether the provider fetches a file of this kind from an address by itself.
    pub(crate) fn takes_address(&self, kind: MediaKind) -> bool {
        let takes = |dialect: Dialect| dialect.takes_address(kind);
        self.has_sense_for(kind) && self.dialect.map_or_else(|| Dialect::ALL.into_iter().any(takes), takes)
    }

    fn has_sense_for(&self, kind: MediaKind) -> bool {
        let may = self.model.capabilities;
        match kind {
            MediaKind::Image => may.vision,
            MediaKind::Audio => may.audio,
            MediaKind::Video => may.video,
            MediaKind::Document => may.documents,
        }
    }
}

/// Reports that a model takes no files of a kind.
fn takes_no(kind: MediaKind) -> Phrase {
    match kind {
        MediaKind::Image => phrase!("the model does not accept images"),
        MediaKind::Audio => phrase!("the model does not accept audio"),
        MediaKind::Video => phrase!("the model does not accept video"),
        MediaKind::Document => phrase!("the model does not accept documents"),
    }
}
