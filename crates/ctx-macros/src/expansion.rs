use std::sync::Arc;

use ctx_types::{Diagnostic, Segment, Source, SourceKind, Span, Text, Trust};

use crate::registry::Registry;
use crate::space_set::SpaceSet;

/// Expanded text with the source of every byte.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// Text.
    pub text: Text,
    /// Diagnostics of this evaluation.
    pub diagnostics: Vec<Diagnostic>,
    provenance: Option<Provenance>,
}

#[derive(Clone, Debug)]
struct Provenance {
    pieces: Vec<OutputSegment>,
    origin: Source,
    registry: Registry,
}

/// Starts at the end of the previous piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputSegment {
    pub(crate) end: usize,
    pub(crate) writer: Writer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// Copied from the template.
    Template,
    /// `u32` keeps pieces small.
    Macro { definition: u32, trust: Trust },
    /// `{{.name}}` and similar.
    Variable { trust: Trust },
}

impl Expansion {
    pub(crate) const fn plain(text: Text) -> Self {
        Self { text, diagnostics: Vec::new(), provenance: None }
    }

    pub(crate) fn new(
        text: Text,
        pieces: Vec<OutputSegment>,
        origin: &Source,
        registry: &Registry,
        diagnostics: Vec<Diagnostic>,
    ) -> Self {
        let provenance = (!is_all_template(&pieces)).then(|| Provenance {
            pieces,
            origin: origin.clone(),
            registry: registry.clone(),
        });
        Self { text, diagnostics, provenance }
    }

    /// Returns segments that cover the text. Bytes copied from the template have the source passed to
    /// [`expand`](crate::Template::expand); values of calls have that source in `via`.
    ///
    /// Empty if no macro wrote a byte: the whole text then has the template's source. Linear in the segments.
    pub fn segments(&self) -> Vec<Segment> {
        let Some(Provenance { pieces, origin, registry }) = &self.provenance else {
            return Vec::new();
        };
        let variable: Arc<str> = Arc::from("variable");
        let mut start = 0;
        let mut segments = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let span = Span::new(start, piece.end);
            start = piece.end;
            let (id, trust) = match piece.writer {
                Writer::Template => {
                    segments.push(Segment { span, source: origin.clone(), via: Vec::new() });
                    continue;
                }
                Writer::Macro { definition, trust } => {
                    (&registry.definition(definition as usize).name, trust)
                }
                Writer::Variable { trust } => (&variable, trust),
            };
            let source = Source::new(SourceKind::Macro, trust).with_id(id.clone());
            segments.push(Segment { span, source, via: vec![origin.clone()] });
        }
        segments
    }
}

#[derive(Debug, Default)]
pub(crate) struct Output {
    text: String,
    pieces: Vec<OutputSegment>,
    /// Drop these until another character follows.
    dropped: Option<SpaceSet>,
    /// Dropped at the start; also dropped before it in `append`.
    dropped_before: Option<SpaceSet>,
}

impl Output {
    pub(crate) fn with_capacity(bytes: usize, pieces: usize) -> Self {
        let (text, pieces) = (String::with_capacity(bytes), Vec::with_capacity(pieces));
        Self { text, pieces, ..Self::default() }
    }

    #[inline]
    pub(crate) fn push(&mut self, text: &str, writer: Writer) {
        let text = match self.dropped {
            Some(set) => set.trim_start(text),
            None => text,
        };
        if text.is_empty() {
            return;
        }
        self.dropped = None;
        self.text.push_str(text);
        let end = self.text.len();
        match self.pieces.last_mut() {
            Some(last) if writer == Writer::Template && last.writer == writer => last.end = end,
            _ => self.pieces.push(OutputSegment { end, writer }),
        }
    }

    /// Drops characters at the end and at the start of the next push. Amortized O(1).
    pub(crate) fn trim(&mut self, set: SpaceSet) {
        self.dropped = Some(set);
        self.trim_end(set);
        if self.text.is_empty() {
            self.dropped_before = Some(set);
        }
    }

    fn trim_end(&mut self, set: SpaceSet) {
        self.truncate(set.trim_end(&self.text).len());
    }

    /// Does not trim next to dropped characters.
    pub(crate) fn trim_ends(&mut self) {
        const SPACE: SpaceSet = SpaceSet::WhiteSpace;
        if self.dropped.is_none() {
            self.trim_end(SPACE);
        }
        let removed = self.text.len() - SPACE.trim_start(&self.text).len();
        if removed == 0 || self.dropped_before.is_some() {
            return;
        }
        self.text.drain(..removed);
        self.pieces.retain_mut(|piece| {
            piece.end = piece.end.saturating_sub(removed);
            piece.end > 0
        });
    }

    /// A trim at the ends of `other` also applies around it.
    pub(crate) fn append(&mut self, other: &Self) {
        if let Some(set) = other.dropped_before {
            self.trim(set);
        }
        let mut start = 0;
        for piece in &other.pieces {
            self.push(&other.text[start..piece.end], piece.writer);
            start = piece.end;
        }
        if let Some(set) = other.dropped {
            self.trim(set);
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        if len >= self.text.len() {
            return;
        }
        self.text.truncate(len);
        let kept = self.pieces.partition_point(|piece| piece.end < len);
        self.pieces.truncate(kept + 1);
        match self.pieces.last_mut() {
            Some(_) if len == 0 => self.pieces.clear(),
            Some(last) => last.end = len,
            None => {}
        }
    }

    /// `places` are ascending.
    pub(crate) fn remove(&mut self, places: &[usize]) {
        let mut text = String::with_capacity(self.text.len() - places.len());
        let mut from = 0;
        for place in places {
            text.push_str(&self.text[from..*place]);
            from = place + 1;
        }
        text.push_str(&self.text[from..]);
        let mut pieces: Vec<OutputSegment> = Vec::with_capacity(self.pieces.len());
        let mut removed = 0;
        for piece in &self.pieces {
            removed += places.get(removed..).map_or(0, |rest| rest.partition_point(|at| *at < piece.end));
            let end = piece.end - removed;
            if end > pieces.last().map_or(0, |last| last.end) {
                pieces.push(OutputSegment { end, ..*piece });
            }
        }
        (self.text, self.pieces) = (text, pieces);
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn pieces(&self) -> &[OutputSegment] {
        &self.pieces
    }

    pub(crate) fn into_parts(self) -> (String, Vec<OutputSegment>) {
        (self.text, self.pieces)
    }
}

impl Writer {
    #[inline]
    pub(crate) fn from_macro(definition: usize, trust: Trust) -> Self {
        let definition = u32::try_from(definition).expect("a registry has few macros");
        Self::Macro { definition, trust }
    }
}

pub(crate) fn is_all_template(pieces: &[OutputSegment]) -> bool {
    pieces.iter().all(|piece| piece.writer == Writer::Template)
}

pub(crate) fn least_trust(pieces: &[OutputSegment], template: Trust) -> Option<Trust> {
    let trust = |piece: &OutputSegment| match piece.writer {
        Writer::Template => template,
        Writer::Macro { trust, .. } | Writer::Variable { trust } => trust,
    };
    pieces.iter().map(trust).max()
}
