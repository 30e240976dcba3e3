//! What a template is compiled to: a flat list in the order of the text.
//!
//! A call without arguments is one `Call`. With arguments it is `Call`, then for each argument `Arg` and what
//! the argument holds, then `End`. A flat list needs no recursion to build, copy or drop, however deep the
//! calls are nested.

use ctx_types::Span;

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
    /// The start of an argument.
    Arg {
        /// The argument without the white space around it.
        span: Span,
        /// Where the bytes begin that stand between this argument and what precedes it: the opening braces
        /// and the name, or the white space behind the previous argument, and the separator.
        gap: usize,
    },
    /// The end of the last argument of a call.
    End,
}

impl Op {
    pub(crate) const fn text(start: usize, end: usize) -> Self {
        Self::Text { span: Span::new(start, end), verbatim: false }
    }
}
