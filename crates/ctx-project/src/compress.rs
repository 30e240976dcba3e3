//! Conversations in files, made shorter: fitted into a number of tokens, or masked by summaries.
//!
//! ```
//! use ctx_project::compress::{self, MaskChoice, MaskOutcome, Masking, SummaryWriter};
//! use ctx_project::counting::TokenCounting;
//! use ctx_project::options::{SummarizerChoice, SummarizerOptions, SummaryOptions};
//! use ctx_project::session_file::Target;
//! use ctx_project::{Config, ConfigOptions, CountingOptions, Sources};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("chat.json");
//! # let role = |n| if n % 2 == 0 { "assistant" } else { "user" };
//! # let line = |n| format!(r#"{{"role": "{}", "content": "Ada arrives in room {n} today."}}"#, role(n));
//! # std::fs::write(&path, format!("[{}]", (1..30).map(line).collect::<Vec<_>>().join(",")))?;
//! let mut sources = Sources::default();
//! let config = Config::read(&ConfigOptions { is_ignored: true, ask: None }, &mut sources)?;
//! let masking = Masking {
//!     choice: MaskChoice::All,
//!     settings: compress::settings(&SummaryOptions::default(), None, &config, &mut sources)?,
//!     counting: TokenCounting::of(&CountingOptions::default(), &config, &mut sources, &mut Vec::new())?,
//!     target: Target::Nowhere,
//!     at_millis: 0,
//! };
//! let by = SummarizerOptions::new(SummarizerChoice::Extractive);
//! let writer = SummaryWriter::of(&by, &masking.settings.config, &config)?;
//! let masked = pollster::block_on(masking.mask(&path, &writer, &mut sources))?;
//! let MaskOutcome::Summarized(summary) = masked.outcome else { return Err("nothing to do".into()) };
//! assert!(summary.notice.saved_tokens() > 0 && !summary.is_written);
//! # Ok(())
//! # }
//! ```

mod budget;
mod conversations;
mod fit;
mod masking;
mod program;
mod settings;
mod summaries;
mod writer;

pub use budget::{BudgetPlanning, ModelBudget};
pub use conversations::Conversations;
pub use ctx_operations::{message_to_json, sent_messages as messages};
pub use fit::{protection, strategy};
pub use masking::{MaskChoice, MaskOutcome, MaskPlanned, Masked, Masking, NewSummary, NothingToMask};
pub(crate) use program::SummaryProgram;
pub use settings::{settings, settings_of};
pub use summaries::{SummaryFile, SummaryPart, SummaryStep, find as find_summary};
pub use writer::{Progress, SummaryWriter};
