//! Syntax tree of a template, at most [`Limits::MAX_DEPTH`] high, because it is walked recursively.

use ctx_types::Span;

use crate::state::{Limits, Scope};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Text(Span),
    Call(CallNode),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallNode {
    pub(crate) target: Target,
    pub(crate) span: Span,
    pub(crate) arguments: Vec<Argument>,
    height: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Definition index.
    Macro(usize),
    /// Arguments: condition, branch if true, and optional branch if false.
    If {
        definition: usize,
        negated: bool,
    },
    Variable(Access),
    /// Replaces a call that exceeds the depth limit.
    TooDeep,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) span: Span,
    pub(crate) nodes: Vec<Node>,
    /// Indentation to remove, in characters.
    pub(crate) dedent: usize,
    /// Also trims the value, not only the source.
    pub(crate) trims: bool,
}

impl CallNode {
    #[inline]
    pub(crate) const fn bare(target: Target, span: Span) -> Self {
        Self { target, span, arguments: Vec::new(), height: 1 }
    }

    pub(crate) fn new(target: Target, span: Span, arguments: Vec<Argument>) -> Self {
        let highest = |argument: &Argument| argument.nodes.iter().map(Node::height).max();
        let height = 1 + arguments.iter().filter_map(highest).max().unwrap_or(0);
        if height > Limits::MAX_DEPTH {
            Self::bare(Target::TooDeep, span)
        } else {
            Self { target, span, arguments, height }
        }
    }
}

impl Node {
    pub(crate) const fn text(start: usize, end: usize) -> Self {
        Self::Text(Span::new(start, end))
    }

    const fn height(&self) -> usize {
        match self {
            Self::Text(_) => 0,
            Self::Call(call) => call.height,
        }
    }
}

/// In the order of their opening braces.
pub(crate) fn list_calls<'t>(nodes: &'t [Node], calls: &mut Vec<&'t CallNode>) {
    for node in nodes {
        let Node::Call(call) = node else { continue };
        calls.push(call);
        for argument in &call.arguments {
            list_calls(&argument.nodes, calls);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) scope: Scope,
    pub(crate) operator: Operator,
    pub(crate) name: Span,
}

/// In `{{.name …}}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Get,
    Set,
    Add,
    Subtract,
    Increment,
    Decrement,
    /// `||`: the value if the variable is false.
    Or,
    /// `??`: the value if the variable is not set.
    OrElse,
    OrSet,
    OrElseSet,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
}

impl Operator {
    /// Longer operators precede their prefixes.
    pub(crate) const WRITTEN: [(&str, Self); 15] = [
        ("??=", Self::OrElseSet),
        ("||=", Self::OrSet),
        ("??", Self::OrElse),
        ("||", Self::Or),
        ("++", Self::Increment),
        ("--", Self::Decrement),
        ("+=", Self::Add),
        ("-=", Self::Subtract),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        (">=", Self::GreaterEqual),
        ("<=", Self::LessEqual),
        (">", Self::Greater),
        ("<", Self::Less),
        ("=", Self::Set),
    ];

    pub(crate) const fn has_value(self) -> bool {
        !matches!(self, Self::Get | Self::Increment | Self::Decrement)
    }
}
