//! What a template is compiled to: a flat list in the order of the text.
//!
//! A call without arguments is one `Call`. With arguments it is `Call`, then for each argument `Arg` and what
//! the argument holds, then `End`; `If` and a `Variable` with a value likewise. A flat list needs no recursion
//! to build, copy or drop, however deep the calls are nested.

use ctx_types::Span;

use crate::state::Scope;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Bytes of the source that are copied.
    Text {
        span: Span,
        /// The bytes are not looked at for escapes.
        verbatim: bool,
    },
    /// A call of the definition with this number in the registry.
    Call { definition: usize, span: Span, arguments: usize },
    /// A condition of the definition with this number: an argument that is tested, one that is written if it
    /// holds, and perhaps one that is written if not. Only the chosen one is evaluated.
    If {
        definition: usize,
        span: Span,
        /// The first is written if the condition does not hold.
        negated: bool,
    },
    /// A variable is read, changed or compared; with a value there is one argument.
    Variable { access: Access, span: Span },
    /// The start of an argument.
    Arg {
        /// The argument without the white space around it.
        span: Span,
        /// Where the bytes begin that stand between this argument and what precedes it: the opening braces
        /// and the name, or the white space behind the previous argument, and the separator.
        gap: usize,
        /// How many characters of white space are removed where its lines begin.
        dedent: usize,
        /// White space at the ends of its value is removed too, not only what is written there.
        trims: bool,
        /// Where the next argument of the same call begins, or its `End`. Set when compiling ends.
        next: usize,
    },
    /// The end of the last argument of a call.
    End,
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

impl Op {
    pub(crate) const NOTHING: Self = Self::text(0, 0);

    pub(crate) const fn text(start: usize, end: usize) -> Self {
        Self::Text { span: Span::new(start, end), verbatim: false }
    }

    pub(crate) const fn argument(span: Span, gap: usize) -> Self {
        Self::Arg { span, gap, dedent: 0, trims: false, next: 0 }
    }
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
