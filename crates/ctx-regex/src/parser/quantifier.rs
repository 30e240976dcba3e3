use super::Parser;
use crate::Error;
use crate::ast::{Node, Repeat};
use crate::cursor::Cursor;

/// `None` is unlimited.
type Bounds = (u32, Option<u32>);

impl Parser<'_> {
    pub(super) fn parse_quantified(&mut self, atom: Node, first_group: usize) -> Result<Node, Error> {
        let Some((min, max)) = self.quantifier()? else { return Ok(atom) };
        let greedy = !self.cursor.eat("?");
        let groups = first_group..self.groups.count() + 1;
        Ok(Node::Repeat(Repeat { body: Box::new(atom), min, max, greedy, groups }))
    }

    fn quantifier(&mut self) -> Result<Option<Bounds>, Error> {
        let offset = self.cursor.offset();
        let bounds = match self.cursor.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.parse_counts(offset),
            _ => return Ok(None),
        };
        self.cursor.bump();
        Ok(Some(bounds))
    }

    fn parse_counts(&mut self, offset: usize) -> Result<Option<Bounds>, Error> {
        match braces(self.cursor) {
            Some(((min, Some(max)), _)) if max < min => {
                Err(Error::syntax(offset, "numbers out of order in a quantifier"))
            }
            Some((bounds, after)) => {
                self.cursor = after;
                Ok(Some(bounds))
            }
            None if self.flags.strict() => Err(Error::syntax(offset, "incomplete quantifier")),
            None => Ok(None),
        }
    }
}

/// Reads `{n}`, `{n,}`, or `{n,m}`.
pub(super) fn braces(mut cursor: Cursor<'_>) -> Option<(Bounds, Cursor<'_>)> {
    let digits = |cursor: &mut Cursor<'_>| number(cursor.take_while(|c| c.is_ascii_digit()));
    if !cursor.eat("{") {
        return None;
    }
    let min = digits(&mut cursor)?;
    let max = if cursor.eat(",") { digits(&mut cursor) } else { Some(min) };
    // No text reaches this limit.
    let max = max.filter(|max| *max < u32::MAX);
    cursor.eat("}").then_some(((min, max), cursor))
}

/// Saturates at `u32::MAX`.
fn number(digits: &str) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    Some(digits.parse().unwrap_or(u32::MAX))
}
