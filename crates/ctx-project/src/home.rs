//! Where the user's own files are: in `CTX_HOME`, else where applications keep theirs.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// Returns the folder of what the command keeps by itself: conversations, and which folders are trusted.
pub fn data() -> Option<PathBuf> {
    named().or_else(|| Some(etcetera::choose_base_strategy().ok()?.data_dir().join("ctx")))
}

/// Returns the folder of the user's own `ctx.toml`.
pub fn configuration() -> Option<PathBuf> {
    named().or_else(|| Some(etcetera::choose_base_strategy().ok()?.config_dir().join("ctx")))
}

/// Returns the user's home folder.
pub fn folder() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

fn named() -> Option<PathBuf> {
    std::env::var_os("CTX_HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}
