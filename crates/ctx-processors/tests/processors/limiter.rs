//! The loader and the limiter.

mod case;
mod injections;
mod limits;
mod loader;
mod truncation;
mod windows;
