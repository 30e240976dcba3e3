//! Compiles a text to [`Op`]s: finds the calls, checks them, and drops what is none.
//!
//! One pass from left to right with a stack of open calls, so that nesting costs no recursion. Linear in the
//! length of the text.

mod blocks;
pub(crate) mod markers;

use ctx_types::{Diagnostic, Span, space};
use memchr::{memchr_iter, memchr3_iter, memmem};

use self::blocks::{Blocks, Opener};
use self::markers::{Marker, Markers};
use crate::check::{Checker, Count};
use crate::definition::Form;
use crate::dialect::Dialect;
use crate::head::{self, Follow, Head, Separated};
use crate::op::{Access, Op};
use crate::registry::Registry;
use crate::settle::settle;

/// Compiles a text; the findings are ordered by place.
pub(crate) fn parse(source: &str, dialect: Dialect, registry: &Registry) -> (Vec<Op>, Vec<Diagnostic>) {
    let mut check = Checker::new(source, dialect, registry);
    let mut parser = Parser::new(source, dialect, &mut check, Vec::new());
    let mut unclosed = parser.run();
    let (mut ops, has_escaped_calls) = (parser.ops, parser.has_escaped_calls);
    if dialect.has_blocks() && !unclosed.is_empty() {
        // What never closes is text, and what stands behind it is not inside it: a second reading knows that.
        unclosed.sort_unstable();
        check.forget();
        let mut parser = Parser::new(source, dialect, &mut check, unclosed);
        parser.run();
        ops = parser.ops;
    }
    (settle(ops, source, has_escaped_calls), check.finish())
}

struct Parser<'a, 'c> {
    source: &'a str,
    dialect: Dialect,
    check: &'c mut Checker<'a>,
    /// Where the last `}}` of the text is; what opens behind it never closes.
    last_close: Option<usize>,
    markers: Markers,
    /// The places of opening braces that are text, sorted.
    text_openers: Vec<usize>,
    ops: Vec<Op>,
    open: Vec<OpenCall>,
    /// The places of `Op::Arg` of all open calls, outermost first.
    arguments: Vec<usize>,
    blocks: Blocks,
    /// Where the text begins that is read but not in `ops` yet.
    pending: usize,
    /// A backslash kept braces from opening a call.
    has_escaped_calls: bool,
}

/// A call whose closing braces have not come yet.
struct OpenCall {
    /// Where its `Op::Call` is.
    op: usize,
    start: usize,
    name: Span,
    target: Target,
    separated: Separated,
    keeps_space: bool,
    /// An argument holds a `|`, which is reserved.
    is_piped: bool,
    /// Where its arguments begin in `Parser::arguments`.
    first_argument: usize,
    /// Where what stands inside it begins in `Parser::blocks`.
    first_block: usize,
}

/// What is called.
#[derive(Clone, Copy)]
enum Target {
    /// The macro with this number, or none that is known.
    Macro(Option<usize>),
    Variable(Access),
}

impl OpenCall {
    const fn opener(&self, definition: usize, span: Span, inner_end: usize) -> Opener {
        let Self { op, keeps_space, .. } = *self;
        Opener { op, definition, span, inner_end, keeps_space }
    }
}

enum Token {
    Open(usize),
    Close(usize),
    Separator(usize),
    Marker(Marker),
}

impl<'a, 'c> Parser<'a, 'c> {
    fn new(source: &'a str, dialect: Dialect, check: &'c mut Checker<'a>, text_openers: Vec<usize>) -> Self {
        Self {
            source,
            dialect,
            last_close: memmem::rfind(source.as_bytes(), b"}}"),
            markers: if dialect.has_markers() { markers::find(source, check) } else { Markers::default() },
            check,
            text_openers,
            ops: Vec::new(),
            open: Vec::new(),
            arguments: Vec::new(),
            blocks: Blocks::default(),
            pending: 0,
            has_escaped_calls: false,
        }
    }

    /// Reads the text and returns where calls open that are never closed.
    fn run(&mut self) -> Vec<usize> {
        let mut at = 0;
        while let Some(token) = self.next_token(at) {
            at = match token {
                Token::Open(place) => self.take_open(place),
                Token::Close(place) => self.take_close(place),
                Token::Separator(place) => self.take_separator(place),
                Token::Marker(marker) => self.take_marker(marker),
            };
        }
        self.push_text(self.pending, self.source.len());
        let mut unclosed = Vec::new();
        while let Some(call) = self.open.pop() {
            self.check.report_unclosed(call.start, call.name);
            unclosed.push(call.start);
            self.turn_to_text(&call);
        }
        self.end_blocks(0, 0);
        unclosed
    }

    fn next_token(&mut self, at: usize) -> Option<Token> {
        let marker = self.markers.next_from(at);
        let end = marker.map_or(self.source.len(), |marker| marker.span.start);
        let rest = self.source.as_bytes().get(at..end)?;
        let found = match self.open.last() {
            None => {
                let mut braces = memchr_iter(b'{', rest);
                let opener = braces.find(|found| rest.get(found + 1) == Some(&b'{'));
                opener.map(|found| Token::Open(at + found))
            }
            Some(call) => {
                let divided = call.separated == Separated::Yes;
                memchr3_iter(b'{', b'}', b':', rest).find_map(|found| match rest.get(found..found + 2)? {
                    b"{{" => Some(Token::Open(at + found)),
                    b"}}" => Some(Token::Close(at + found)),
                    b"::" if divided => Some(Token::Separator(at + found)),
                    _ => None,
                })
            }
        };
        found.or_else(|| marker.map(Token::Marker))
    }

    /// Reads from the first brace of a run of two or more; the last two of them open a call.
    fn take_open(&mut self, place: usize) -> usize {
        let bytes = self.source.as_bytes();
        let is_escaped = place > 0 && bytes.get(place - 1) == Some(&b'\\');
        if is_escaped && self.dialect.escapes_calls() {
            self.has_escaped_calls = true;
            return place + 2;
        }
        let braces = bytes.iter().skip(place).take_while(|byte| **byte == b'{').count();
        let start = place + braces - 2;
        let head = head::read(self.source, start + 2, self.dialect);
        if self.text_openers.binary_search(&start).is_ok() {
            self.check.report_unclosed(start, head.name);
            return start + 2;
        }
        if self.dialect.has_markers()
            && let Some(marker) = markers::zoned(self.source, start, head.name.start, self.check)
        {
            return self.take_marker(marker);
        }
        match (head.follow, head.is_closer) {
            (Follow::Text { resume }, _) => {
                self.check.report_text(start, &head);
                resume
            }
            (Follow::Close { end }, true) => self.take_closer(Span::new(start, end), head.name),
            (Follow::Arguments { start: first, .. }, true) => {
                self.check.report_closer_with_arguments(start, head.name);
                first
            }
            (Follow::Close { end }, false) => self.take_bare_call(Span::new(start, end), &head),
            (Follow::Arguments { start: first, separated }, false) => {
                self.take_open_call(start, &head, first, separated)
            }
        }
    }

    fn take_open_call(&mut self, start: usize, head: &Head, first: usize, separated: Separated) -> usize {
        if self.last_close.is_none_or(|last| last < first) {
            self.check.report_unclosed(start, head.name);
            return first;
        }
        self.push_text(self.pending, start);
        self.open.push(OpenCall {
            op: self.ops.len(),
            start,
            name: head.name,
            target: self.target(head),
            separated,
            keeps_space: head.keeps_space,
            is_piped: false,
            first_argument: self.arguments.len(),
            first_block: self.blocks.open_len(),
        });
        // Stands for the call until it is closed, and is nothing if it never is.
        self.ops.push(Op::NOTHING);
        self.begin_argument(start, first)
    }

    fn target(&self, head: &Head) -> Target {
        match head.variable {
            Some((scope, operator)) => Target::Variable(Access { scope, operator, name: head.name }),
            None => Target::Macro(self.check.find(head.name)),
        }
    }

    fn take_bare_call(&mut self, span: Span, head: &Head) -> usize {
        let definition = match self.target(head) {
            Target::Macro(definition) => definition,
            Target::Variable(access) => {
                self.push_text(self.pending, span.start);
                self.ops.push(Op::Variable { access, span });
                self.pending = span.end;
                return span.end;
            }
        };
        let form = self.check.form(definition);
        let count = self.check.count(definition, span, head.name, 0);
        if form == Form::Alternative {
            self.take_else(span);
        } else if form == Form::Comment {
            self.push_text(self.pending, span.start);
            self.pending = span.end;
        } else if let Some(definition) = definition.filter(|_| count != Count::Wrong) {
            self.push_text(self.pending, span.start);
            self.pending = span.end;
            let op = self.ops.len();
            self.ops.push(match count {
                Count::Fits { .. } => Op::Call { definition, span, arguments: 0 },
                Count::OneMore | Count::Wrong => Op::text(span.start, span.end),
            });
            let opener = Opener { op, definition, span, inner_end: span.end, keeps_space: head.keeps_space };
            self.may_begin_block(opener, Vec::new(), count);
        }
        span.end
    }

    fn take_separator(&mut self, place: usize) -> usize {
        let gap = self.end_argument(place);
        self.begin_argument(gap, place + 2)
    }

    fn take_marker(&mut self, marker: Marker) -> usize {
        let Marker { span, definition, argument } = marker;
        self.push_text(self.pending, span.start);
        self.pending = span.end;
        match argument {
            None => self.ops.push(Op::Call { definition, span, arguments: 0 }),
            Some(argument) => self.ops.extend([
                Op::Call { definition, span, arguments: 1 },
                Op::argument(argument, span.start),
                Op::text(argument.start, argument.end),
                Op::End,
            ]),
        }
        span.end
    }

    fn take_close(&mut self, place: usize) -> usize {
        let inner_end = self.end_argument(place);
        let end = place + 2;
        self.pending = end;
        let Some(call) = self.open.pop() else {
            return end;
        };
        let span = Span::new(call.start, end);
        match call.target {
            Target::Variable(access) => {
                self.end_blocks(call.first_block, call.op);
                if let Some(value) = self.arguments.get(call.first_argument) {
                    self.trim_value(*value, true);
                }
                self.arguments.truncate(call.first_argument);
                self.ops.push(Op::End);
                self.replace(call.op, Op::Variable { access, span });
            }
            Target::Macro(definition) => self.close_macro(&call, definition, span, inner_end),
        }
        end
    }

    fn close_macro(&mut self, call: &OpenCall, definition: Option<usize>, span: Span, inner_end: usize) {
        let arguments = self.arguments.len() - call.first_argument;
        let form = self.check.form(definition);
        if form == Form::Comment {
            self.forget(call.op, call.first_block, call.first_argument);
            return;
        }
        let is_piped = call.is_piped && definition.is_some();
        if is_piped {
            self.check.report_pipe(span);
        }
        let count = match is_piped {
            true => Count::Wrong,
            false => self.check.count(definition, span, call.name, arguments),
        };
        let alternative = self.alternative(call, form, arguments);
        self.end_blocks(call.first_block, call.op);
        match (definition, count) {
            (Some(definition), Count::Fits { .. }) => {
                self.ops.push(Op::End);
                let places = self.arguments.split_off(call.first_argument);
                self.replace(call.op, Op::Call { definition, span, arguments });
                if form == Form::Condition {
                    self.finish_condition(call.op, &places, alternative, call.keeps_space);
                } else {
                    self.may_begin_block(call.opener(definition, span, inner_end), places, count);
                }
            }
            (Some(definition), Count::OneMore) => {
                self.ops.push(Op::text(inner_end, span.end));
                let places = self.arguments.split_off(call.first_argument);
                self.may_begin_block(call.opener(definition, span, inner_end), places, count);
            }
            _ if self.dialect.expands_inside_text() => {
                self.turn_to_text(call);
                self.push_text(inner_end, span.end);
            }
            _ => {
                self.ops.truncate(call.op);
                self.arguments.truncate(call.first_argument);
                self.ops.push(Op::Text { span, verbatim: true });
            }
        }
    }

    /// Begins an argument at the first character behind `from` that is not white space.
    fn begin_argument(&mut self, gap: usize, from: usize) -> usize {
        let start = space::skip(self.source, from);
        self.arguments.push(self.ops.len());
        self.ops.push(Op::argument(Span::new(start, start), gap));
        self.pending = start;
        start
    }

    /// Ends the current argument before `place` and returns where it ends without white space.
    fn end_argument(&mut self, place: usize) -> usize {
        let text = self.source.get(self.pending..place).unwrap_or_default();
        let end = self.pending + space::trim_end(text).len();
        self.push_text(self.pending, end);
        let current = self.arguments.last().and_then(|argument| self.ops.get_mut(*argument));
        if let Some(Op::Arg { span, .. }) = current {
            span.end = end;
        }
        end
    }

    /// Makes plain text of an open call up to its last argument; what its arguments hold stays.
    fn turn_to_text(&mut self, call: &OpenCall) {
        for argument in self.arguments.split_off(call.first_argument) {
            self.argument_to_text(argument);
        }
    }

    fn argument_to_text(&mut self, argument: usize) {
        if let Some(op) = self.ops.get_mut(argument)
            && let Op::Arg { span, gap, .. } = *op
        {
            *op = Op::text(gap, span.start);
        }
    }

    /// Drops everything from an op on.
    fn forget(&mut self, op: usize, first_block: usize, first_argument: usize) {
        self.ops.truncate(op);
        self.blocks.forget(first_block, op);
        self.arguments.truncate(first_argument);
    }

    fn push_text(&mut self, start: usize, end: usize) {
        if start >= end {
            return;
        }
        self.ops.push(Op::text(start, end));
        if self.dialect.reserves_pipes()
            && let Some(call) = self.open.last_mut()
            && !call.is_piped
        {
            call.is_piped = self.source.get(start..end).unwrap_or_default().contains('|');
        }
    }

    fn replace(&mut self, at: usize, with: Op) {
        if let Some(op) = self.ops.get_mut(at) {
            *op = with;
        }
    }
}
