//! Parses blocks: `{{name …}} text {{/name}}`, where the text is the last argument.
//!
//! A call is a candidate until its closing tag is found.

use std::collections::HashMap;

use ctx_types::{Span, space};

use crate::check::ArgumentCount;
use crate::definition::Form;
use crate::parse::{OpenArgument, Parser};
use crate::state::Scope;
use crate::tree::{Access, Argument, CallNode, Node, Operator, Target};

#[derive(Default)]
pub(crate) struct Blocks {
    candidates: Vec<Candidate>,
    /// Innermost last. Never iterated.
    by_definition: HashMap<usize, Vec<usize>>,
    alternatives: Vec<Alternative>,
}

struct Candidate {
    opener: Opener,
    /// Arguments of a call that needs a block. Without a closing tag, the call is text.
    lacking: Option<Vec<OpenArgument>>,
    /// Index of the content's first node.
    inner: usize,
}

pub(crate) struct Opener {
    pub(crate) definition: usize,
    pub(crate) span: Span,
    pub(crate) keeps_space: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Alternative {
    /// Index of the following node.
    node: usize,
    span: Span,
}

impl Alternative {
    pub(crate) const fn divider(self, first: usize) -> (usize, Span) {
        (self.node - first, self.span)
    }
}

impl Blocks {
    pub(crate) const fn open_len(&self) -> usize {
        self.candidates.len()
    }

    fn innermost(&self, definition: usize, first: usize) -> Option<usize> {
        self.by_definition.get(&definition)?.last().copied().filter(|index| *index >= first)
    }

    fn push(&mut self, candidate: Candidate) {
        let index = self.candidates.len();
        self.by_definition.entry(candidate.opener.definition).or_default().push(index);
        self.candidates.push(candidate);
    }

    fn pop(&mut self) -> Option<Candidate> {
        let candidate = self.candidates.pop()?;
        let indexes = self.by_definition.get_mut(&candidate.opener.definition);
        indexes.expect("`push` adds the definition").pop();
        Some(candidate)
    }

    fn take_alternatives(&mut self, from: usize) -> Vec<Alternative> {
        let first = self.alternatives.partition_point(|alternative| alternative.span.start < from);
        self.alternatives.split_off(first)
    }

    pub(crate) fn forget(&mut self, first: usize, from: usize) {
        while self.candidates.len() > first {
            self.pop();
        }
        self.take_alternatives(from);
    }
}

impl Parser<'_> {
    /// `lacking` has the arguments of a call that needs a block.
    pub(crate) fn may_begin_block(
        &mut self,
        opener: Opener,
        lacking: Option<Vec<OpenArgument>>,
        count: ArgumentCount,
    ) {
        if self.dialect.is_sillytavern() && count.takes_more() {
            self.blocks.push(Candidate { opener, lacking, inner: self.nodes.len() });
        }
    }

    pub(crate) fn take_else(&mut self, span: Span) {
        self.push_before(span);
        self.blocks.alternatives.push(Alternative { node: self.nodes.len(), span });
    }

    pub(crate) fn take_closer(&mut self, closer: Span, name: Span) {
        let first = self.open.last().map_or(0, |call| call.first_block);
        let found = self.check.find(name).and_then(|definition| self.blocks.innermost(definition, first));
        let Some(index) = found else {
            return self.check.report_closer(closer, name);
        };
        self.push_before(closer);
        self.end_candidates(index + 1);
        if let Some(candidate) = self.blocks.pop() {
            self.close_block(candidate, closer);
        }
    }

    fn close_block(&mut self, Candidate { opener, lacking, inner }: Candidate, closer: Span) {
        let Opener { definition, span: call, keeps_space } = opener;
        let is_condition = self.check.form(Some(definition)) == Form::Condition;
        let alternative = self.first_alternative(opener.span.end, is_condition);
        let mut nodes = self.nodes.split_off(inner);
        // The call, or the last text of a call that lacks an argument.
        let node = self.nodes.pop();
        let mut arguments = match (lacking, node) {
            (Some(lacking), _) => self.arguments(lacking),
            (None, Some(Node::Call(call))) => call.arguments,
            (None, _) => Vec::new(),
        };
        let content = Span::new(call.end, closer.start);
        let text = self.source.get(content.start..content.end).unwrap_or_default();
        let (span, dedent) =
            if keeps_space { (content, 0) } else { (trim_span(content, text), indent(text)) };
        if !keeps_space {
            self.trim_texts(&mut nodes);
        }
        arguments.push(Argument { span, nodes, dedent, trims: !keeps_space });
        let span = Span::new(call.start, closer.end);
        if is_condition {
            let divider = alternative.map(|alternative| alternative.divider(inner));
            self.push_condition(Opener { span, ..opener }, arguments, divider);
        } else {
            self.push_call(Target::Macro(definition), span, arguments);
        }
    }

    pub(crate) fn alternative(&mut self, first_block: usize, from: usize) -> Option<Alternative> {
        self.end_candidates(first_block);
        self.first_alternative(from, true)
    }

    /// Reports further or misplaced tags, which expand to nothing.
    fn first_alternative(&mut self, from: usize, is_condition: bool) -> Option<Alternative> {
        let mut alternatives = self.blocks.take_alternatives(from).into_iter();
        let first = if is_condition { alternatives.next() } else { None };
        for Alternative { span, .. } in alternatives {
            self.check.report_else(span);
        }
        first
    }

    pub(crate) fn push_condition(
        &mut self,
        Opener { definition, span, keeps_space }: Opener,
        mut arguments: Vec<Argument>,
        divider: Option<(usize, Span)>,
    ) {
        let [condition, then] = arguments.as_mut_slice() else {
            return self.push_call(Target::Macro(definition), span, arguments);
        };
        let negated = self.read_condition(&mut condition.nodes);
        then.trims = !keeps_space;
        if let Some((node, word)) = divider {
            let nodes = then.nodes.split_off(node.min(then.nodes.len()));
            let mut second = Argument { span: Span::new(word.end, then.span.end), nodes, ..*then };
            then.span.end = word.start;
            if !keeps_space {
                self.trim_texts(&mut then.nodes);
                self.trim_texts(&mut second.nodes);
            }
            arguments.push(second);
        }
        self.push_call(Target::If { definition, negated }, span, arguments);
    }

    /// Handles `!` and bare variable or macro names. Returns whether `!` was present.
    fn read_condition(&self, nodes: &mut [Node]) -> bool {
        let mut written =
            nodes.iter_mut().filter(|node| !matches!(node, Node::Text(span) if span.is_empty()));
        let Some(first) = written.next() else { return false };
        let Node::Text(text) = *first else { return false };
        let is_alone = written.next().is_none();
        let source = self.source.get(text.start..text.end).unwrap_or_default();
        let negated = source.strip_prefix('!').map(space::trim_start);
        let bare = negated.unwrap_or(source);
        let span = Span::new(text.end - bare.len(), text.end);
        let target = if is_alone { self.read_name(bare, span) } else { None };
        *first = match target {
            Some(target) => Node::Call(CallNode::new(target, span, Vec::new())),
            None => Node::Text(span),
        };
        negated.is_some()
    }

    fn read_name(&self, bare: &str, span: Span) -> Option<Target> {
        let scope = match bare.bytes().next()? {
            b'.' => Scope::Local,
            b'$' => Scope::Global,
            _ => return self.check.find_callable(span).map(Target::Macro),
        };
        let name = Span::new(span.start + 1, span.end);
        let text = self.source.get(name.start..name.end).unwrap_or_default();
        let is_name = !text.is_empty() && crate::head::variable_name(text) == text;
        is_name.then_some(Target::Variable(Access { scope, operator: Operator::Get, name }))
    }

    pub(crate) fn end_blocks(&mut self, first: usize, from: usize) {
        self.end_candidates(first);
        self.first_alternative(from, false);
    }

    /// A call that still lacks an argument remains text.
    fn end_candidates(&mut self, first: usize) {
        while self.blocks.candidates.len() > first {
            let Some(Candidate { opener, lacking, .. }) = self.blocks.pop() else { return };
            if let Some(lacking) = lacking {
                self.check.report_count(opener.definition, opener.span, lacking.len());
            }
        }
    }

    fn trim_texts(&self, nodes: &mut [Node]) {
        let text = |span: &Span| self.source.get(span.start..span.end).unwrap_or_default();
        for node in nodes.iter_mut() {
            let Node::Text(span) = node else { break };
            span.start = span.end - space::trim_start(text(span)).len();
            if !span.is_empty() {
                break;
            }
        }
        for node in nodes.iter_mut().rev() {
            let Node::Text(span) = node else { break };
            span.end = span.start + space::trim_end(text(span)).len();
            if !span.is_empty() {
                break;
            }
        }
    }
}

fn trim_span(span: Span, text: &str) -> Span {
    let start = span.end - space::trim_start(text).len();
    Span::new(start, start + space::trim(text).len())
}

fn indent(text: &str) -> usize {
    let blank = text.len() - space::trim_start(text).len();
    let before = text.get(..blank).unwrap_or_default();
    before.rsplit('\n').next().map_or(0, |line| line.chars().count())
}
