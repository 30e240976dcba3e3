//! The conformance suite: cases of `fixtures/` that need nothing but data, packed for other implementations.
//!
//! [`pack`] runs every case and writes its files, its options and what must come out into one archive, the same
//! bytes each time; [`unpack`] reads one. [`outcome`] is what our own engine makes of the folder of a case, and
//! [`compare`] what two outcomes differ in. `format/FORMAT.md`, which is part of the archive, describes all of it.

mod attached;
#[expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a case that cannot be read is a mistake in `fixtures/`, and nothing goes on"
)]
mod case_files;
#[expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a case that cannot be read is a mistake in `fixtures/`, and nothing goes on"
)]
mod cases;
mod change;
mod compare;
mod data;
mod needs;
mod outcome;
mod pack;

pub use compare::{Comparison, NO_NEED, Tally, compare, differences};
pub use data::examples;
pub use needs::NEEDS;
pub use outcome::outcome;
pub use pack::{Files, pack, unpack};

/// The version of the suite: it is raised whenever the form of the archive changes, or what a case expects.
pub const VERSION: u64 = 2;
