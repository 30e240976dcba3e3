//! How well a report agrees with labels.
//!
//! A label has a kind and the ways to write its value. What the report says that has no label is judged by the
//! texts alone: a fact is wrongly called lost if its very words stand in the summary, and wrongly called invented
//! whenever nothing invented is labelled so.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ctx_compress::quality::{Fact, FactKind, QualityReport};

/// What should be reported about one summary.
pub(crate) struct Labels {
    /// What the summary lost, by kind and spellings.
    pub(crate) lost: Vec<Label>,
    /// What it says of the original.
    pub(crate) kept: Vec<Label>,
    /// What it made up.
    pub(crate) invented: Vec<Label>,
}

/// A labelled fact.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) kind: String,
    /// In lower case.
    pub(crate) spellings: Vec<String>,
}

impl Label {
    /// Returns whether a fact of a report is this one: one of the two texts holds the other.
    fn is(&self, fact: &Fact) -> bool {
        if fact.kind == FactKind::Quote && self.kind != "quote" {
            return false;
        }
        let text = fact.text.to_lowercase();
        let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
        self.spellings.iter().any(|spelling| {
            let of_spelling = spelling.trim_matches(|c: char| !c.is_alphanumeric());
            holds(&text, of_spelling) || (holds(spelling, bare) && bare.len() * 2 >= of_spelling.len())
        })
    }
}

/// Returns whether a text holds another one between borders of words.
fn holds(text: &str, part: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    !part.is_empty()
        && text.match_indices(part).any(|(at, _)| {
            let (before, after) = (text[..at].chars().next_back(), text[at + part.len()..].chars().next());
            let begins = !is_word(before) || !is_word(part.chars().next());
            begins && (!is_word(after) || !is_word(part.chars().next_back()))
        })
}

/// Counts over summaries.
#[derive(Default)]
pub(crate) struct Score {
    /// By kind: labelled as lost, of these reported; labelled as invented, of these reported.
    kinds: BTreeMap<String, [usize; 4]>,
    /// Reported as lost: rightly by label, wrongly by label, without a label, of these wrongly.
    lost: [usize; 4],
    /// Reported as invented: rightly, wrongly.
    invented: [usize; 2],
    /// What went wrong, for people.
    pub(crate) faults: Vec<String>,
}

impl Score {
    pub(crate) fn add(&mut self, name: &str, report: &QualityReport, labels: &Labels, summary: &str) {
        let summary = summary.to_lowercase();
        let lost = labels.lost.iter().map(|label| (0, label));
        for (at, label) in lost.chain(labels.invented.iter().map(|label| (2, label))) {
            let facts = if at == 0 { &report.lost } else { &report.invented };
            let is_found = facts.iter().any(|fact| label.is(fact));
            let counts = self.kinds.entry(label.kind.clone()).or_default();
            counts[at] += 1;
            counts[at + 1] += usize::from(is_found);
            if !is_found {
                let what = if at == 0 { "lost" } else { "invented" };
                self.faults.push(format!(
                    "{name}: {what} and not reported: {} {:?}",
                    label.kind, label.spellings[0]
                ));
            }
        }
        for fact in &report.lost {
            let is_lost = labels.lost.iter().any(|label| label.is(fact));
            let is_kept = labels.kept.iter().any(|label| label.is(fact));
            let place = if is_lost {
                0
            } else if is_kept {
                1
            } else {
                2
            };
            self.lost[place] += 1;
            let is_wrong = place == 2 && holds(&summary, &fact.text.to_lowercase());
            self.lost[3] += usize::from(is_wrong);
            if place == 1 || is_wrong {
                self.faults.push(format!("{name}: there and called lost: {} {:?}", fact.kind, fact.text));
            }
        }
        for fact in &report.invented {
            let is_right = labels.invented.iter().any(|label| label.is(fact));
            self.invented[usize::from(!is_right)] += 1;
            if !is_right {
                self.faults
                    .push(format!("{name}: told before and called invented: {} {:?}", fact.kind, fact.text));
            }
        }
    }

    fn sum(&self, at: usize) -> usize {
        self.kinds.values().map(|counts| counts[at]).sum()
    }

    pub(crate) fn recall_of_lost(&self) -> usize {
        percent(self.sum(1), self.sum(0))
    }

    pub(crate) fn recall_of_invented(&self) -> usize {
        percent(self.sum(3), self.sum(2))
    }

    /// Over everything that was called lost or invented.
    pub(crate) fn precision(&self) -> usize {
        let [right, wrong, others, wrong_others] = self.lost;
        percent(
            right + others - wrong_others + self.invented[0],
            right + wrong + others + self.invented[0] + self.invented[1],
        )
    }

    /// Only over what has a label.
    pub(crate) fn strict_precision(&self) -> usize {
        percent(
            self.lost[0] + self.invented[0],
            self.lost[0] + self.lost[1] + self.invented[0] + self.invented[1],
        )
    }

    pub(crate) fn table(&self) -> String {
        let mut table = format!("{:<12} {:>14} {:>14}\n", "", "lost", "invented");
        let cell = |found: usize, of: usize| {
            if of == 0 { "-".to_owned() } else { format!("{found}/{of} {}%", percent(found, of)) }
        };
        for (kind, [lost, found, invented, noticed]) in &self.kinds {
            writeln!(table, "{kind:<12} {:>14} {:>14}", cell(*found, *lost), cell(*noticed, *invented))
                .unwrap();
        }
        let of = |at: usize| self.sum(at);
        writeln!(table, "{:<12} {:>14} {:>14}", "recall", cell(of(1), of(0)), cell(of(3), of(2))).unwrap();
        let [right, wrong, others, wrong_others] = self.lost;
        let lost = cell(right + others - wrong_others, right + wrong + others);
        let invented = cell(self.invented[0], self.invented[0] + self.invented[1]);
        writeln!(table, "{:<12} {lost:>14} {invented:>14}", "precision").unwrap();
        writeln!(table, "{:<12} {:>14}", "of labelled", cell(right, right + wrong)).unwrap();
        table
    }
}

fn percent(part: usize, whole: usize) -> usize {
    (part * 100).checked_div(whole).unwrap_or(100)
}
