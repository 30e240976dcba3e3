//! Old spellings: `<USER>` and its like, and `{{time_UTC+3}}`.

use ctx_types::Span;
use memchr::memchr_iter;

use crate::check::Checker;
use crate::space;

/// An old spelling of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    pub(super) span: Span,
    pub(super) definition: usize,
    pub(super) argument: Option<Span>,
}

/// The old spellings of a text, in their order.
#[derive(Debug, Default)]
pub(super) struct Markers {
    list: Vec<Marker>,
    next: usize,
}

/// What stands between angle brackets, in any case, and the macro that it means.
const ANGLED: [(&str, &str); 5] = [
    ("user", "user"),
    ("bot", "char"),
    ("char", "char"),
    ("group", "group"),
    ("charifnotgroup", "charIfNotGroup"),
];

impl Markers {
    /// Returns the first one that begins at `at` or behind it; `at` never gets smaller.
    pub(super) fn next_from(&mut self, at: usize) -> Option<Marker> {
        while self.list.get(self.next)?.span.start < at {
            self.next += 1;
        }
        self.list.get(self.next).copied()
    }
}

/// Finds the old spellings in angle brackets. Linear in the text.
pub(super) fn find(source: &str, check: &Checker<'_>) -> Markers {
    let found = memchr_iter(b'<', source.as_bytes()).filter_map(|at| angled(source, at, check));
    Markers { list: found.collect(), next: 0 }
}

fn angled(source: &str, at: usize, check: &Checker<'_>) -> Option<Marker> {
    let rest = source.as_bytes().get(at + 1..)?;
    let (word, name) = ANGLED.iter().find(|(word, _)| {
        let written = rest.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()));
        written && rest.get(word.len()) == Some(&b'>')
    })?;
    let definition = check.find_name(name)?;
    Some(Marker { span: Span::new(at, at + word.len() + 2), definition, argument: None })
}

/// Reads `{{time_UTC+3}}` from the place of its braces and that of its name.
pub(super) fn zoned(source: &str, start: usize, name: usize, check: &Checker<'_>) -> Option<Marker> {
    const WORD: &str = "time_UTC";
    let rest = source.as_bytes().get(name..)?;
    let is_time = rest.get(..WORD.len())?.eq_ignore_ascii_case(WORD.as_bytes());
    if !is_time || !matches!(rest.get(WORD.len())?, b'+' | b'-') {
        return None;
    }
    let sign = name + WORD.len();
    let digits = rest.iter().skip(WORD.len() + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let end = sign + 1 + digits;
    let close = space::skip(source, end);
    let is_closed = source.get(close..)?.starts_with("}}");
    let definition = check.find_name("time").filter(|_| is_closed && digits > 0)?;
    let argument = Some(Span::new(name + "time_".len(), end));
    Some(Marker { span: Span::new(start, close + 2), definition, argument })
}
