use crate::phrase;
use std::fmt;

use crate::codes;
use crate::diagnostic::{Diagnostic, Span};
use crate::wording::excerpt;

/// Maximum points of one placement. The farthest are dropped.
pub const MAX_POINTS: usize = 10_000;

const MAX_TERMS: usize = 100;

/// The depths of a placement.
///
/// ```
/// use ctx_types::DepthPoints;
///
/// let (points, _) = DepthPoints::parse("3, 10~5");
/// assert_eq!(points.within(22), [3, 10, 15, 20]);
/// assert_eq!(DepthPoints::single(4).within(22), [4]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepthPoints {
    terms: Vec<DepthTerm>,
    /// Written as a list (`depthConfig`), even with one item.
    is_list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DepthTerm {
    start: u64,
    /// Never 0.
    step: Option<u64>,
}

impl DepthPoints {
    /// Creates one depth, in messages from the end.
    pub fn single(depth: u64) -> Self {
        Self { terms: vec![DepthTerm { start: depth, step: None }], is_list: false }
    }

    /// Parses AIO Hub's advanced depth syntax: up to 100 terms, separated by commas.
    ///
    /// `S` is one depth. `S~I` and `S:I` repeat from S in steps of I, except with step 0, up to the length of
    /// the history. Duplicate terms are ignored.
    ///
    /// Like AIO Hub, ignores text after the leading digits of a number; this, negative, and empty numbers are
    /// reported.
    pub fn parse(text: &str) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let mut terms = Vec::new();
        let mut start = 0;
        for part in text.split(',') {
            let span = Span::new(start, start + part.len());
            start = span.end + 1;
            if part.trim().is_empty() {
                continue;
            }
            if terms.len() == MAX_TERMS {
                let message = phrase!("more than {limit} depths; the rest is ignored", limit = MAX_TERMS);
                diagnostics.push(Diagnostic::warning(codes::DEPTH_SYNTAX, message).at_span(span));
                break;
            }
            let depth = excerpt(part.trim());
            let Some(ParsedTerm { term, is_clean }) = DepthTerm::parse(part.trim()) else {
                let message = phrase!("invalid depth `{depth}`; it is ignored", depth);
                let help = phrase!("write a depth such as `3`, or `10~5` for 10, 15, 20, and so on");
                let bad = Diagnostic::warning(codes::DEPTH_SYNTAX, message).at_span(span);
                diagnostics.push(bad.with_help(help));
                continue;
            };
            if !terms.contains(&term) {
                terms.push(term);
            }
            if !is_clean {
                let message = phrase!("`{depth}` is read as `{term}`", depth, term = term.to_string());
                diagnostics.push(Diagnostic::warning(codes::DEPTH_SYNTAX, message).at_span(span));
            }
        }
        (Self { terms, is_list: true }, diagnostics)
    }

    /// Returns whether there is no depth.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns whether the depths came from [`DepthPoints::parse`]. As in AIO Hub, list points beyond the
    /// history are dropped.
    pub const fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns the only depth, if it has no step.
    pub fn as_single(&self) -> Option<u64> {
        match self.terms.as_slice() {
            [DepthTerm { start, step: None }] => Some(*start),
            _ => None,
        }
    }

    /// Returns the nearest [`MAX_POINTS`] unique points in a history of `len` messages, ascending.
    ///
    /// A depth from [`DepthPoints::single`] is clamped to `len`.
    pub fn within(&self, len: u64) -> Vec<u64> {
        self.nearest(len, MAX_POINTS)
    }

    /// Like [`DepthPoints::within`], with another limit. O(terms · max · log(terms · max)).
    pub fn nearest(&self, len: u64, max: usize) -> Vec<u64> {
        if let Some(depth) = self.as_single().filter(|_| !self.is_list) {
            return vec![depth.min(len)];
        }
        let mut points: Vec<u64> = self.terms.iter().flat_map(|term| term.points(len).take(max)).collect();
        points.sort_unstable();
        points.dedup();
        points.truncate(max);
        points
    }

    /// Returns each term start beyond a history of `len` messages.
    pub fn beyond(&self, len: u64) -> Vec<u64> {
        self.terms.iter().map(|term| term.start).filter(|start| *start > len).collect()
    }
}

impl fmt::Display for DepthPoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            term.fmt(f)?;
        }
        Ok(())
    }
}

impl DepthTerm {
    fn parse(text: &str) -> Option<ParsedTerm> {
        let (start, step) = match text.split_once(['~', ':']) {
            Some((start, step)) => (start.trim(), Some(step.trim())),
            None => (text, None),
        };
        let (first, first_clean) = leading_number(start)?;
        let (step, step_clean) = match step.map(leading_number) {
            None => (None, true),
            Some(None) => (None, false),
            Some(Some((step, clean))) => ((step > 0).then_some(step), clean),
        };
        Some(ParsedTerm { term: Self { start: first, step }, is_clean: first_clean && step_clean })
    }

    fn points(self, len: u64) -> impl Iterator<Item = u64> {
        let mut next = (self.start <= len).then_some(self.start);
        std::iter::from_fn(move || {
            let point = next?;
            next = self.step.and_then(|step| point.checked_add(step)).filter(|point| *point <= len);
            Some(point)
        })
    }
}

impl fmt::Display for DepthTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "{}~{step}", self.start),
            None => write!(f, "{}", self.start),
        }
    }
}

struct ParsedTerm {
    term: DepthTerm,
    /// Whether no text follows the numbers.
    is_clean: bool,
}

fn leading_number(text: &str) -> Option<(u64, bool)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text.get(..digits).filter(|digits| !digits.is_empty())?;
    // Beyond every history.
    Some((number.parse().unwrap_or(u64::MAX), digits == text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(syntax: &str, len: u64, expected: &[u64], findings: usize) {
        let (points, diagnostics) = DepthPoints::parse(syntax);
        assert_eq!(points.within(len), expected, "{syntax}");
        assert_eq!(diagnostics.len(), findings, "{syntax}: {diagnostics:?}");
    }

    #[test]
    fn repeats_terms_up_to_history_length() {
        check("3, 10~5", 22, &[3, 10, 15, 20], 0);
        check("3:4", 12, &[3, 7, 11], 0);
        check("0~1", 3, &[0, 1, 2, 3], 0);
    }

    #[test]
    fn reads_zero_step_as_one_depth() {
        check("5~0", 20, &[5], 0);
    }

    #[test]
    fn skips_duplicates_and_depths_beyond_history() {
        check("2, 2, 9, 1~1", 3, &[1, 2, 3], 0);
    }

    #[test]
    fn clamps_only_a_single_depth_to_history() {
        assert_eq!(DepthPoints::single(9).within(3), [3]);
        check("9", 3, &[], 0);
    }

    #[test]
    fn reads_leading_digits_and_reports_invalid_terms() {
        check("3abc", 9, &[3], 1);
        check("-1, 2", 9, &[2], 1);
        check("x~5", 9, &[], 1);
        check("2~x", 9, &[2], 1);
        check("99999999999999999999999, 1", 9, &[1], 0);
        check(" , ,", 9, &[], 0);
    }

    #[test]
    fn merges_repeated_depth() {
        assert_eq!(DepthPoints::parse("2, 2").0.as_single(), Some(2));
    }

    #[test]
    fn keeps_nearest_depths_in_any_term_order() {
        let (points, _) = DepthPoints::parse("50~1, 7, 0");
        assert_eq!(points.nearest(1_000, 3), [0, 7, 50]);
        assert_eq!(points.within(u64::MAX).len(), MAX_POINTS);
    }

    #[test]
    fn reports_excess_terms_once() {
        let list: Vec<String> = (0..MAX_TERMS + 5).map(|depth| depth.to_string()).collect();
        let (points, diagnostics) = DepthPoints::parse(&list.join(","));
        assert_eq!((points.within(u64::MAX).len(), diagnostics.len()), (MAX_TERMS, 1));
    }
}
