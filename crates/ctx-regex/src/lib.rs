//! JavaScript regular expressions, exactly and with limits.
//!
//! Layer L0: depends on no other crate of the workspace, does no I/O and keeps no state. Presets,
//! cards and lorebooks contain patterns written for JavaScript; this crate reads them by that grammar,
//! refuses what it cannot match with a typed [`Error`], and returns matches and replacements as
//! JavaScript does. Matching is linear in the text where the pattern allows that, and otherwise
//! backtracks, up to a number of [`Steps`].
//!
//! # Example
//!
//! ```
//! use ctx_regex::{Limits, Literal, Regex, Replacement};
//!
//! let literal = Literal::parse(r"/<think>[\s\S]*?<\/think>\s*/gi").unwrap();
//! let regex = Regex::new(literal.pattern, literal.flags, &Limits::default())?;
//! assert_eq!(regex.replace("<THINK>hm</THINK> Hello", &Replacement::parse(""))?, "Hello");
//! # Ok::<(), ctx_regex::Error>(())
//! ```
//!
//! # Where it differs from JavaScript
//!
//! Strings in classes (`\q{ab}`, `\p{RGI_Emoji}` with `v`) are refused. Differences in accepted patterns:
//!
//! - Text is characters, not UTF-16 units. Without `u`, `.` and negated classes match a whole astral
//!   character, an empty match is never inside one, and a literal astral character in the pattern
//!   may be quantified and may bound a range. Patterns that spell out surrogate halves work:
//!   `\uD83D\uDE00`, `[\uD800-\uDBFF][\uDC00-\uDFFF]`; a lone half matches nothing, and a class that
//!   contains both halves of a character matches it at once.
//! - Names of properties are compared loosely: `\p{lu}` is `\p{Lu}`.
//! - With `i` and `v`, operands of `&&` and `--` are folded first, as ECMA-262 specifies and Node.js 20
//!   does not. Syntax newer than that version (`(?i:…)`, equal names in alternatives) is refused.

#![warn(clippy::disallowed_methods)]

mod ast;
mod backtrack;
mod code_set;
mod cursor;
mod engine;
mod error;
mod expression;
mod flags;
mod fold;
mod limits;
mod linear;
mod literal;
mod matches;
mod parser;
mod property;
mod reach;
mod replacement;
mod required_literals;
mod steps;
mod surrogates;
mod unsatisfiable;

pub use crate::error::Error;
pub use crate::expression::Regex;
pub use crate::flags::Flags;
pub use crate::limits::Limits;
pub use crate::literal::{Literal, escape};
pub use crate::matches::{Match, Matches};
pub use crate::reach::Reach;
pub use crate::replacement::{Replacement, ReplacementPart};
pub use crate::steps::Steps;
