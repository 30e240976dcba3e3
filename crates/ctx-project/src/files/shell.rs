//! Paths in command lines that a person copies.

use std::path::Path;

use super::name;

/// Writes a path as one word of a POSIX shell, for hints such as "next: `ctx check 'my folder'`".
///
/// ```
/// use ctx_project::files::shell_word;
///
/// assert_eq!(shell_word("cards/ada.yaml".as_ref()), "cards/ada.yaml");
/// assert_eq!(shell_word("my cards; rm".as_ref()), "'my cards; rm'");
/// assert_eq!(shell_word("-x".as_ref()), "./-x");
/// ```
pub fn shell_word(path: &Path) -> String {
    let name = name(path);
    // A word that begins so is an option.
    let name = if name.starts_with('-') { format!("./{name}") } else { name };
    // NUL, which cannot be quoted, is in no path.
    shlex::try_quote(&name).map_or_else(|_| name.clone(), Into::into)
}
