use super::Parser;
use crate::surrogates;

impl Parser<'_> {
    pub(super) fn group_name(&mut self) -> Option<String> {
        if !self.cursor.eat("<") {
            return None;
        }
        let mut name = String::new();
        while !self.cursor.eat(">") {
            let c = self.name_char()?;
            let fits = if name.is_empty() { starts_name(c) } else { continues_name(c) };
            name.push(Some(c).filter(|_| fits)?);
        }
        Some(name).filter(|name| !name.is_empty())
    }

    fn name_char(&mut self) -> Option<char> {
        let c = self.cursor.bump()?;
        if c != '\\' {
            return Some(c);
        }
        if !self.cursor.eat("u") {
            return None;
        }
        let code = self.braced_code().or_else(|| self.name_unit())?;
        char::from_u32(code)
    }

    /// `HHHH`, with the other half of a surrogate pair.
    fn name_unit(&mut self) -> Option<u32> {
        let unit = self.cursor.hex(4)?;
        let low = self.read_escaped_low();
        Some(low.and_then(|low| surrogates::pair(unit, low)).unwrap_or(unit))
    }
}

/// `Alphabetic` is slightly wider than `ID_Start`.
fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '$' || c == '_'
}

fn continues_name(c: char) -> bool {
    regex_syntax::is_word_character(c) || c == '$'
}
