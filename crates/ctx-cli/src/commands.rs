//! One module for each verb, and what they share: reading the files that they take.

pub(crate) mod anchors;
pub(crate) mod assemble;
mod books;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod compress;
pub(crate) mod count;
pub(crate) mod counting;
pub(crate) mod diff;
pub(crate) mod endpoint;
pub(crate) mod explain;
pub(crate) mod export;
mod folder;
pub(crate) mod import;
pub(crate) mod init;
mod inputs;
pub(crate) mod macros;
pub(crate) mod migrate;
mod origin;
pub(crate) mod processors;
pub(crate) mod session;
pub(crate) mod session_file;
mod store;
pub(crate) mod test;
pub(crate) mod turn;
pub(crate) mod worldbook;
