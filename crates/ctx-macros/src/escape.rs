//! Escapes `\{` and `\}` in a result.

use memchr::memchr_iter;

use crate::expansion::{Output, Writer};
use crate::registry::Registry;

pub(crate) fn is_in(text: &str) -> bool {
    places(text.as_bytes()).next().is_some()
}

/// Unescapes bytes from the template and values that echo them. Linear in the text.
pub(crate) fn remove(output: &mut Output, registry: &Registry) {
    let mut pieces = output.pieces().iter();
    let mut piece = pieces.next();
    let mut removed = Vec::new();
    for at in places(output.text().as_bytes()) {
        while piece.is_some_and(|piece| piece.end <= at) {
            piece = pieces.next();
        }
        if piece.is_some_and(|piece| is_escapable(piece.writer, registry)) {
            removed.push(at);
        }
    }
    if !removed.is_empty() {
        output.remove(&removed);
    }
}

fn is_escapable(writer: Writer, registry: &Registry) -> bool {
    match writer {
        Writer::Template | Writer::Variable { .. } => true,
        Writer::Macro { definition, .. } => registry.definition(definition as usize).echoes,
    }
}

fn places(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr_iter(b'\\', text).filter(|at| matches!(text.get(at + 1), Some(b'{' | b'}')))
}
