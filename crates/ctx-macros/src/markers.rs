//! Legacy markers: `<USER>` and similar, and `{{time_UTC+3}}`.

use ctx_types::{Span, space};
use memchr::{memchr_iter, memmem};

use crate::check::Checker;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Marker {
    pub(crate) span: Span,
    pub(crate) definition: usize,
    pub(crate) argument: Option<Span>,
}

#[derive(Debug, Default)]
pub(crate) struct Markers {
    list: Vec<Marker>,
    next: usize,
}

/// Case-insensitive word, and its macro.
const ANGLED: [(&str, &str); 5] = [
    ("user", "user"),
    ("bot", "char"),
    ("char", "char"),
    ("group", "group"),
    ("charifnotgroup", "charIfNotGroup"),
];

impl Markers {
    /// `at` must not decrease between calls.
    pub(crate) fn next_from(&mut self, at: usize) -> Option<Marker> {
        while self.list.get(self.next)?.span.start < at {
            self.next += 1;
        }
        self.list.get(self.next).copied()
    }
}

pub(crate) fn find(source: &str, check: &Checker<'_>) -> Markers {
    let found = memchr_iter(b'<', source.as_bytes()).filter_map(|at| find_angle_marker(source, at, check));
    Markers { list: found.collect(), next: 0 }
}

/// Growth in bytes when markers become calls. SillyTavern rewrites markers first, which affects later
/// offsets.
pub(crate) fn growth(text: &str) -> usize {
    let angled = memchr_iter(b'<', text.as_bytes()).filter_map(|at| {
        let (word, name) = match_angle_word(text.as_bytes().get(at + 1..)?)?;
        Some(name.len() + "{{}}".len() - word.len() - "<>".len())
    });
    let is_zoned = |at: &usize| text.as_bytes().get(at + 2..).and_then(match_zone_word).is_some();
    angled.sum::<usize>() + memmem::find_iter(text.as_bytes(), b"{{").filter(is_zoned).count()
}

pub(crate) fn find_angle_marker(source: &str, at: usize, check: &Checker<'_>) -> Option<Marker> {
    let (word, name) = match_angle_word(source.as_bytes().get(at..)?.strip_prefix(b"<")?)?;
    let definition = check.find_name(name)?;
    Some(Marker { span: Span::new(at, at + word.len() + 2), definition, argument: None })
}

fn match_angle_word(rest: &[u8]) -> Option<(&'static str, &'static str)> {
    let found = ANGLED.iter().find(|(word, _)| {
        let written = rest.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()));
        written && rest.get(word.len()) == Some(&b'>')
    });
    found.copied()
}

pub(crate) fn find_zone_marker(
    source: &str,
    start: usize,
    name: usize,
    check: &Checker<'_>,
) -> Option<Marker> {
    let end = name + match_zone_word(source.as_bytes().get(name..)?)?;
    let close = space::skip(source, end);
    let is_closed = source.get(close..)?.starts_with("}}");
    let definition = check.find_name("time").filter(|_| is_closed)?;
    let argument = Some(Span::new(name + "time_".len(), end));
    Some(Marker { span: Span::new(start, close + 2), definition, argument })
}

fn match_zone_word(rest: &[u8]) -> Option<usize> {
    const WORD: &[u8] = b"time_UTC";
    let is_time = rest.get(..WORD.len())?.eq_ignore_ascii_case(WORD);
    let sign = rest.get(WORD.len()).filter(|_| is_time)?;
    let digits = rest.iter().skip(WORD.len() + 1).take_while(|byte| byte.is_ascii_digit()).count();
    (matches!(sign, b'+' | b'-') && digits > 0).then_some(WORD.len() + 1 + digits)
}
