//! Tokenizer. One pass with a stack of open calls. Linear in the text.

use ctx_types::Span;
use memchr::{memchr, memchr_iter, memchr3_iter};

use crate::check::Checker;
use crate::dialect::Dialect;
use crate::head::{self, Follow, Head, NameSeparator};
use crate::markers::{self, Marker, Markers};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) span: Span,
    pub(crate) kind: TokenKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum TokenKind {
    Escape,
    /// Not a call.
    Braces(Head),
    Unclosed(Head),
    Bare(Head),
    /// Up to the first argument.
    Open(Head),
    Separator,
    Close,
    Closer(Head),
    /// Invalid.
    CloserWithArguments(Head),
    Marker(Marker),
}

/// Each `Open` has its `Close`.
pub(crate) fn read(source: &str, dialect: Dialect, check: &Checker<'_>) -> Vec<Token> {
    let markers = if dialect.is_sillytavern() { markers::find(source, check) } else { Markers::default() };
    let mut lexer = Lexer { source, dialect, check, markers, open: Vec::new(), tokens: Vec::new() };
    let mut at = 0;
    while let Some(next) = lexer.take(at) {
        at = next;
    }
    let Lexer { open, mut tokens, .. } = lexer;
    for opened in open {
        if let Some(Token { kind, .. }) = tokens.get_mut(opened.token)
            && let TokenKind::Open(head) = *kind
        {
            *kind = TokenKind::Unclosed(head);
        }
    }
    tokens
}

#[derive(Clone, Copy)]
struct OpenToken {
    token: usize,
    /// Whether `::` separates arguments.
    separator: NameSeparator,
    /// Whether `|` starts a filter.
    has_filters: bool,
}

struct Lexer<'a, 'c> {
    source: &'a str,
    dialect: Dialect,
    check: &'c Checker<'a>,
    markers: Markers,
    open: Vec<OpenToken>,
    tokens: Vec<Token>,
}

impl Lexer<'_, '_> {
    /// Returns where to resume.
    fn take(&mut self, at: usize) -> Option<usize> {
        let marker = self.markers.next_from(at);
        let end = marker.map_or(self.source.len(), |marker| marker.span.start);
        let rest = self.source.as_bytes().get(at..end)?;
        let found = match self.open.last() {
            None => {
                let mut braces = memchr_iter(b'{', rest);
                braces.find(|found| rest.get(found + 1) == Some(&b'{'))
            }
            Some(opened) => {
                let divided = opened.separator == NameSeparator::Present;
                memchr3_iter(b'{', b'}', b':', rest).find(|found| match rest.get(*found..found + 2) {
                    Some(b"{{" | b"}}") => true,
                    Some(pair) => divided && pair == b"::",
                    None => false,
                })
            }
        };
        let behind = at + found.unwrap_or(rest.len());
        if self.open.last().is_some_and(|opened| opened.has_filters)
            && let Some(next) = skip_filters(self.source, at, behind)
        {
            return Some(next);
        }
        let Some(found) = found else {
            return marker.map(|marker| self.push(marker.span, TokenKind::Marker(marker)));
        };
        let sign = Span::new(at + found, at + found + 2);
        Some(match rest.get(found) {
            Some(b'{') => self.take_braces(sign.start),
            Some(b'}') => {
                self.open.pop();
                self.push(sign, TokenKind::Close)
            }
            _ => self.push(sign, TokenKind::Separator),
        })
    }

    /// The last 2 braces of a run open a call.
    fn take_braces(&mut self, place: usize) -> usize {
        let bytes = self.source.as_bytes();
        let is_escaped = place > 0 && bytes.get(place - 1) == Some(&b'\\');
        if is_escaped && self.dialect.is_aio() {
            self.push(Span::new(place - 1, place), TokenKind::Escape);
            return place + 2;
        }
        let braces = bytes.iter().skip(place).take_while(|byte| **byte == b'{').count();
        let start = place + braces - 2;
        let head = head::read(self.source, start + 2, self.dialect);
        if self.dialect.is_sillytavern()
            && let Some(marker) = markers::find_zone_marker(self.source, start, head.name.start, self.check)
        {
            return self.push(marker.span, TokenKind::Marker(marker));
        }
        let (end, kind) = match (head.follow, head.is_closer) {
            (Follow::Text { resume }, _) => (resume, TokenKind::Braces(head)),
            (Follow::Close { end }, true) => (end, TokenKind::Closer(head)),
            (Follow::Close { end }, false) => (end, TokenKind::Bare(head)),
            (Follow::Arguments { start, .. }, true) => (start, TokenKind::CloserWithArguments(head)),
            (Follow::Arguments { start, separator }, false) => {
                let has_filters = self.dialect.is_sillytavern() && head.variable.is_none();
                self.open.push(OpenToken { token: self.tokens.len(), separator, has_filters });
                (start, TokenKind::Open(head))
            }
        };
        self.push(Span::new(start, end), kind)
    }

    fn push(&mut self, span: Span, kind: TokenKind) -> usize {
        self.tokens.push(Token { span, kind });
        span.end
    }
}

/// Returns the offset after the filters if it exceeds `behind`.
fn skip_filters(source: &str, from: usize, behind: usize) -> Option<usize> {
    let bytes = source.as_bytes();
    let mut at = from;
    while let Some(found) = bytes.get(at..behind).and_then(|rest| memchr(b'|', rest)) {
        let pipe = at + found;
        let is_escaped = pipe > 0 && bytes.get(pipe - 1) == Some(&b'\\');
        at = if is_escaped { pipe + 1 } else { skip_filter(source, pipe + 1) };
        if at > behind {
            return Some(at);
        }
    }
    None
}

/// Skips a filter like `SillyTavern`: to the first letter, then to the end of the name. Braces inside are
/// text.
fn skip_filter(source: &str, from: usize) -> usize {
    let rest = source.get(from..).unwrap_or_default();
    let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) else { return source.len() };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = rest.get(start..).unwrap_or_default();
    let end = start + name.find(|c| !is_name(c)).unwrap_or(name.len());
    let is_end = |c: char| c.is_whitespace() || matches!(c, ':' | '|' | '}');
    let tail = rest.get(end..).unwrap_or_default();
    from + end + tail.find(is_end).unwrap_or(tail.len())
}
