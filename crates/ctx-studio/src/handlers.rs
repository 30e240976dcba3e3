//! What the routes do.

pub(crate) mod about;
pub(crate) mod context;
pub(crate) mod edit;
pub(crate) mod files;
pub(crate) mod imports;
pub(crate) mod requests;
pub(crate) mod talk;
