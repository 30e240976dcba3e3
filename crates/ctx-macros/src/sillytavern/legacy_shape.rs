//! How calls look to SillyTavern's older engine: a search pattern for each macro.
//!
//! Every search is for the first match from a place on, and places only grow, so that what a search learned
//! about the text ahead serves the next one: each pass reads a byte a few times at most.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};

use crate::passes::PassCall;

/// What follows the name of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `<NAME>`.
    Angled,
    /// `{{name}}`.
    Bare,
    /// `{{name::argument}}`, without `}` in the argument.
    One,
    /// `{{name::argument::argument}}`, without `:` in the first and `}` in the second.
    Two,
    /// The same, and the second may be empty.
    TwoOrEmpty,
    /// `{{name argument}}`, with spaces or, if [`Spacing::Colon`], one space or colon.
    Spaced(Spacing),
    /// `{{name:argument}}` or `{{name::argument}}`, perhaps with a space before that.
    List,
    /// `{{name:argument}}` in one line, up to the first closing braces.
    Rest,
    /// `{{name::argument}}` in one line, up to the first closing braces.
    Named,
    /// `{{name::argument::argument}}` in one line.
    Pair,
    /// `{{name "argument"}}` in one line, up to the last such end.
    Quoted,
    /// `{{name anything}}`.
    Anything,
    /// `{{name+3}}`, of which the argument is `UTC+3`.
    Offset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    Spaces,
    Colon,
}

/// Searches one text for one macro.
pub(super) struct Search<'n> {
    name: &'n str,
    shape: Shape,
    brace: Ahead,
    colon: Ahead,
    line: Ahead,
    close: Ahead,
    /// Before this place no quoted argument ends any more.
    quoted_from: usize,
}

/// Where something comes next, kept while it lies ahead.
#[derive(Default)]
struct Ahead {
    /// Where the search began; none was made yet.
    from: Option<usize>,
    found: Option<usize>,
}

impl Ahead {
    fn find(&mut self, text: &str, at: usize, search: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
        let is_known = self.from.is_some_and(|from| from <= at && self.found.is_none_or(|found| at <= found));
        if !is_known {
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            self.found = search(rest).map(|found| at + found);
            self.from = Some(at);
        }
        self.found
    }
}

impl<'n> Search<'n> {
    pub(super) fn new(name: &'n str, shape: Shape) -> Self {
        let (brace, colon, line, close) = Default::default();
        Self { name, shape, brace, colon, line, close, quoted_from: 0 }
    }

    /// Returns the first match that begins at `at` or behind it.
    pub(super) fn next<'t>(&mut self, text: &'t str, at: usize) -> Option<PassCall<'t>> {
        let bytes = text.as_bytes();
        let opener: &[u8] = if self.shape == Shape::Angled { b"<" } else { b"{{" };
        for found in memchr_iter(opener[0], bytes.get(at..)?) {
            if let Some(found) = self.at(text, at + found, opener) {
                return Some(found);
            }
        }
        None
    }

    /// Returns the match that begins with the braces at `start`; to be asked for places that only grow.
    pub(super) fn at_braces<'t>(&mut self, text: &'t str, start: usize) -> Option<PassCall<'t>> {
        self.at(text, start, b"{{")
    }

    fn at<'t>(&mut self, text: &'t str, start: usize, opener: &[u8]) -> Option<PassCall<'t>> {
        let bytes = text.as_bytes();
        let name = start + opener.len();
        let end = name + self.name.len();
        let is_named = bytes.get(start..name) == Some(opener)
            && bytes.get(name..end).is_some_and(|found| found.eq_ignore_ascii_case(self.name.as_bytes()));
        let (arguments, end) = if is_named { self.read(text, end) } else { None }?;
        Some(PassCall { range: start..end, arguments })
    }

    /// Reads what follows the name.
    fn read<'t>(&mut self, text: &'t str, at: usize) -> Option<(Vec<Argument<'t>>, usize)> {
        let rest = text.get(at..)?;
        match self.shape {
            Shape::Angled => rest.starts_with('>').then(|| (Vec::new(), at + 1)),
            Shape::Bare => rest.starts_with("}}").then(|| (Vec::new(), at + 2)),
            Shape::One => {
                let start = rest.starts_with("::").then_some(at + 2)?;
                self.closed_brace(text, start).map(|end| (vec![argument(text, start..end)], end + 2))
            }
            Shape::Two => self.two(text, at, 1),
            Shape::TwoOrEmpty => self.two(text, at, 0),
            Shape::Spaced(Spacing::Colon) => {
                let start = rest.starts_with([' ', ':']).then_some(at + 1)?;
                self.closed_brace(text, start).map(|end| (vec![argument(text, start..end)], end + 2))
            }
            Shape::Spaced(Spacing::Spaces) => {
                let start = at + (rest.len() - rest.trim_start_matches(' ').len());
                let end = self.find_brace(text, start).filter(|_| start > at)?;
                let is_closed = text.get(end..)?.starts_with("}}");
                is_closed.then(|| (vec![argument(text, start..end)], end + 2))
            }
            Shape::List => {
                let colon = rest.strip_prefix(ctx_types::space::is_space).unwrap_or(rest);
                let list = colon.strip_prefix("::").or_else(|| colon.strip_prefix(':'))?;
                let start = at + (rest.len() - list.len());
                self.closed_brace(text, start).map(|end| (vec![argument(text, start..end)], end + 2))
            }
            Shape::Rest => self.in_line(text, at, ":"),
            Shape::Named => self.in_line(text, at, "::"),
            Shape::Pair => self.pair(text, at),
            Shape::Quoted => self.quoted(text, at),
            Shape::Anything => {
                let end = self.close.find(text, at, |rest| memmem::find(rest, b"}}"))?;
                Some((vec![argument(text, at..end)], end + 2))
            }
            Shape::Offset => offset(text, at),
        }
    }

    fn two<'t>(&mut self, text: &'t str, at: usize, least: usize) -> Option<(Vec<Argument<'t>>, usize)> {
        let first = text.get(at..)?.starts_with("::").then_some(at + 2)?;
        let middle =
            self.colon.find(text, first, |rest| memchr(b':', rest)).filter(|middle| *middle > first)?;
        let second = text.get(middle..)?.starts_with("::").then_some(middle + 2)?;
        let end = self.find_brace(text, second).filter(|end| end - second >= least)?;
        let is_closed = text.get(end..)?.starts_with("}}");
        is_closed.then(|| (vec![argument(text, first..middle), argument(text, second..end)], end + 2))
    }

    fn pair<'t>(&mut self, text: &'t str, at: usize) -> Option<(Vec<Argument<'t>>, usize)> {
        let first = text.get(at..)?.starts_with("::").then_some(at + 2)?;
        let line = self.line_end(text, first);
        let middle = self.colon.find(text, first, |rest| memmem::find(rest, b"::"))?;
        let second = middle + 2;
        let end =
            self.close.find(text, second, |rest| memmem::find(rest, b"}}")).filter(|end| *end <= line)?;
        Some((vec![argument(text, first..middle), argument(text, second..end)], end + 2))
    }

    /// Reads at least one character up to the first closing braces in the line.
    fn in_line<'t>(
        &mut self,
        text: &'t str,
        at: usize,
        separator: &str,
    ) -> Option<(Vec<Argument<'t>>, usize)> {
        let start = text.get(at..)?.starts_with(separator).then_some(at + separator.len())?;
        let first = text.get(start..)?.chars().next()?;
        let line = self.line_end(text, start);
        let from = start + first.len_utf8();
        let end = self.close.find(text, from, |rest| memmem::find(rest, b"}}")).filter(|end| *end <= line)?;
        Some((vec![argument(text, start..end)], end + 2))
    }

    fn quoted<'t>(&mut self, text: &'t str, at: usize) -> Option<(Vec<Argument<'t>>, usize)> {
        let start = text.get(at..)?.starts_with(" \"").then_some(at + 2)?;
        let line = self.line_end(text, start);
        let rest = text.as_bytes().get(start..line).filter(|_| start >= self.quoted_from)?;
        let Some(end) = memmem::rfind(rest, b"\"}}") else {
            self.quoted_from = line;
            return None;
        };
        let end = start + end;
        Some((vec![argument(text, start..end)], end + 3))
    }

    /// Returns where the first `}` is if another one follows it and something stands before it.
    fn closed_brace(&mut self, text: &str, start: usize) -> Option<usize> {
        let end = self.find_brace(text, start)?;
        (end > start && text.get(end..)?.starts_with("}}")).then_some(end)
    }

    fn find_brace(&mut self, text: &str, start: usize) -> Option<usize> {
        self.brace.find(text, start, |rest| memchr(b'}', rest))
    }

    fn line_end(&mut self, text: &str, start: usize) -> usize {
        self.line.find(text, start, |rest| memchr(b'\n', rest)).unwrap_or(text.len())
    }
}

type Argument<'t> = (Cow<'t, str>, Range<usize>);

fn argument(text: &str, range: Range<usize>) -> Argument<'_> {
    (Cow::Borrowed(text.get(range.clone()).unwrap_or_default()), range)
}

fn offset(text: &str, at: usize) -> Option<(Vec<Argument<'_>>, usize)> {
    let rest = text.get(at..)?;
    let digits = rest.strip_prefix(['+', '-'])?.bytes().take_while(u8::is_ascii_digit).count();
    let end = at + 1 + digits;
    let is_closed = digits > 0 && text.get(end..)?.starts_with("}}");
    let offset = Cow::Owned(format!("UTC{}", text.get(at..end)?));
    is_closed.then(|| (vec![(offset, at..end)], end + 2))
}
