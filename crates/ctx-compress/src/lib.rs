//! Compression of conversations that can be undone, explained and measured.
//!
//! Layer 2, pure: it knows no pipeline, no LLM client, no clock and no store.
//!
//! ```
//! use ctx_compress::mask::{MaskConfig, MaskPlan, MaskSelection, Summarizing};
//! use ctx_tokens::Counter;
//! use ctx_types::{Node, Role, Session, visible_path};
//!
//! let says = |n| Node::new(if n % 2 == 0 { Role::User } else { Role::Assistant }, "Where is the red umbrella?");
//! let (mut session, _) = Session::linear("s1", (0..30).map(says));
//! let counter = Counter::estimate();
//!
//! let plan = MaskPlan::new(&session, &MaskConfig::default(), &MaskSelection::Oldest, &counter)?;
//! let extract = |_: &[_], _| Some("They look for a red umbrella.".into());
//! let with = Summarizing { summarizer: None, deadline: None, counter: &counter, extract: Some(&extract) };
//! let draft = pollster::block_on(plan.summarize(&with))?;
//! let commit = draft.commit(&session, 1_733_712_000_000)?;
//! let undo = session.apply(&commit.op)?;
//!
//! assert_eq!(commit.notice.to_string(), "compressed 20 messages, saved 189 tokens");
//! assert_eq!(visible_path(&session).len(), 11);
//! session.apply(&undo)?;
//! assert_eq!(visible_path(&session).len(), 30);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(clippy::disallowed_methods)]

pub mod codes;
pub mod mask;
