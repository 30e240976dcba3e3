//! Logs of requests, from line to report.
#![expect(clippy::unwrap_used, reason = "tests panic")]

mod causes;
mod losses;
mod transcripts;
