//! Media support of the request's target: its API dialect and its model.

use ctx_tokens::ModelFacts;
use ctx_types::{MediaKind, Phrase, TurnInput, phrase};
use ctx_wire::Dialect;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// `None` accepts files that any API dialect accepts.
    dialect: Option<Dialect>,
    model: &'a ModelFacts,
}

impl<'a> Target<'a> {
    pub(crate) fn new(turn: &TurnInput, model: &'a ModelFacts) -> Self {
        Self { dialect: turn.dialect.as_deref().and_then(Dialect::parse), model }
    }

    pub(crate) fn refuses(&self, mime_type: &str) -> Option<Phrase> {
        let kind = MediaKind::from_mime(mime_type);
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
        (!self.supports(kind)).then(|| unsupported_reason(kind))
    }

    pub(crate) fn takes_address(&self, kind: MediaKind) -> bool {
        let takes = |dialect: Dialect| dialect.takes_address(kind);
        self.supports(kind) && self.dialect.map_or_else(|| Dialect::ALL.into_iter().any(takes), takes)
    }

    fn supports(&self, kind: MediaKind) -> bool {
        let may = self.model.capabilities;
        match kind {
            MediaKind::Image => may.vision,
            MediaKind::Audio => may.audio,
            MediaKind::Video => may.video,
            MediaKind::Document => may.documents,
        }
    }
}

fn unsupported_reason(kind: MediaKind) -> Phrase {
    match kind {
        MediaKind::Image => phrase!("the model does not accept images"),
        MediaKind::Audio => phrase!("the model does not accept audio"),
        MediaKind::Video => phrase!("the model does not accept video"),
        MediaKind::Document => phrase!("the model does not accept documents"),
    }
}
