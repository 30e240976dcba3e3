//! Blocks: `{{name …}} text {{/name}}`, where the text is the last argument, and `{{else}}` in them.
//!
//! Whether a call begins a block is known when its closer comes. Until then the call is a candidate, with ops
//! that mean nothing in the places that a block would need, so that nothing is ever inserted.

use std::collections::HashMap;

use ctx_types::{Span, space};

use super::{OpenCall, Parser};
use crate::check::Count;
use crate::definition::Form;
use crate::op::{Access, Op, Operator};
use crate::state::Scope;

#[derive(Default)]
pub(super) struct Blocks {
    candidates: Vec<Candidate>,
    /// The candidates that call a definition, innermost last. Never iterated.
    by_definition: HashMap<usize, Vec<usize>>,
    alternatives: Vec<Alternative>,
}

/// A call that may begin a block.
struct Candidate {
    opener: Opener,
    /// Without a block it lacks an argument.
    is_incomplete: bool,
    /// The places of its `Op::Arg`.
    arguments: Vec<usize>,
    /// Where the `Op::Arg` of the block's text would stand.
    slot: usize,
}

/// The call at the beginning of what may be a block.
pub(super) struct Opener {
    pub(super) op: usize,
    pub(super) definition: usize,
    /// The call with its braces.
    pub(super) span: Span,
    /// Where its own arguments end in the source.
    pub(super) inner_end: usize,
    pub(super) keeps_space: bool,
}

/// An `{{else}}`.
#[derive(Clone, Copy)]
pub(super) struct Alternative {
    op: usize,
    span: Span,
}

impl Blocks {
    /// Returns how many candidates there are, as the place where those of a call begin.
    pub(super) const fn open_len(&self) -> usize {
        self.candidates.len()
    }

    /// Returns the innermost candidate of a definition that is not outside of the current call.
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
        if let Some(indexes) = self.by_definition.get_mut(&candidate.opener.definition) {
            indexes.pop();
        }
        Some(candidate)
    }

    /// Takes the `{{else}}`s behind an op.
    fn take_alternatives(&mut self, op: usize) -> Vec<Alternative> {
        let first = self.alternatives.partition_point(|alternative| alternative.op < op);
        self.alternatives.split_off(first)
    }

    pub(super) fn forget(&mut self, first: usize, op: usize) {
        while self.candidates.len() > first {
            self.pop();
        }
        self.take_alternatives(op);
    }
}

impl Parser<'_, '_> {
    /// Remembers that a call may begin a block.
    pub(super) fn may_begin_block(&mut self, opener: Opener, arguments: Vec<usize>, count: Count) {
        if self.dialect.has_blocks() && count.takes_more() {
            let slot = self.ops.len();
            self.ops.push(Op::NOTHING);
            let is_incomplete = count == Count::OneMore;
            self.blocks.push(Candidate { opener, is_incomplete, arguments, slot });
        }
    }

    pub(super) fn take_else(&mut self, span: Span) {
        self.push_text(self.pending, span.start);
        self.pending = span.end;
        self.blocks.alternatives.push(Alternative { op: self.ops.len(), span });
        self.ops.push(Op::NOTHING);
    }

    /// Ends the innermost block that a call of the same name began in the same argument.
    pub(super) fn take_closer(&mut self, closer: Span, name: Span) -> usize {
        let first = self.open.last().map_or(0, |call| call.first_block);
        let found = self.check.find(name).and_then(|definition| self.blocks.innermost(definition, first));
        let Some(index) = found else {
            self.check.report_closer(closer, name);
            return closer.end;
        };
        self.push_text(self.pending, closer.start);
        self.pending = closer.end;
        self.end_candidates(index + 1);
        if let Some(candidate) = self.blocks.pop() {
            self.close_block(candidate, closer);
        }
        closer.end
    }

    fn close_block(&mut self, block: Candidate, closer: Span) {
        let Candidate { opener, arguments: mut places, slot, .. } = block;
        let form = self.check.form(Some(opener.definition));
        let alternatives = self.blocks.take_alternatives(opener.op);
        let first = self.only_first(alternatives, form == Form::Condition);
        let content = Span::new(opener.span.end, closer.start);
        let text = self.source.get(content.start..content.end).unwrap_or_default();
        let (span, dedent) = match opener.keeps_space {
            true => (content, 0),
            false => (trimmed(content, text), indent(text)),
        };
        if !places.is_empty() {
            self.replace(slot - 1, Op::NOTHING);
        }
        let trims = !opener.keeps_space;
        self.replace(slot, Op::Arg { span, gap: opener.inner_end, dedent, trims, next: 0 });
        if !opener.keeps_space {
            self.trim_texts(slot + 1, self.ops.len());
        }
        self.ops.push(Op::End);
        places.push(slot);
        let span = Span::new(opener.span.start, closer.end);
        let call = Op::Call { definition: opener.definition, span, arguments: places.len() };
        self.replace(opener.op, call);
        if form == Form::Condition {
            self.finish_condition(opener.op, &places, first, opener.keeps_space);
        }
    }

    /// Returns the `{{else}}` in the last argument of a condition that is written in one call.
    pub(super) fn alternative(
        &mut self,
        call: &OpenCall,
        form: Form,
        arguments: usize,
    ) -> Option<Alternative> {
        if form != Form::Condition || arguments != 2 {
            return None;
        }
        let last = *self.arguments.last()?;
        self.end_candidates(call.first_block);
        let alternatives = self.blocks.take_alternatives(last);
        self.only_first(alternatives, true)
    }

    /// Returns the first of the `{{else}}`s if it divides something; the others give nothing.
    fn only_first(&mut self, alternatives: Vec<Alternative>, is_condition: bool) -> Option<Alternative> {
        let mut alternatives = alternatives.into_iter();
        let first = if is_condition { alternatives.next() } else { None };
        for Alternative { span, .. } in alternatives {
            self.check.report_else(span);
        }
        first
    }

    /// Makes an `If` of a call with its arguments, and two arguments of one that is divided by an `{{else}}`.
    pub(super) fn finish_condition(
        &mut self,
        op: usize,
        places: &[usize],
        alternative: Option<Alternative>,
        keeps_space: bool,
    ) {
        let (Some(Op::Call { definition, span, .. }), [condition, then]) =
            (self.ops.get(op).copied(), places)
        else {
            return;
        };
        let negated = self.read_condition(*condition, *then);
        self.replace(op, Op::If { definition, span, negated });
        self.trim_value(*then, !keeps_space);
        let Some(Alternative { op: divider, span: word }) = alternative else {
            return;
        };
        let Some(Op::Arg { span: whole, dedent, .. }) = self.ops.get_mut(*then) else {
            return;
        };
        let (end, dedent) = (whole.end, *dedent);
        whole.end = word.start;
        let trims = !keeps_space;
        let second = Op::Arg { span: Span::new(word.end, end), gap: word.start, dedent, trims, next: 0 };
        self.replace(divider, second);
        if !keeps_space {
            self.trim_texts(*then + 1, divider);
            self.trim_texts(divider + 1, self.ops.len() - 1);
        }
    }

    /// Says whether white space at the ends of an argument's value is removed.
    pub(super) fn trim_value(&mut self, argument: usize, is_trimmed: bool) {
        if let Some(Op::Arg { trims, .. }) = self.ops.get_mut(argument) {
            *trims = is_trimmed;
        }
    }

    /// Looks at the condition whose ops stand between two places: a `!` before it negates it, and the bare name
    /// of a variable or of a macro that needs no arguments stands for its value.
    fn read_condition(&mut self, argument: usize, end: usize) -> bool {
        let mut texts = self.ops.iter().enumerate().take(end).skip(argument + 1);
        let mut written =
            texts.by_ref().filter(|(_, op)| !matches!(op, Op::Text { span, .. } if span.is_empty()));
        let Some((at, Op::Text { span: text, verbatim })) = written.next().map(|(at, op)| (at, *op)) else {
            return false;
        };
        let is_alone = written.all(|(_, op)| matches!(op, Op::End));
        let source = self.source.get(text.start..text.end).unwrap_or_default();
        let bare = source.strip_prefix('!').map(space::trim_start);
        let negated = bare.is_some();
        let bare = bare.unwrap_or(source);
        let span = Span::new(text.end - bare.len(), text.end);
        let read = if is_alone { self.read_name(bare, span) } else { None };
        self.replace(at, read.unwrap_or(Op::Text { span, verbatim }));
        negated
    }

    fn read_name(&self, bare: &str, span: Span) -> Option<Op> {
        let scope = match bare.bytes().next()? {
            b'.' => Scope::Local,
            b'$' => Scope::Global,
            _ => {
                let definition = self.check.find_callable(span)?;
                return Some(Op::Call { definition, span, arguments: 0 });
            }
        };
        let name = Span::new(span.start + 1, span.end);
        let text = self.source.get(name.start..name.end).unwrap_or_default();
        let is_name = !text.is_empty() && crate::head::variable_name(text) == text;
        let access = Access { scope, operator: Operator::Get, name };
        is_name.then_some(Op::Variable { access, span })
    }

    /// Ends a call, or the text, with everything in it that was not closed.
    pub(super) fn end_blocks(&mut self, first: usize, op: usize) {
        self.end_candidates(first);
        let alternatives = self.blocks.take_alternatives(op);
        self.only_first(alternatives, false);
    }

    /// Ends the candidates from one on: what lacks an argument is text.
    fn end_candidates(&mut self, first: usize) {
        while self.blocks.candidates.len() > first {
            let Some(candidate) = self.blocks.pop() else { return };
            if candidate.is_incomplete {
                let Opener { definition, span, .. } = candidate.opener;
                self.check.report_count(definition, span, candidate.arguments.len());
                for argument in candidate.arguments {
                    self.argument_to_text(argument);
                }
            }
        }
    }

    /// Takes white space from the first and from the last of the texts that stand between two ops.
    fn trim_texts(&mut self, start: usize, end: usize) {
        let source = self.source;
        let text = |span: &Span| source.get(span.start..span.end).unwrap_or_default();
        let Some(ops) = self.ops.get_mut(start..end) else { return };
        for op in ops.iter_mut() {
            let Op::Text { span, .. } = op else { break };
            span.start = span.end - space::trim_start(text(span)).len();
            if !span.is_empty() {
                break;
            }
        }
        for op in ops.iter_mut().rev() {
            let Op::Text { span, .. } = op else { break };
            span.end = span.start + space::trim_end(text(span)).len();
            if !span.is_empty() {
                break;
            }
        }
    }
}

fn trimmed(span: Span, text: &str) -> Span {
    let start = span.end - space::trim_start(text).len();
    Span::new(start, start + space::trim(text).len())
}

/// Returns how many characters of white space the first line begins with that has anything else.
fn indent(text: &str) -> usize {
    let blank = text.len() - space::trim_start(text).len();
    let before = text.get(..blank).unwrap_or_default();
    before.rsplit('\n').next().map_or(0, |line| line.chars().count())
}
