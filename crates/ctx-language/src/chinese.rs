use std::sync::OnceLock;

use crate::Catalogue;

/// Parsed on first use.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CHINESE: OnceLock<Catalogue> = OnceLock::new();
    CHINESE.get_or_init(|| Catalogue::read(&FILES))
}

const FILES: [&str; 6] = [
    include_str!("zh/library.txt"),
    include_str!("zh/errors.txt"),
    include_str!("zh/words.txt"),
    include_str!("zh/macros.txt"),
    include_str!("zh/codes.txt"),
    include_str!("zh/causes.txt"),
];
