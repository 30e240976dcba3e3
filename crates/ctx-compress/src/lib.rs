//! Shortens conversations reversibly, and reports the facts that were lost.
//!
//! Performs no I/O and calls no model. A model writes summaries through a port.
//!
//! [`request`] fits the messages of one request into a budget without changing the conversation:
//!
//! ```
//! use ctx_compress::request::{CompressionPipeline, RequestConfig};
//! use ctx_types::{Message, Role, Source};
//!
//! let said = |n: usize, text: &str| Message::new(Role::User, text, Source::history(format!("n{n}"), Role::User));
//! let answer = |n: usize, text: &str| said(n, text).with(|message| message.role = Role::Assistant);
//! let messages = [
//!     said(1, "Hello! I would like a table at the Blue Note for 14 May, please."),
//!     answer(2, "Of course! I am very happy to help you with that. For how many people will it be?"),
//!     said(3, "We are six, and one of us must not eat nuts."),
//!     answer(4, "I have reserved a table for six at 19:30, and they know about the nuts. Is there anything else?"),
//!     said(5, "When is it?"),
//! ];
//! let fitted = CompressionPipeline::new(RequestConfig::to_fit(66)).compress_if_needed(&messages);
//! assert_eq!(fitted.messages[0].text(), "\
//! U: Hello! I would like a table at the Blue Note for 14 May, please.
//! U: six one of must not eat nuts.
//! A: reserved table for six at 19:30 know about nuts. anything else?");
//! assert_eq!(fitted.messages[1].text(), "When is it?");
//! ```
//!
//! [`mask`] adds summaries to the conversation tree. A summary hides older messages until it is disabled:
//!
//! ```
//! use ctx_compress::mask::{Extraction, MaskConfig, MaskPlan, MaskSelection, Summarizing};
//! use ctx_tokens::Counter;
//! use ctx_types::Role;
//! use ctx_types::session::{Node, Session, visible_path};
//!
//! let says = |n| Node::new(if n % 2 == 0 { Role::User } else { Role::Assistant }, "Where is the red umbrella?");
//! let (mut session, _) = Session::linear("s1", (0..30).map(says));
//! let counter = Counter::estimate();
//!
//! let plan = MaskPlan::new(&session, &MaskConfig::default(), &MaskSelection::Oldest, &counter)?;
//! let extract = |_: &Extraction<'_>| Some("They look for a red umbrella.".into());
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
pub mod quality;
pub mod recall;
pub mod request;
