//! The quality report.

use std::fmt::{self, Write as _};

use ctx_types::internal::plural;
use ctx_types::{Diagnostic, Message, Phrase, Role, Source, SourceKind, Text, Trust, phrase};
use serde::Serialize;

use crate::codes;
use crate::quality::compare::{Comparison, compare};
use crate::quality::fact::{Fact, FactKind};
use crate::quality::side::{MAX_BYTES, MAX_FACTS, Side};

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
        let (original, compressed) = (Side::new(original), Side::new(compressed));
        let Comparison { kept, lost, invented } = compare(&original, &compressed);
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

    /// Returns the share of the original's facts that were kept, from 0 to 1; `None` if it has none.
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

/// Limit of the facts shown of a list; the rest is counted.
const MAX_SHOWN: usize = 100;

impl fmt::Display for QualityReport {
    /// Writes the counts, then the lost and the invented facts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.kept.len() + self.lost.len();
        write!(f, "kept {} of {}", self.kept.len(), plural(all, "fact"))?;
        if let Some(retention) = self.retention() {
            write!(f, " ({:.1}%)", retention * 100.0)?;
        }
        writeln!(f, ", lost {}, invented {}", self.lost.len(), self.invented.len())?;
        if !self.kinds.is_empty() {
            writeln!(f, "  {:<10} {:>6} {:>6} {:>9}", "", "kept", "lost", "invented")?;
        }
        for KindCounts { kind, kept, lost, invented } in &self.kinds {
            writeln!(f, "  {:<10} {kept:>6} {lost:>6} {invented:>9}", kind.as_str())?;
        }
        write_facts(f, "lost", &self.lost)?;
        write_facts(f, "invented", &self.invented)
    }
}

fn write_facts(f: &mut fmt::Formatter<'_>, title: &str, facts: &[Fact]) -> fmt::Result {
    if facts.is_empty() {
        return Ok(());
    }
    writeln!(f, "{title}")?;
    let shown = facts.get(..facts.len().min(MAX_SHOWN)).unwrap_or_default();
    let width = shown.iter().map(|fact| place(fact).chars().count()).max().unwrap_or(0);
    for fact in shown {
        write!(f, "  {:<10}  {:<width$}  {}", fact.kind.as_str(), place(fact), one_line(&fact.text))?;
        if fact.count > 1 {
            write!(f, " (and {})", plural(fact.count - 1, "more place"))?;
        }
        writeln!(f)?;
    }
    match facts.len() - shown.len() {
        0 => Ok(()),
        more => writeln!(f, "  and {}", plural(more, "more fact")),
    }
}

/// Writes where a fact stands: the message and the bytes.
fn place(fact: &Fact) -> String {
    let mut shown = String::new();
    if let Some(place) = fact.places.first() {
        let message = place.id.as_deref().map_or_else(|| format!("#{}", place.message), str::to_owned);
        let call = place.call.map_or_else(String::new, |call| format!(" call {call}"));
        write!(shown, "{message}{call}:{}", place.start).unwrap_or_default();
    }
    shown
}

/// Squeezes white space, and escapes what would move the cursor.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 120;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let shown: String = line.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    if shown.len() < line.len() { format!("{shown}…") } else { shown }
}
