//! The quality report.

use ctx_types::{Diagnostic, Message, Phrase, Role, Source, SourceKind, Text, Trust, phrase};
use serde::Serialize;

use crate::codes;
use crate::quality::compare::{Comparison, compare};
use crate::quality::fact::{Fact, FactKind};
use crate::quality::side::{MAX_BYTES, MAX_FACTS, Side};
use crate::quality::uses::FactUses;

/// Facts that a compression kept, lost and invented.
///
/// Values are compared, not spellings: `$1.5k` is `1,500 dollars`, and `2026-03-05` is `5 March 2026`.
///
/// ```
/// use ctx_compress::quality::{FactKind, QualityReport};
/// use ctx_types::{Message, Role, Source};
///
/// let said = |text: &str| Message::new(Role::User, text, Source::history("n1", Role::User));
/// let original = [said("Ada Lovelace comes on 5 March at 9:30. It costs $1,500.")];
/// let report = QualityReport::of_summary(&original, "Ada Lovelace comes on 2026-03-05 and pays 1.5k dollars to Bob.");
///
/// let lost: Vec<&str> = report.lost.iter().map(|fact| &*fact.text).collect();
/// assert_eq!(lost, ["9:30"]);
/// assert_eq!(report.lost[0].kind, FactKind::Date);
/// assert_eq!(report.invented[0].text, "Bob");
/// assert_eq!(report.retention(), Some(0.75));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QualityReport {
    /// Counts by kind, without kinds that have no facts.
    pub kinds: Vec<KindCounts>,
    /// Facts that the compressed form has lost, in the order of the original.
    pub lost: Vec<Fact>,
    /// Facts of the compressed form that are not in the original, in the order of the compressed form.
    pub invented: Vec<Fact>,
    /// Facts of both, in the order of the original.
    pub kept: Vec<Fact>,
    /// Limits that were exceeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// Counts of the facts of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindCounts {
    /// The kind.
    pub kind: FactKind,
    /// Kept facts.
    pub kept: usize,
    /// Lost facts.
    pub lost: usize,
    /// Invented facts.
    pub invented: usize,
}

impl QualityReport {
    /// Compares messages with their compressed form. O(bytes of both).
    ///
    /// Reads at most 32 MiB and 100,000 different facts of each, and reports the rest in
    /// [`diagnostics`](Self::diagnostics).
    pub fn of(original: &[Message], compressed: &[Message]) -> Self {
        Self::compare(original, compressed, None)
    }

    /// As [`of`](Self::of), and counts the later uses of lost facts.
    ///
    /// ```
    /// use ctx_compress::quality::{FactUses, QualityReport};
    /// use ctx_types::{Message, Role, Source};
    ///
    /// let said = |text: &str| [Message::new(Role::User, text, Source::history("n1", Role::User))];
    /// let mut later = FactUses::default();
    /// later.add(&said("Open port 8123. Is 8123 free?"));
    /// let report = QualityReport::with_uses(&said("The port is 8123."), &said("A port was chosen."), &later);
    /// assert_eq!(report.lost[0].uses, Some(2));
    /// ```
    pub fn with_uses(original: &[Message], compressed: &[Message], later: &FactUses) -> Self {
        Self::compare(original, compressed, Some(later))
    }

    fn compare(original: &[Message], compressed: &[Message], later: Option<&FactUses>) -> Self {
        let (original, compressed) = (Side::new(original), Side::new(compressed));
        let Comparison { kept, lost, invented } = compare(&original, &compressed, later);
        let diagnostics = [(&original, "the original"), (&compressed, "the compressed text")];
        let diagnostics = diagnostics.into_iter().flat_map(|(side, name)| limits(side, name)).collect();
        let kinds = counts(&kept, &lost, &invented);
        Self { kinds, lost, invented, kept, diagnostics }
    }

    /// Compares messages with a summary of them.
    pub fn of_summary(original: &[Message], summary: impl Into<Text>) -> Self {
        let source = Source::new(SourceKind::Summary, Trust::Model);
        Self::of(original, &[Message::new(Role::System, summary, source)])
    }

    /// Returns the fraction of the original's facts that were kept, or `None` for an original without facts.
    #[expect(clippy::cast_precision_loss, reason = "there are at most 100,000 facts")]
    pub fn retention(&self) -> Option<f64> {
        let all = self.kept.len() + self.lost.len();
        (all > 0).then(|| self.kept.len() as f64 / all as f64)
    }
}

fn limits(side: &Side<'_>, name: &'static str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if side.unread > 0 {
        let message = phrase!(
            "{name} exceeds {bytes} bytes; {unread} bytes are not compared",
            name = Phrase::from(name),
            bytes = MAX_BYTES,
            unread = side.unread
        );
        found.push(Diagnostic::warning(codes::REPORT_LIMIT, message));
    }
    if side.left_out > 0 {
        let message = phrase!(
            "{name} has more than {facts} facts; {count} are not compared",
            name = Phrase::from(name),
            facts = MAX_FACTS,
            count = side.left_out
        );
        found.push(Diagnostic::warning(codes::REPORT_LIMIT, message));
    }
    found
}

fn counts(kept: &[Fact], lost: &[Fact], invented: &[Fact]) -> Vec<KindCounts> {
    let count = |facts: &[Fact], kind| facts.iter().filter(|fact| fact.kind == kind).count();
    let counts = FactKind::ALL.map(|kind| KindCounts {
        kind,
        kept: count(kept, kind),
        lost: count(lost, kind),
        invented: count(invented, kind),
    });
    counts.into_iter().filter(|counts| counts.kept + counts.lost + counts.invented > 0).collect()
}
