//! Recall: finds messages that a request does not contain and that a question is about.
//!
//! A [`RecallIndex`] contains the words of a conversation's messages by record: a short text is one record, a longer
//! one is split, and a tool result has a record per list entry. It grows message by message and needs no model. A
//! search scores records by BM25 and adds a share of each score to the neighbors. The best records that the request
//! does not contain become lines of one message:
//!
//! ```
//! use ctx_compress::recall::{RecallAnswer, RecallIndex, RecallRequest};
//! use ctx_compress::request::Meter;
//! use ctx_types::{Message, Role, Source};
//!
//! let said = |n: usize, text: &str| Message::new(Role::User, text, Source::history(format!("n{n}"), Role::User));
//! let messages = [
//!     said(1, "My daughter must not eat nuts."),
//!     said(2, "We arrive on 14 May by train."),
//!     said(3, "Is there a garden?"),
//! ];
//! let mut index = RecallIndex::default();
//! messages.iter().for_each(|message| index.add(message));
//! let query = [("May she eat a cake with nuts?", 100)];
//! let answer = RecallAnswer::of(&RecallRequest {
//!     found: &index.search(&query),
//!     index: &index,
//!     message: &|at| messages.get(at).cloned(),
//!     is_held: &|at, _| at == 2,
//!     is_noted: &|_, _, _| false,
//!     others: 0,
//!     room: 40,
//!     role: Role::System,
//!     meter: &Meter::estimate(),
//! });
//! let recalled = answer.recalled().ok_or("nothing is found")?;
//! assert_eq!(recalled.message.text(), "Recalled:\n#1 U: daughter must not eat nuts.\n#2 U: arrive on 14 May by train.");
//! assert_eq!(recalled.pieces[0].words, ["eat", "nuts"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod asked;
mod fusion;
mod index;
mod lines;
mod noted;
mod postings;
mod query;
mod reasons;
mod records;
mod search;
mod session_index;
mod terms;
#[cfg(test)]
mod tests;

pub use answer::{RecallAnswer, RecallQuery};
pub use asked::AskedCompression;
pub use fusion::{joined, nearest};
pub use index::RecallIndex;
pub use lines::{RecallRequest, Recalled, RecalledPiece};
pub use noted::Noted;
pub use search::{Hit, SearchResult};
pub use session_index::{SessionIndex, off_path, recallable};
