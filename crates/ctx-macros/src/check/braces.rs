//! Diagnostics for double braces that look like a call but are not.

use ctx_types::internal::excerpt;
use ctx_types::{Span, phrase, space};
use memchr::memchr3;

use super::Checker;
use crate::codes;
use crate::dialect::Dialect;
use crate::head::{self, Head};
use crate::registry::name_len;

const FLAGS: &str = "`!`, `?`, `~`, `>`, `#` and `/`";

/// Legacy macro name.
const ZONED: &str = "time_utc";

impl Checker<'_> {
    /// Reports closed braces with a name, flag, or variable, and unclosed braces with a macro name.
    ///
    /// Reads at most to the next brace or the end of the line.
    pub(crate) fn report_text(&mut self, start: usize, head: &Head) {
        match find_closing_braces(self.source, start) {
            Some(end) if self.dialect == Dialect::SillyTavern => {
                self.report_closed(Span::new(start, end), head);
            }
            _ => self.report_unclosed(start, head.name),
        }
    }

    pub(crate) fn report_closer_with_arguments(&mut self, start: usize, name: Span) {
        let span = Span::new(start, find_closing_braces(self.source, start).unwrap_or(name.end));
        if self.find(name).is_none() {
            return self.report_unknown(span, name);
        }
        let name = self.text(name);
        let message = phrase!("closing tags take no arguments; it is left unchanged");
        let help = phrase!("write it like `{{{{/{name}}}}}`", name);
        self.warn(codes::UNREAD_CALL, span, message, help);
    }

    pub(crate) fn report_unclosed(&mut self, start: usize, name: Span) {
        if self.is_variable_name(name) {
            return;
        }
        // A name may extend to the separator; use its leading identifier.
        let from = if name.is_empty() { space::skip(self.source, start + 2) } else { name.start };
        let rest = self.source.get(from..).unwrap_or_default();
        let length = if rest.starts_with(head::COMMENT) { head::COMMENT.len() } else { name_len(rest) };
        let name = Span::new(from, from + length);
        if self.find(name).is_none() {
            return;
        }
        let text = self.text(name);
        let span = Span::new(start, name.end);
        let message = phrase!("`{{{{{text}` is incomplete; it is left unchanged", text);
        self.warn(codes::UNCLOSED_CALL, span, message, phrase!("close it with `}}}}`"));
    }

    fn report_closed(&mut self, span: Span, head: &Head) {
        if self.is_variable_name(head.name) {
            self.report_variable(span, head.name);
        } else if head.name.is_empty() {
            self.report_flag(span, head.name.start);
        } else if let Some(time) = self.find_time_macro(head) {
            self.report_form(span, time, "{{time::UTC+3:30}}");
        } else if let Some(definition) = self.find(head.name) {
            let example = &self.registry.definition(definition).example;
            self.report_form(span, definition, example);
        } else {
            self.report_unknown(span, head.name);
        }
    }

    fn is_variable_name(&self, name: Span) -> bool {
        let before = name.start.checked_sub(1).and_then(|at| self.source.as_bytes().get(at));
        matches!(before, Some(b'.' | b'$'))
    }

    /// Replacement of the legacy `time_UTC+…`.
    fn find_time_macro(&self, head: &Head) -> Option<usize> {
        let is_zoned = self.text(head.name).eq_ignore_ascii_case(ZONED);
        self.find_name("time").filter(|_| is_zoned)
    }

    fn report_variable(&mut self, span: Span, name: Span) {
        let inner = &self.source[name.start..span.end];
        if !inner.contains(char::is_alphanumeric) {
            return;
        }
        let message = phrase!(
            "`{span}` is not a valid variable macro; it is left unchanged",
            span = excerpt(self.text(span))
        );
        let help = if name.is_empty() {
            phrase!(
                "use Latin letters, digits, `_`, and `-`, starting with a letter; for other names use `{{{{getvar::…}}}}`"
            )
        } else {
            phrase!(
                "after the name, put nothing, `=`, `+=`, `-=`, `++`, `--`, `||`, `??`, `||=`, `??=`, or a comparison"
            )
        };
        self.warn(codes::UNREAD_CALL, span, message, help);
    }

    fn report_flag(&mut self, span: Span, at: usize) {
        let inner = &self.source[at..span.end];
        let is_sign = |c: char| c.is_ascii_punctuation() && !matches!(c, '"' | '\'' | '`' | '(' | '[' | '}');
        let name = inner.trim_start_matches(|c| is_sign(c) || space::is_space(c));
        let from = at + (inner.len() - name.len());
        let name = Span::new(from, from + name_len(name));
        let next = space::skip(self.source, name.end);
        let after = &self.source[next..];
        let is_call = after.starts_with("}}") || after.starts_with(':') || next > name.end;
        if name.start == at || !is_call || self.find(name).is_none() {
            return;
        }
        let (signs, text) = (space::trim(&self.source[at..from]), self.text(name));
        let message =
            phrase!("unknown flag `{signs}` before `{text}`; the macro is left unchanged", signs, text);
        let help = phrase!("write it like `{{{{{text}}}}}`; the flags are {flags}", text, flags = FLAGS);
        self.warn(codes::UNREAD_CALL, span, message, help);
    }
}

/// End of the braces, if they close on the same line without nested braces.
fn find_closing_braces(source: &str, start: usize) -> Option<usize> {
    let inner = start + 2;
    let rest = source.as_bytes().get(inner..)?;
    let end = inner + memchr3(b'{', b'}', b'\n', rest)?;
    source.get(end..)?.starts_with("}}").then_some(end + 2)
}
