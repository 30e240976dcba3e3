//! The loader and the limiter: what is read of a conversation, and what of it fits.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "tests read better so"
)]

mod case;
mod injections;
mod limits;
mod loader;
mod shortening;
mod windows;
