/// Rest of a pattern. Copy it to backtrack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'p> {
    rest: &'p str,
    total: usize,
}

impl<'p> Cursor<'p> {
    pub(crate) fn new(pattern: &'p str) -> Self {
        Self { rest: pattern, total: pattern.len() }
    }

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

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(crate) fn bump_if(&mut self, accept: impl FnOnce(char) -> bool) -> Option<char> {
        let c = self.peek().filter(|c| accept(*c))?;
        self.bump();
        Some(c)
    }

    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'p str {
        let taken = self.rest.trim_start_matches(accept);
        let (before, after) = self.rest.split_at(self.rest.len() - taken.len());
        self.rest = after;
        before
    }

    /// Consumes `count` hexadecimal digits, or nothing.
    pub(crate) fn hex(&mut self, count: usize) -> Option<u32> {
        let digits = self.rest.get(..count).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.rest = self.rest.get(count..)?;
        u32::from_str_radix(digits, 16).ok()
    }
}
