//! Compiles a text to [`Op`]s: finds the calls, checks them, and drops what is none.
//!
//! One pass from left to right with a stack of open calls, so that nesting costs no recursion. Linear in the
//! length of the text.

use ctx_types::{Diagnostic, Span};
use memchr::memchr3_iter;
use memchr::memmem::{self, Finder};

use crate::check::Checker;
use crate::dialect::Dialect;
use crate::head::{self, Follow, Separated};
use crate::op::Op;
use crate::registry::Registry;
use crate::settle::settle;
use crate::space;

/// Compiles a text; the findings are ordered by place.
pub(crate) fn parse(source: &str, dialect: Dialect, registry: &Registry) -> (Vec<Op>, Vec<Diagnostic>) {
    let mut parser = Parser {
        source,
        dialect,
        check: Checker::new(source, dialect, registry),
        opener: Finder::new(b"{{"),
        last_close: memmem::rfind(source.as_bytes(), b"}}"),
        ops: Vec::new(),
        open: Vec::new(),
        arguments: Vec::new(),
        pending: 0,
    };
    parser.run();
    (settle(parser.ops, source, dialect), parser.check.finish())
}

struct Parser<'a> {
    source: &'a str,
    dialect: Dialect,
    check: Checker<'a>,
    opener: Finder<'static>,
    /// Where the last `}}` of the text is; what opens behind it never closes.
    last_close: Option<usize>,
    ops: Vec<Op>,
    open: Vec<OpenCall>,
    /// The places of `Op::Arg` of all open calls, outermost first.
    arguments: Vec<usize>,
    /// Where the text begins that is read but not in `ops` yet.
    pending: usize,
}

/// A call whose closing braces have not come yet.
struct OpenCall {
    /// Where its `Op::Call` is.
    op: usize,
    start: usize,
    name: Span,
    definition: Option<usize>,
    separated: Separated,
    /// Where its arguments begin in `Parser::arguments`.
    first_argument: usize,
}

enum Token {
    Open(usize),
    Close(usize),
    Separator(usize),
}

impl Parser<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(token) = self.next_token(at) {
            at = match token {
                Token::Open(place) => self.take_open(place),
                Token::Close(place) => self.take_close(place),
                Token::Separator(place) => self.take_separator(place),
            };
        }
        self.push_text(self.pending, self.source.len());
        while let Some(call) = self.open.pop() {
            self.check.report_unclosed(call.start, call.name);
            self.turn_to_text(&call);
        }
    }

    fn next_token(&self, at: usize) -> Option<Token> {
        let rest = self.source.as_bytes().get(at..)?;
        let Some(call) = self.open.last() else {
            return self.opener.find(rest).map(|found| Token::Open(at + found));
        };
        let divided = call.separated == Separated::Yes;
        memchr3_iter(b'{', b'}', b':', rest).find_map(|found| match rest.get(found..found + 2)? {
            b"{{" => Some(Token::Open(at + found)),
            b"}}" => Some(Token::Close(at + found)),
            b"::" if divided => Some(Token::Separator(at + found)),
            _ => None,
        })
    }

    /// Reads from the first brace of a run of two or more; the last two of them open a call.
    fn take_open(&mut self, place: usize) -> usize {
        let bytes = self.source.as_bytes();
        let is_escaped = place > 0 && bytes.get(place - 1) == Some(&b'\\');
        if is_escaped && self.dialect.escapes_calls() {
            return place + 2;
        }
        let braces = bytes.iter().skip(place).take_while(|byte| **byte == b'{').count();
        let start = place + braces - 2;
        let head = head::read(self.source, start + 2, self.dialect);
        match head.follow {
            Follow::Text { resume } => {
                self.check.report_unclosed(start, head.name);
                resume
            }
            Follow::Close { end } => {
                self.take_bare_call(Span::new(start, end), head.name);
                end
            }
            Follow::Arguments { start: first, separated } => {
                self.take_open_call(start, head.name, first, separated)
            }
        }
    }

    fn take_open_call(&mut self, start: usize, name: Span, first: usize, separated: Separated) -> usize {
        if self.last_close.is_none_or(|last| last < first) {
            self.check.report_unclosed(start, name);
            return first;
        }
        self.push_text(self.pending, start);
        self.open.push(OpenCall {
            op: self.ops.len(),
            start,
            name,
            definition: self.check.find(name),
            separated,
            first_argument: self.arguments.len(),
        });
        // Stands for the call until it is closed, and is nothing if it never is.
        self.ops.push(Op::text(start, start));
        self.begin_argument(start, first)
    }

    fn take_bare_call(&mut self, span: Span, name: Span) {
        let Some(definition) = self.check.checked(self.check.find(name), span, name, 0) else {
            return;
        };
        self.push_text(self.pending, span.start);
        self.ops.push(Op::Call { definition, span, arguments: 0 });
        self.pending = span.end;
    }

    fn take_separator(&mut self, place: usize) -> usize {
        let gap = self.end_argument(place);
        self.begin_argument(gap, place + 2)
    }

    fn take_close(&mut self, place: usize) -> usize {
        let inner_end = self.end_argument(place);
        let end = place + 2;
        self.pending = end;
        let Some(call) = self.open.pop() else {
            return end;
        };
        let span = Span::new(call.start, end);
        let arguments = self.arguments.len() - call.first_argument;
        if let Some(definition) = self.check.checked(call.definition, span, call.name, arguments) {
            self.ops.push(Op::End);
            self.arguments.truncate(call.first_argument);
            self.replace(call.op, Op::Call { definition, span, arguments });
        } else if self.dialect.expands_inside_text() {
            self.turn_to_text(&call);
            self.push_text(inner_end, end);
        } else {
            self.ops.truncate(call.op);
            self.arguments.truncate(call.first_argument);
            self.ops.push(Op::Text { span, verbatim: true });
        }
        end
    }

    /// Begins an argument at the first character behind `from` that is not white space.
    fn begin_argument(&mut self, gap: usize, from: usize) -> usize {
        let start = space::skip(self.source, from);
        self.arguments.push(self.ops.len());
        self.ops.push(Op::Arg { span: Span::new(start, start), gap });
        self.pending = start;
        start
    }

    /// Ends the current argument before `place` and returns where it ends without white space.
    fn end_argument(&mut self, place: usize) -> usize {
        let text = self.source.get(self.pending..place).unwrap_or_default();
        let end = self.pending + text.trim_end_matches(space::is_space).len();
        self.push_text(self.pending, end);
        let current = self.arguments.last().and_then(|argument| self.ops.get_mut(*argument));
        if let Some(Op::Arg { span, .. }) = current {
            span.end = end;
        }
        end
    }

    /// Makes plain text of an open call up to its last argument; what its arguments hold stays.
    fn turn_to_text(&mut self, call: &OpenCall) {
        for argument in self.arguments.drain(call.first_argument..) {
            if let Some(op) = self.ops.get_mut(argument)
                && let Op::Arg { span, gap } = *op
            {
                *op = Op::text(gap, span.start);
            }
        }
    }

    fn push_text(&mut self, start: usize, end: usize) {
        if start < end {
            self.ops.push(Op::text(start, end));
        }
    }

    fn replace(&mut self, at: usize, with: Op) {
        if let Some(op) = self.ops.get_mut(at) {
            *op = with;
        }
    }
}
