//! What a template is compiled to: texts and calls, with the arguments of calls as trees of the same kind.
//!
//! A tree is never higher than [`Limits::MAX_DEPTH`], so that walking and dropping it fits a small stack.

use ctx_types::Span;

use crate::state::{Limits, Scope};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// Bytes of the source that are copied.
    Text(Span),
    Call(CallNode),
}

/// A call, and what is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallNode {
    pub(crate) target: Target,
    pub(crate) span: Span,
    pub(crate) arguments: Vec<Argument>,
    /// How many calls stand inside each other, with this one.
    height: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The definition with this number in the registry.
    Macro(usize),
    /// A condition of the definition with this number: an argument that is tested, one that is written if it
    /// holds, and perhaps one that is written if not. Only the chosen one is evaluated.
    If {
        definition: usize,
        /// The first is written if the condition does not hold.
        negated: bool,
    },
    /// A variable is read, changed or compared; with a value there is one argument.
    Variable(Access),
    /// More calls stood in it than any run evaluates; they are dropped.
    TooDeep,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// The argument without the white space around it.
    pub(crate) span: Span,
    pub(crate) nodes: Vec<Node>,
    /// How many characters of white space are removed where its lines begin.
    pub(crate) dedent: usize,
    /// White space at the ends of its value is removed too, not only what is written there.
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
        match height > Limits::MAX_DEPTH {
            true => Self::bare(Target::TooDeep, span),
            false => Self { target, span, arguments, height },
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

/// Adds the calls among some nodes in the order of their opening braces, those in arguments too.
pub(crate) fn list_calls<'t>(nodes: &'t [Node], calls: &mut Vec<&'t CallNode>) {
    for node in nodes {
        let Node::Call(call) = node else { continue };
        calls.push(call);
        for argument in &call.arguments {
            list_calls(&argument.nodes, calls);
        }
    }
}

/// A variable, by the place of its name, and what is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) scope: Scope,
    pub(crate) operator: Operator,
    pub(crate) name: Span,
}

/// What `{{.name …}}` does with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Get,
    Set,
    Add,
    Subtract,
    Increment,
    Decrement,
    /// `||`: the value if the variable is empty, 0, `false` or `off`.
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
    /// Every operator that is written with characters, a longer one before those that it begins with.
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

    /// Whether the value is only evaluated where the variable has none.
    pub(crate) const fn may_skip_value(self) -> bool {
        matches!(self, Self::Or | Self::OrElse | Self::OrSet | Self::OrElseSet)
    }

    pub(crate) const fn changes_state(self) -> bool {
        match self {
            Self::Set
            | Self::Add
            | Self::Subtract
            | Self::Increment
            | Self::Decrement
            | Self::OrSet
            | Self::OrElseSet => true,
            Self::Get
            | Self::Or
            | Self::OrElse
            | Self::Equal
            | Self::NotEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::Less
            | Self::LessEqual => false,
        }
    }
}
