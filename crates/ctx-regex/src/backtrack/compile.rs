use super::candidates;
use super::class::Class;
use super::program::{CaseFolding, Loop, Op, OpIndex, Program, Run, SLOTS_OF_LOOP};
use crate::Flags;
use crate::ast::{Node, Pattern, Repeat};
use crate::code_set::CodeSet;

/// Linear in the pattern; does not expand repetitions.
pub(super) fn compile(pattern: &Pattern, flags: Flags) -> Program {
    let folding = match (flags.contains(Flags::IGNORE_CASE), flags.strict()) {
        (false, _) => None,
        (true, false) => Some(CaseFolding::Upper),
        (true, true) => Some(CaseFolding::Simple),
    };
    let mut compiler = Compiler {
        program: Program {
            ops: Vec::new(),
            classes: Vec::new(),
            slots: 2 * (pattern.groups.count() + 1),
            looks: 0,
            folding,
            wide_words: folding == Some(CaseFolding::Simple),
        },
        references: &pattern.references,
        lines: flags.contains(Flags::MULTILINE),
        before: false,
    };
    compiler.saved(0, &pattern.root);
    compiler.push(Op::Match);
    let mut program = compiler.program;
    candidates::set_filters(&mut program);
    program
}

struct Compiler<'p> {
    program: Program,
    references: &'p [usize],
    lines: bool,
    /// Matches right to left.
    before: bool,
}

impl Compiler<'_> {
    /// The parser limits the recursion depth.
    fn node(&mut self, node: &Node) {
        match node {
            Node::Char(c) => self.literal(c.to_string()),
            Node::Set(set) => self.class(set),
            Node::Start => self.push(if self.lines { Op::LineStart } else { Op::Start }),
            Node::End => self.push(if self.lines { Op::LineEnd } else { Op::End }),
            Node::WordBoundary { negated } => self.push(Op::WordBoundary { negated: *negated }),
            Node::Group(body) => self.node(body),
            Node::Capture { number, body } => self.saved(*number, body),
            Node::Look { body, behind, negated } => self.look(body, *behind, *negated),
            Node::Backreference(reference) => self.backreference(*reference),
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Sequence(nodes) => self.sequence(nodes),
            Node::Alternatives(nodes) => self.alternatives(nodes),
        }
    }

    fn push(&mut self, op: Op) {
        self.program.ops.push(op);
    }

    fn here(&self) -> OpIndex {
        self.program.ops.len()
    }

    fn literal(&mut self, text: String) {
        let before = self.before;
        self.push(Op::Literal { text: text.into(), before });
    }

    fn class(&mut self, set: &CodeSet) {
        if set.char_ranges().next().is_none() {
            return self.push(Op::Fail);
        }
        let (class, before) = (self.class_of(set), self.before);
        self.push(Op::Class { class, before });
    }

    fn class_of(&mut self, set: &CodeSet) -> usize {
        self.program.classes.push(Class::new(set));
        self.program.classes.len() - 1
    }

    fn saved(&mut self, number: usize, body: &Node) {
        let (first, last) =
            if self.before { (2 * number + 1, 2 * number) } else { (2 * number, 2 * number + 1) };
        self.push(Op::Save(first));
        self.node(body);
        self.push(Op::Save(last));
    }

    fn backreference(&mut self, reference: usize) {
        let number = self.references[reference];
        let before = self.before;
        self.push(Op::Group { number, before });
    }

    fn sequence(&mut self, nodes: &[Node]) {
        let mut text = String::new();
        let (mut forwards, mut backwards) = (nodes.iter(), nodes.iter().rev());
        let before = self.before;
        let next = || if before { backwards.next() } else { forwards.next() };
        for node in std::iter::from_fn(next) {
            if let Node::Char(c) = node {
                text.push(*c);
                continue;
            }
            self.flush(&mut text);
            self.node(node);
        }
        self.flush(&mut text);
    }

    fn flush(&mut self, text: &mut String) {
        match std::mem::take(text) {
            text if text.is_empty() => {}
            text if self.before => self.literal(text.chars().rev().collect()),
            text => self.literal(text),
        }
    }

    fn alternatives(&mut self, nodes: &[Node]) {
        let Some((last, earlier)) = nodes.split_last() else { return };
        let mut jumps = Vec::with_capacity(earlier.len());
        for node in earlier {
            let split = self.split();
            self.node(node);
            jumps.push(self.here());
            self.push(Op::Jump(0));
            self.set_split(split, split + 1, self.here());
        }
        self.node(last);
        let end = self.here();
        for jump in jumps {
            self.program.ops[jump] = Op::Jump(end);
        }
    }

    fn look(&mut self, body: &Node, behind: bool, negated: bool) {
        let look = self.program.looks;
        self.program.looks += 1;
        let begin = self.here();
        self.push(Op::Fail);
        let before = std::mem::replace(&mut self.before, behind);
        self.node(body);
        self.before = before;
        self.push(Op::Seen { look, negated });
        self.program.ops[begin] = Op::Look { look, negated, after: self.here() };
    }

    fn repeat(&mut self, repeat: &Repeat) {
        let Repeat { body, min, max, greedy, .. } = repeat;
        if *max == Some(0) {
            return;
        }
        if let Some(set) = one_character(body) {
            let run = Run {
                class: self.class_of(&set),
                min: *min,
                max: max.unwrap_or(u32::MAX),
                greedy: *greedy,
                before: self.before,
                filter: None,
            };
            return self.push(Op::Run(run));
        }
        match (*min, *max) {
            _ if body.width().empty => self.counted_loop(repeat),
            (0, Some(1)) => self.optional(repeat),
            (0, None) => self.star(repeat),
            (1, None) => self.plus(repeat),
            _ => self.counted_loop(repeat),
        }
    }

    /// `(…)?` with a nonempty body.
    fn optional(&mut self, repeat: &Repeat) {
        let split = self.split();
        self.iteration(repeat);
        self.branch(split, repeat.greedy, split + 1, self.here());
    }

    /// `(…)*` with a nonempty body.
    fn star(&mut self, repeat: &Repeat) {
        let split = self.split();
        self.iteration(repeat);
        self.push(Op::Jump(split));
        self.branch(split, repeat.greedy, split + 1, self.here());
    }

    /// `(…)+` with a nonempty body.
    fn plus(&mut self, repeat: &Repeat) {
        let begin = self.here();
        self.iteration(repeat);
        let split = self.split();
        self.branch(split, repeat.greedy, begin, split + 1);
    }

    fn iteration(&mut self, repeat: &Repeat) {
        if !repeat.groups.is_empty() {
            self.push(Op::Forget(2 * repeat.groups.start..2 * repeat.groups.end));
        }
        self.node(&repeat.body);
    }

    /// All other loops.
    fn counted_loop(&mut self, repeat: &Repeat) {
        let counter = self.program.slots;
        self.program.slots += SLOTS_OF_LOOP;
        self.push(Op::Enter { counter });
        let begin = self.here();
        self.push(Op::Fail);
        self.push(Op::Iterate { counter, groups: 2 * repeat.groups.start..2 * repeat.groups.end });
        self.node(&repeat.body);
        self.push(Op::Again { counter, min: repeat.min, to: begin });
        let exit = self.here();
        let (min, max, greedy) = (repeat.min, repeat.max.unwrap_or(u32::MAX), repeat.greedy);
        self.program.ops[begin] = Op::Loop(Loop { counter, min, max, greedy, exit });
    }

    fn split(&mut self) -> OpIndex {
        self.push(Op::Fail);
        self.here() - 1
    }

    fn branch(&mut self, split: OpIndex, greedy: bool, iteration: OpIndex, end: OpIndex) {
        let (first, second) = if greedy { (iteration, end) } else { (end, iteration) };
        self.set_split(split, first, second);
    }

    fn set_split(&mut self, split: OpIndex, first: OpIndex, second: OpIndex) {
        self.program.ops[split] = Op::Split { first, second, filter: None };
    }
}

fn one_character(node: &Node) -> Option<CodeSet> {
    match node {
        Node::Char(c) => Some(CodeSet::one(u32::from(*c))),
        Node::Set(set) => Some(set.clone()),
        Node::Group(body) => one_character(body),
        Node::Sequence(nodes) => match nodes.as_slice() {
            [node] => one_character(node),
            _ => None,
        },
        _ => None,
    }
}
