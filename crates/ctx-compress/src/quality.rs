//! How well a compression kept what was said: facts kept, lost and made up, each with where it stood.
//!
//! [`QualityReport`] compares messages with a summary of them, or with the messages that a request compression made.
//! Facts are found by general rules of writing, in English and Chinese, in one walk over each text: `lex.rs` makes
//! tokens, `moments.rs`, `amounts.rs`, `names.rs`, `chinese_names.rs` and `quotes.rs` find values, `clauses.rs` finds
//! what sentences deny, demand and ask. `side.rs` gathers them, `compare.rs` looks each up on the other side. No
//! model is asked, and what needs an understanding of the world is not seen: see `docs/compression.md`.

mod amounts;
mod chinese_names;
mod chunks;
mod clauses;
mod compare;
mod fact;
mod gather;
mod key;
mod lex;
mod lexicon;
mod lookup;
mod moments;
mod names;
mod node;
mod numerals;
mod passages;
mod phrases;
mod quotes;
mod report;
mod rescue;
mod rules;
mod sentences;
mod shapes;
mod side;
mod signs;
mod stems;
mod units;

pub use fact::{Fact, FactKind, Place};
pub use report::{KindCounts, QualityReport};
pub use rescue::LostWords;
