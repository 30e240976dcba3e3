//! One module for each verb, and what they share: reading the files that they take.

pub(crate) mod anchors;
pub(crate) mod assemble;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod compress;
pub(crate) mod count;
pub(crate) mod diff;
pub(crate) mod explain;
mod explain_code;
pub(crate) mod export;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod macros;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod processors;
pub(crate) mod recall;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod studio;
pub(crate) mod tap;
pub(crate) mod test;
pub(crate) mod trust;
pub(crate) mod worldbook;
