//! Formatters.

mod alternating;
mod case;
mod consecutive;
mod convert;
mod head;
mod injections;
mod property;
mod provenance;
