//! Quality report of a compression: facts kept, lost and invented, each with its place.
//!
//! [`QualityReport`] compares messages with a summary of them, or with the messages of a compressed request.
//! Facts are values that patterns find in English and Chinese texts: numbers, dates, names, identifiers, paths and
//! quotations. `docs/compression.md` lists the limitations.

mod compare;
mod dates;
mod fact;
mod key;
mod lost_words;
mod names;
mod node;
mod numbers;
mod passage;
mod phrases;
mod report;
mod scan;
mod side;
mod uses;
mod values;

pub use fact::{Fact, FactKind, Place};
pub use lost_words::LostWords;
pub(crate) use node::original_ids;
pub(crate) use passage::Form;
pub use report::{KindCounts, QualityReport};
pub(crate) use scan::scan as find_facts;
pub use uses::FactUses;
