//! Texts as tokens: words; numbers, dates, ids and paths whole; Chinese characters one by one.

use std::ops::Range;

use crate::quality::key::Reading;
use crate::quality::shapes::{Shape, shape};

/// How a text is written, which decides what can be told from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Somebody speaks.
    Prose,
    /// Keys and values.
    Json,
    /// What a program printed.
    Output,
}

impl Form {
    /// Returns whether nobody speaks: then there are no sentences.
    pub(super) const fn is_data(self) -> bool {
        !matches!(self, Self::Prose)
    }

    /// Returns how a backslash is read.
    pub(super) const fn reading(self) -> Reading {
        if self.is_data() { Reading::Escapes } else { Reading::Signs }
    }
}

/// A piece of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    /// Whether it stands in a block or a span of code.
    pub(super) is_code: bool,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters.
    Word,
    /// Digits, perhaps with a fraction and signs between thousands.
    Number,
    /// Digits with letters that are a unit, such as `5kg`.
    Measure,
    /// A date in digits.
    Day,
    /// A time in digits.
    Clock,
    /// A name for machines.
    Id,
    /// A file or a folder.
    Path,
    /// A Chinese character.
    Han,
    /// Any other sign.
    Mark(char),
    /// The end of one or several lines.
    Break,
}

/// A text with its tokens.
#[derive(Debug)]
pub(super) struct Lexed<'a> {
    pub(super) text: &'a str,
    pub(super) form: Form,
    pub(super) tokens: Vec<Token>,
    /// Spans of code with blanks inside, which are more than one token.
    pub(super) spans: Vec<Range<usize>>,
    /// Runs that are too long for words.
    pub(super) encoded: Vec<Range<usize>>,
    /// Whether a block of code that began in the text goes on behind it.
    pub(super) ends_in_code: bool,
}

impl<'a> Lexed<'a> {
    /// Reads a text. O(bytes).
    #[cfg(test)]
    pub(super) fn of(text: &'a str, form: Form) -> Self {
        Self::of_piece(text, form, false)
    }

    /// Reads a piece of a text, which may begin within a block of code. O(bytes).
    pub(super) fn of_piece(text: &'a str, form: Form, is_fenced: bool) -> Self {
        let (tokens, spans, encoded) = (Vec::new(), Vec::new(), Vec::new());
        let lexed = Self { text, form, tokens, spans, encoded, ends_in_code: false };
        let mut lexer = Lexer { lexed, at: 0, code_until: None, is_one_run: false, is_fenced };
        while let Some(c) = lexer.peek(0) {
            lexer.step(c);
        }
        Self { ends_in_code: lexer.is_fenced, ..lexer.lexed }
    }

    /// Returns what a token is; `None` beyond the last one.
    pub(super) fn kind(&self, index: usize) -> Option<Kind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// Returns the text of a token; empty beyond the last one.
    pub(super) fn str(&self, index: usize) -> &'a str {
        self.tokens.get(index).and_then(|token| self.text.get(token.start..token.end)).unwrap_or_default()
    }

    /// Returns the Chinese character that a token is.
    pub(super) fn han(&self, index: usize) -> Option<char> {
        match self.kind(index) {
            Some(Kind::Han) => self.str(index).chars().next(),
            _ => None,
        }
    }

    /// Returns whether the next tokens are these Chinese characters.
    pub(super) fn has_han(&self, index: usize, word: &str) -> bool {
        word.chars().zip(index..).all(|(c, at)| self.han(at) == Some(c))
    }

    /// Returns the sign that a token is.
    pub(super) fn mark(&self, index: usize) -> Option<char> {
        match self.kind(index) {
            Some(Kind::Mark(c)) => Some(c),
            _ => None,
        }
    }

    /// Returns whether nothing stands between a token and the one before.
    pub(super) fn touches(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.tokens.get(before));
        before.zip(self.tokens.get(index)).is_some_and(|(before, token)| before.end == token.start)
    }

    /// Returns the tokens within quotation marks, given the bytes with the marks.
    pub(super) fn within(&self, bytes: &Range<usize>) -> Range<usize> {
        let first = self.tokens.partition_point(|token| token.start <= bytes.start);
        let last = self.tokens.partition_point(|token| token.end < bytes.end);
        first..last.max(first)
    }

    /// Returns whether a token is the first of a line.
    pub(super) fn is_line_start(&self, index: usize) -> bool {
        index.checked_sub(1).is_none_or(|before| self.kind(before) == Some(Kind::Break))
    }
}

/// Longer runs without a blank are encodings of something else.
const LONGEST: usize = 200;

/// How long a span of code may be.
const LONGEST_SPAN: usize = 120;

struct Lexer<'a> {
    lexed: Lexed<'a>,
    at: usize,
    code_until: Option<usize>,
    /// Whether the span of code is one run, and so a name.
    is_one_run: bool,
    is_fenced: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.lexed.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self, skip: usize) -> Option<char> {
        self.rest().chars().nth(skip)
    }

    fn before(&self) -> Option<char> {
        self.lexed.text.get(..self.at).and_then(|text| text.chars().next_back())
    }

    fn push(&mut self, end: usize, kind: Kind) {
        let is_code = self.is_fenced || self.code_until.is_some();
        self.lexed.tokens.push(Token { start: self.at, end, kind, is_code });
        self.at = end;
    }

    /// Leaves out what is no word.
    fn skip(&mut self, end: usize) {
        self.lexed.encoded.push(self.at..end);
        self.at = end;
    }

    fn step(&mut self, c: char) {
        let end = self.at + c.len_utf8();
        match c {
            '\n' | '\r' => self.line_end(end),
            '`' => self.ticks(),
            '\\' if self.lexed.form.is_data() => self.escape(),
            _ if c.is_whitespace() => self.at = end,
            _ if is_han(c) => self.push(end, Kind::Han),
            _ => self.long(c),
        }
    }

    /// Reads what may be longer than a character.
    fn long(&mut self, c: char) {
        if let Some(end) = self.address_end(c) {
            self.push(end, Kind::Id);
        } else if let Some(end) = self.encoded_end(c) {
            self.skip(end);
        } else if let Some(end) = self.run_end(c) {
            self.run(end);
        } else {
            self.push(self.at + c.len_utf8(), Kind::Mark(c));
        }
    }

    fn line_end(&mut self, end: usize) {
        match self.lexed.tokens.last() {
            Some(Token { kind: Kind::Break, .. }) => self.at = end,
            _ => self.push(end, Kind::Break),
        }
    }

    /// Reads signs that begin or end code.
    fn ticks(&mut self) {
        let count = self.rest().bytes().take_while(|byte| *byte == b'`').count();
        if count >= 3 {
            self.is_fenced = !self.is_fenced;
            // The name of a language is no word of the code.
            let rest = self.rest().get(count..).unwrap_or_default();
            let name = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            self.at += count + if self.is_fenced { name } else { 0 };
            return;
        }
        if self.code_until.take_if(|until| *until <= self.at).is_some() {
            self.at += count;
            return;
        }
        let inner = self.at + count;
        let rest = self.lexed.text.get(inner..).unwrap_or_default();
        let end = rest.bytes().take(LONGEST_SPAN).position(|byte| matches!(byte, b'`' | b'\n'));
        match end.filter(|end| rest.as_bytes().get(*end) == Some(&b'`') && *end > 0) {
            Some(end) if self.code_until.is_none() => {
                let span = inner..inner + end;
                self.is_one_run = !self.lexed.text.get(span.clone()).is_some_and(|code| code.contains(' '));
                if !self.is_one_run {
                    self.lexed.spans.push(span.clone());
                }
                self.at = inner;
                self.code_until = Some(span.end);
            }
            _ => self.at = inner,
        }
    }

    /// Reads an escape of a JSON string: white space ends a line, everything else separates.
    fn escape(&mut self) {
        match (escape_length(self.rest()), self.peek(1)) {
            (Some(length), Some('n' | 'r' | 't')) => self.line_end(self.at + length),
            (Some(length), Some('u')) => self.at += length,
            (length, _) => self.push(self.at + length.unwrap_or(1), Kind::Mark('\\')),
        }
    }

    /// Finds the end of an address of the web.
    fn address_end(&self, c: char) -> Option<usize> {
        const BEGINNINGS: [&str; 8] =
            ["http://", "https://", "ftp://", "file://", "ssh://", "git://", "wss://", "www."];
        let is_begin = matches!(c, 'h' | 'f' | 's' | 'g' | 'w') && !self.before().is_some_and(is_run);
        let rest = self.rest();
        if !is_begin || !BEGINNINGS.iter().any(|begin| rest.starts_with(begin)) {
            return None;
        }
        let is_end = |c: char| {
            c.is_whitespace()
                || is_han(c)
                || ('\u{3000}'..='\u{303F}').contains(&c)
                || c >= '\u{FF00}'
                || matches!(c, '"' | '<' | '>' | '`' | '|' | '\\' | ']' | '}' | '“' | '”' | '\'')
        };
        let mut address = rest.get(..rest.find(is_end).unwrap_or(rest.len())).unwrap_or_default();
        if !address.contains('(') {
            address = address.split(')').next().unwrap_or_default();
        }
        let address = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']);
        Some(self.at + address.len())
    }

    /// Finds the end of a file that is written in place of its address.
    fn encoded_end(&self, c: char) -> Option<usize> {
        const LONGEST_HEAD: usize = 80;
        let rest = self.rest();
        if c != 'd' || !rest.starts_with("data:") {
            return None;
        }
        let head = rest.as_bytes().get(..LONGEST_HEAD.min(rest.len()))?;
        let comma = head.iter().position(|byte| *byte == b',')?;
        let is_encoded =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '%' | '-' | '_' | '.');
        let body = rest.get(comma + 1..)?;
        Some(self.at + comma + 1 + body.find(|c| !is_encoded(c)).unwrap_or(body.len()))
    }

    /// Finds the end of a run of letters, digits and what joins them.
    fn run_end(&self, c: char) -> Option<usize> {
        let begins_path = !self.before().is_some_and(is_run) && {
            let next: String = self.rest().chars().take(3).collect();
            ["./", "~/", "../"].iter().any(|begin| next.starts_with(begin))
                || (matches!(c, '/' | '.') && next.chars().nth(1).is_some_and(|c| c.is_ascii_alphabetic()))
        };
        if !is_run(c) && !begins_path {
            return None;
        }
        let mut end = self.at;
        let mut before = c;
        let mut rest = self.rest().chars().peekable();
        while let Some(c) = rest.next() {
            let is_inside = is_run(c) || (end == self.at && begins_path);
            if !is_inside && !self.joins(c, (before, rest.peek().copied()), end + c.len_utf8()) {
                break;
            }
            before = c;
            end += c.len_utf8();
        }
        Some(end)
    }

    /// Returns whether a sign joins what stands before and behind it.
    fn joins(&self, sign: char, (before, next): (char, Option<char>), after: usize) -> bool {
        let Some(next) = next else { return false };
        match sign {
            ',' => before.is_numeric() && next.is_numeric(),
            '\'' | '’' => before.is_alphabetic() && next.is_alphabetic(),
            '\\' if self.lexed.form.is_data() => false,
            '/' | '\\' | '.' | ':' => {
                // `::` and `//` join, `..` joins only as a folder of a path.
                let is_sign =
                    matches!(next, '/' | '\\' | '.' | ':') && (next != sign || matches!(sign, ':' | '/'));
                (is_run(next) || is_sign) && self.goes_on(after)
            }
            '-' | '@' => is_run(next),
            _ => false,
        }
    }

    /// Returns whether a run goes on after signs that join.
    fn goes_on(&self, at: usize) -> bool {
        let rest = self.lexed.text.get(at..).unwrap_or_default();
        let mut signs = rest.chars().take(3).skip_while(|c| matches!(c, '/' | '\\' | '.' | ':'));
        signs.next().is_some_and(is_run)
    }

    /// Takes a run, whole if it is something, else in its parts.
    fn run(&mut self, end: usize) {
        if end - self.at > LONGEST {
            self.skip(end);
            return;
        }
        let is_code = self.is_one_run && self.code_until.is_some();
        let text = self.lexed.text;
        match shape(text.get(self.at..end).unwrap_or_default(), is_code) {
            Shape::Whole(kind) => self.push(end, kind),
            Shape::Split(separator) => self.split(end, separator),
        }
    }

    /// Takes the part before a sign, the sign, and the rest, which may be something whole.
    fn split(&mut self, end: usize, separator: char) {
        let rest = self.lexed.text.get(self.at..end).unwrap_or_default();
        let at = self.at + rest.find(separator).unwrap_or(rest.len());
        if at > self.at {
            self.run(at);
        }
        if at < end {
            self.at = at;
            self.push(at + separator.len_utf8(), Kind::Mark(separator));
        }
        if self.at < end {
            self.run(end);
        }
    }
}

/// Returns how many bytes an escape of a JSON string has that a text begins with.
pub(super) fn escape_length(text: &str) -> Option<usize> {
    let escaped = text.strip_prefix('\\')?;
    match escaped.chars().next()? {
        'n' | 'r' | 't' => Some(2),
        'u' => {
            let digits = escaped.as_bytes().get(1..5)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(6)
        }
        c if !c.is_alphanumeric() => Some(1 + c.len_utf8()),
        _ => None,
    }
}

/// Returns whether a character is Chinese.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '〇' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FFFF}')
}

/// Returns whether a character is part of a run by itself.
fn is_run(c: char) -> bool {
    c == '_' || (c.is_alphanumeric() && !is_han(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens, with a letter for what is more than a word.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let lexed = Lexed::of(text, Form::Prose);
        let shown: Vec<String> = (0..lexed.tokens.len())
            .map(|index| match lexed.kind(index) {
                Some(Kind::Break) => "/".to_owned(),
                Some(
                    kind @ (Kind::Number | Kind::Measure | Kind::Day | Kind::Clock | Kind::Id | Kind::Path),
                ) => {
                    format!("{kind:?}:{}", lexed.str(index))
                }
                _ => lexed.str(index).to_owned(),
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn words_and_signs_are_apart() {
        check("Don't go, O'Brien!", "Don't go , O'Brien !");
        check("a well-known Jean-Luc.", "a well - known Jean-Luc .");
        check("one\n\ntwo", "one / two");
    }

    #[test]
    fn numbers_dates_and_times_are_whole() {
        check("$7,871 and 2.5, 5kg.", "$ Number:7,871 and Number:2.5 , Measure:5kg .");
        check("2026-03-05 at 19:30, 3/5/2026", "Day:2026-03-05 at Clock:19:30 , Day:3/5/2026");
        check("2026-03-05T19:30:00Z", "Day:2026-03-05 T Clock:19:30:00Z");
        check("3-5 of 24/7", "Number:3 - Number:5 of Number:24 / Number:7");
        check("8210元，25日", "Number:8210 元 ， Number:25 日");
    }

    #[test]
    fn names_for_machines_are_whole() {
        check("KX-90820 plm_4187 tkt751dd81.", "Id:KX-90820 Id:plm_4187 Id:tkt751dd81 .");
        check("see https://a.b/c?d=e), a@b.org", "see Id:https://a.b/c?d=e ) , Id:a@b.org");
        check("v1.2.3 10.0.0.1 std::mem::take", "Id:v1.2.3 Id:10.0.0.1 Id:std::mem::take");
        check("order_id:plm_1 getUserName", "Id:order_id : Id:plm_1 Id:getUserName");
        check("+86 138-0013-8000", "+ Number:86 Id:138-0013-8000");
    }

    #[test]
    fn paths_are_whole() {
        check("src/a/b.rs, Cargo.toml.", "Path:src/a/b.rs , Path:Cargo.toml .");
        check("/etc/hosts ./run.sh ~/x/y ../z.md", "Path:/etc/hosts Path:./run.sh Path:~/x/y Path:../z.md");
        check(r"C:\Users\ada\x.txt", r"Path:C:\Users\ada\x.txt");
        check("and/or he/she e.g. p.m. end.Start", "and / or he / she e.g . p.m . end . Start");
        check(".gitignore ... .", "Path:.gitignore . . . .");
    }

    #[test]
    fn encoded_files_and_endless_runs_are_left_out() {
        check("see data:image/png;base64,iVBORw0KGgo= here", "see here");
        check(&format!("a {} b", "0f".repeat(200)), "a b");
    }

    #[test]
    fn code_is_marked() {
        let lexed = Lexed::of("use `retry` or `cargo test` here\n```rust\nlet x\n```\ny", Form::Prose);
        let code: Vec<&str> = (0..lexed.tokens.len())
            .filter(|index| lexed.tokens[*index].is_code && lexed.kind(*index) != Some(Kind::Break))
            .map(|index| lexed.str(index))
            .collect();
        assert_eq!(code, ["retry", "cargo", "test", "let", "x"]);
        assert_eq!(lexed.spans.len(), 1);
    }
}
