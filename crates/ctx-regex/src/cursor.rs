//! A place in a pattern that is being read.

/// The rest of a pattern; copying it remembers a place to come back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'p> {
    rest: &'p str,
    total: usize,
}

impl<'p> Cursor<'p> {
    pub(crate) fn new(pattern: &'p str) -> Self {
        Self { rest: pattern, total: pattern.len() }
    }

    /// Bytes read so far.
    pub(crate) fn offset(&self) -> usize {
        self.total - self.rest.len()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(crate) fn starts_with(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    /// Reads `text` if it comes next, and says whether it did.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads the next character if `accept` takes it.
    pub(crate) fn bump_if(&mut self, accept: impl FnOnce(char) -> bool) -> Option<char> {
        let c = self.peek().filter(|c| accept(*c))?;
        self.bump();
        Some(c)
    }

    /// Reads as long as `accept` takes the next character.
    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'p str {
        let taken = self.rest.trim_start_matches(accept);
        let (before, after) = self.rest.split_at(self.rest.len() - taken.len());
        self.rest = after;
        before
    }

    /// Reads exactly `count` hexadecimal digits, or nothing.
    pub(crate) fn hex(&mut self, count: usize) -> Option<u32> {
        let digits = self.rest.get(..count).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.rest = self.rest.get(count..)?;
        u32::from_str_radix(digits, 16).ok()
    }
}
