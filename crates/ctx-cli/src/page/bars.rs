//! Bars of tokens, coloured by what wrote them.

use ctx_engine::Context;
use ctx_engine::internal::MessageSegment;
use ctx_language::Language;
use ctx_types::{Phrase, SourceKind, phrase};
use serde::Serialize;

use crate::lang;
use crate::page::kinds;
use crate::show;

/// How wide a whole bar is, in the units of its drawing.
const WIDTH: u64 = 1_000;

/// A bar, from left to right.
#[derive(Debug, Serialize)]
pub(super) struct Bar {
    /// What it says, for those who do not see it.
    label: String,
    parts: Vec<Part>,
}

/// A part of a bar that one kind of source wrote.
#[derive(Debug, Serialize)]
struct Part {
    kind: &'static str,
    /// Where it begins, and how wide it is, in thousandths of the bar.
    at: u64,
    width: u64,
    title: String,
}

/// Draws what all messages use, of so many tokens.
pub(super) fn of_context(language: Language, context: &Context, of: u64) -> Bar {
    bar(language, &kinds::totals(context), of)
}

/// Draws what the pieces of a message use; the longest bar is that of the message with most tokens.
pub(super) fn of_pieces(language: Language, pieces: &[MessageSegment], of: u64) -> Bar {
    let pieces = pieces.iter().map(|piece| (piece.segment.source.kind, piece.tokens));
    bar(language, &kinds::sum(pieces), of)
}

fn bar(language: Language, totals: &[(SourceKind, u64)], of: u64) -> Bar {
    let of = of.max(1);
    let mut before = 0;
    let scaled =
        |tokens: u64| u64::try_from(u128::from(tokens) * u128::from(WIDTH) / u128::from(of)).unwrap_or(WIDTH);
    let part = |(kind, tokens): &(SourceKind, u64)| {
        let at = scaled(before);
        before += tokens;
        let name = Phrase::from(kind.as_str());
        let title = phrase!("{name}: {tokens}", name, tokens = show::tokens(*tokens));
        let title = lang::say(language, &title);
        Part { kind: kind.as_str(), at, width: scaled(before) - at, title }
    };
    let parts: Vec<Part> = totals.iter().filter(|(_, tokens)| *tokens > 0).map(part).collect();
    let titles: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
    Bar { label: language.list(&titles), parts }
}
