//! Builds the syntax tree of a text.
//!
//! All open calls share one node list. When a call is closed, the nodes after its opening tag become its
//! arguments. Nesting needs no recursion. Linear in the text.

use ctx_types::{Diagnostic, Span, space};

use crate::blocks::{Blocks, Opener};
use crate::check::{ArgumentCount, Checker};
use crate::definition::Form;
use crate::dialect::Dialect;
use crate::head::Head;
use crate::markers::{self, Marker};
use crate::normalize::normalize;
use crate::registry::Registry;
use crate::tokens::{self, Token, TokenKind};
use crate::tree::{Access, Argument, CallNode, Node, Target};

pub(crate) fn parse(source: &str, dialect: Dialect, registry: &Registry) -> (Vec<Node>, Vec<Diagnostic>) {
    let check = Checker::new(source, dialect, registry);
    let tokens = tokens::read(source, dialect, &check);
    let (open, blocks) = (Vec::new(), Blocks::default());
    let nodes = Vec::with_capacity(2 * tokens.len() + 1);
    let mut parser = Parser { source, dialect, check, nodes, open, blocks, pending: 0 };
    for token in &tokens {
        parser.take(token);
    }
    parser.push_text(parser.pending, source.len());
    parser.end_blocks(0, 0);
    let Parser { mut nodes, check, .. } = parser;
    normalize(&mut nodes, source, 0);
    (nodes, check.finish())
}

pub(crate) struct Parser<'a> {
    pub(crate) source: &'a str,
    pub(crate) dialect: Dialect,
    pub(crate) check: Checker<'a>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) open: Vec<OpenCall>,
    pub(crate) blocks: Blocks,
    /// Start of the text to add to `nodes`.
    pub(crate) pending: usize,
}

pub(crate) struct OpenCall {
    start: usize,
    head: Head,
    target: Option<Target>,
    /// Contains the reserved `|`.
    is_piped: bool,
    arguments: Vec<OpenArgument>,
    first_node: usize,
    /// Index in `Parser::blocks`.
    pub(crate) first_block: usize,
}

/// Its nodes are still in the parser's list.
pub(crate) struct OpenArgument {
    /// Index of the text node before the argument's nodes.
    pub(crate) node: usize,
    span: Span,
}

impl Parser<'_> {
    fn take(&mut self, token: &Token) {
        let span = token.span;
        match &token.kind {
            TokenKind::Escape => self.push_before(span),
            TokenKind::Braces(head) => self.check.report_text(span.start, head),
            TokenKind::Unclosed(head) => {
                self.check.report_unclosed(span.start, head.name);
                // In an unclosed `{{.name<user>`, `<` is not a comparison but part of a marker.
                let marker = markers::find_angle_marker(self.source, span.end - 1, &self.check);
                if let Some(marker) = marker.filter(|_| self.dialect.is_sillytavern()) {
                    self.take_marker(marker);
                }
            }
            TokenKind::Bare(head) => self.take_bare_call(span, head),
            TokenKind::Open(head) => self.take_open(span, *head),
            TokenKind::Separator => self.take_separator(span),
            TokenKind::Close => self.take_close(span),
            TokenKind::Closer(head) => self.take_closer(span, head.name),
            TokenKind::CloserWithArguments(head) => {
                self.check.report_closer_with_arguments(span.start, head.name);
            }
            TokenKind::Marker(marker) => self.take_marker(*marker),
        }
    }

    fn take_open(&mut self, span: Span, head: Head) {
        self.push_before(span);
        self.open.push(OpenCall {
            start: span.start,
            head,
            target: self.target(&head),
            is_piped: false,
            arguments: Vec::new(),
            first_node: self.nodes.len(),
            first_block: self.blocks.open_len(),
        });
        self.begin_argument(span.start, span.end);
    }

    fn target(&self, head: &Head) -> Option<Target> {
        match head.variable {
            Some((scope, operator)) => Some(Target::Variable(Access { scope, operator, name: head.name })),
            None => self.check.find(head.name).map(Target::Macro),
        }
    }

    fn take_bare_call(&mut self, span: Span, head: &Head) {
        let definition = match self.target(head) {
            Some(Target::Macro(definition)) => Some(definition),
            Some(target) => {
                self.push_before(span);
                return self.nodes.push(Node::Call(CallNode::bare(target, span)));
            }
            None => None,
        };
        let form = self.check.form(definition);
        let count = self.check.count(definition, span, head.name, 0);
        match form {
            Form::Alternative => self.take_else(span),
            Form::Comment => self.push_before(span),
            Form::Ordinary | Form::Condition => {
                let Some(definition) = definition.filter(|_| count != ArgumentCount::Wrong) else { return };
                self.push_before(span);
                let opener = Opener { definition, span, keeps_space: head.keeps_space };
                let lacking = if count == ArgumentCount::OneMore {
                    self.nodes.push(Node::Text(span));
                    Some(Vec::new())
                } else {
                    self.nodes.push(Node::Call(CallNode::bare(Target::Macro(definition), span)));
                    None
                };
                self.may_begin_block(opener, lacking, count);
            }
        }
    }

    fn take_separator(&mut self, span: Span) {
        let Some(OpenCall { first_block, target, .. }) = self.open.last() else { return };
        let (first_block, target) = (*first_block, *target);
        let gap = self.end_argument(span.start);
        if self.form(target) != Form::Comment {
            let current = self.open.last().and_then(|call| call.arguments.last());
            self.end_blocks(first_block, current.map_or(0, |argument| argument.span.start));
        }
        self.begin_argument(gap, span.end);
    }

    fn take_marker(&mut self, Marker { span, definition, argument }: Marker) {
        self.push_before(span);
        let argument =
            argument.map(|span| Argument { span, nodes: vec![Node::Text(span)], dedent: 0, trims: false });
        self.push_call(Target::Macro(definition), span, argument.into_iter().collect());
    }

    fn take_close(&mut self, Span { start: place, end }: Span) {
        let inner_end = self.end_argument(place);
        self.pending = end;
        let Some(call) = self.open.pop() else { return };
        let span = Span::new(call.start, end);
        if let Some(target @ Target::Variable(_)) = call.target {
            self.end_blocks(call.first_block, call.start);
            let mut arguments = self.arguments(call.arguments);
            for argument in &mut arguments {
                argument.trims = true;
            }
            self.push_call(target, span, arguments);
        } else {
            self.close_macro(call, span, inner_end);
        }
    }

    fn form(&self, target: Option<Target>) -> Form {
        match target {
            Some(Target::Macro(definition)) => self.check.form(Some(definition)),
            _ => Form::Ordinary,
        }
    }

    fn close_macro(&mut self, call: OpenCall, span: Span, inner_end: usize) {
        let OpenCall { head, target, arguments, first_node, first_block, .. } = call;
        let form = self.form(target);
        if form == Form::Comment {
            self.nodes.truncate(first_node);
            self.blocks.forget(first_block, span.start);
            return;
        }
        let definition = match target {
            Some(Target::Macro(definition)) => Some(definition),
            _ => None,
        };
        let count = if call.is_piped && definition.is_some() {
            self.check.report_pipe(span);
            ArgumentCount::Wrong
        } else {
            self.check.count(definition, span, head.name, arguments.len())
        };
        let divider = match (form, arguments.as_slice()) {
            (Form::Condition, [_, last]) => {
                let alternative = self.alternative(first_block, last.span.start);
                alternative.map(|alternative| alternative.divider(last.node + 1))
            }
            _ => None,
        };
        self.end_blocks(first_block, span.start);
        match (definition, count) {
            (Some(definition), ArgumentCount::Fits { .. }) if form == Form::Condition => {
                let arguments = self.arguments(arguments);
                let opener = Opener { definition, span, keeps_space: head.keeps_space };
                self.push_condition(opener, arguments, divider);
            }
            (Some(definition), ArgumentCount::Fits { .. }) => {
                let arguments = self.arguments(arguments);
                self.push_call(Target::Macro(definition), span, arguments);
                let opener = Opener { definition, span, keeps_space: head.keeps_space };
                self.may_begin_block(opener, None, count);
            }
            (Some(definition), ArgumentCount::OneMore) => {
                self.nodes.push(Node::text(inner_end, span.end));
                let opener = Opener { definition, span, keeps_space: head.keeps_space };
                self.may_begin_block(opener, Some(arguments), count);
            }
            _ if self.dialect.is_sillytavern() => self.push_text(inner_end, span.end),
            _ => {
                self.nodes.truncate(first_node);
                self.nodes.push(Node::Text(span));
            }
        }
    }

    fn begin_argument(&mut self, gap: usize, from: usize) {
        let start = space::skip(self.source, from);
        let argument = OpenArgument { node: self.nodes.len(), span: Span::new(start, start) };
        self.nodes.push(Node::text(gap, start));
        if let Some(call) = self.open.last_mut() {
            call.arguments.push(argument);
        }
        self.pending = start;
    }

    /// Returns the trimmed end.
    fn end_argument(&mut self, place: usize) -> usize {
        let text = self.source.get(self.pending..place).unwrap_or_default();
        let end = self.pending + space::trim_end(text).len();
        self.push_text(self.pending, end);
        if let Some(argument) = self.open.last_mut().and_then(|call| call.arguments.last_mut()) {
            argument.span.end = end;
        }
        end
    }

    pub(crate) fn arguments(&mut self, open: Vec<OpenArgument>) -> Vec<Argument> {
        let mut arguments = Vec::with_capacity(open.len());
        for OpenArgument { node, span } in open.into_iter().rev() {
            let nodes = self.nodes.split_off(node + 1);
            self.nodes.truncate(node);
            arguments.push(Argument { span, nodes, dedent: 0, trims: false });
        }
        arguments.reverse();
        arguments
    }

    pub(crate) fn push_call(&mut self, target: Target, span: Span, arguments: Vec<Argument>) {
        self.nodes.push(Node::Call(CallNode::new(target, span, arguments)));
    }

    pub(crate) fn push_before(&mut self, token: Span) {
        self.push_text(self.pending, token.start);
        self.pending = token.end;
    }

    fn push_text(&mut self, start: usize, end: usize) {
        if start >= end {
            return;
        }
        self.nodes.push(Node::text(start, end));
        if self.dialect.is_sillytavern()
            && let Some(call) = self.open.last_mut()
            && !call.is_piped
        {
            call.is_piped = self.source.get(start..end).unwrap_or_default().contains('|');
        }
    }
}
