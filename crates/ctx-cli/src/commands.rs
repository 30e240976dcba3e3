//! One module for each verb.

pub(crate) mod anchors;
pub(crate) mod assemble;
pub(crate) mod check;
pub(crate) mod init;
mod inputs;
