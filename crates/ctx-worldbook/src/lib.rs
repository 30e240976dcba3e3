//! Activates worldbook (lorebook) entries, and reports why each entry did or did not activate.
//!
//! Start with [`Book::read`] and [`BookSet::compile`], then call [`BookSet::scan`] for each turn. The caller provides
//! random values, macros, and token counts, and stores the timed effects.
//!
//! ```
//! use ctx_types::{Persist, Reader};
//! use ctx_types::worldbook::Worldbook;
//! use ctx_worldbook::{Book, BookSet, Level, Limits, NoMacros, Ports, ScanInput, ScanMessage, SeededDraws, Settings};
//!
//! let file = serde_json::json!({ "entries": [
//!     { "uid": 1, "key": ["moon"], "content": "The moon is hollow.", "comment": "Moon" },
//!     { "uid": 2, "key": ["sun"], "content": "The sun is cold." },
//! ] });
//! let book = Worldbook::read(file, &mut Reader::new());
//! let (book, _) = Book::read("Sky", Level::Global, &book);
//! let (set, _) = BookSet::compile([book], Settings::default(), Limits::default());
//!
//! let messages = [ScanMessage::new("Mia", "Look at the moon!")];
//! let input = ScanInput { messages: &messages, ..ScanInput::default() };
//! let scan = set.scan(&input, Ports { draws: &mut SeededDraws::new(0), expand: &mut NoMacros, counter: None });
//! let [active] = &*scan.activations else { panic!("one entry is active") };
//! assert_eq!(active.content, "The moon is hollow.");
//! assert_eq!(set.describe(active, &messages), "key `moon` in message 0");
//! assert_eq!(scan.statuses[1].to_string(), "no key matches");
//! ```
#![warn(clippy::disallowed_methods)]

mod automaton;
mod book;
mod budget;
#[doc(hidden)]
mod check;
pub mod codes;
#[doc(hidden)]
mod decorators;
mod draws;
#[doc(hidden)]
mod entry;
mod fingerprint;
mod hits;
mod input;
mod invalid_values;
mod keys;
mod letters;
mod limits;
mod locate;
#[doc(hidden)]
mod output;
#[doc(hidden)]
mod reason;
mod run;
mod scan;
mod sequence;
mod set;
mod settings;
mod source;
mod texts;
mod timed;

pub use book::{Book, Level};
pub use draws::{Draws, SeededDraws};
pub use input::{EntryPart, Expand, ExpandedText, NoMacros, Ports, ScanInput, ScanMessage, ScanSources};
pub use limits::Limits;
pub use scan::{Activation, Scan, Status};
pub use set::{BookSet, Member};
pub use settings::{CharacterStrategy, Settings};
pub use source::Source;
pub use timed::TimedState;

// Not part of the API: may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::check::{CheckOptions, check};
    pub use crate::decorators::Condition;
    pub use crate::draws::ListedDraws;
    pub use crate::entry::{CharacterFilter, Destination, Entry, Timing};
    pub use crate::output::{DepthTexts, Output, UnplacedReason};
    pub use crate::reason::{Cause, GaveUp, GroupLoss, KeyHit, KeyPlace, Reason};
    pub use crate::scan::PassKind;
    pub use crate::source::SourceSet;
    pub use crate::timed::Effect;
}
