//! The loader and the limiter: what is read of a conversation, and what of it fits.

mod case;
mod injections;
mod limits;
mod loader;
mod shortening;
mod windows;
