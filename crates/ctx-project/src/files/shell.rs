//! Paths in command lines that the user copies.

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
    // A word that starts with `-` is an option.
    let name = if name.starts_with('-') { format!("./{name}") } else { name };
    shell_text(&name)
}

/// Writes a text as one word of a POSIX shell.
pub fn shell_text(text: &str) -> String {
    // `try_quote` fails only on NUL, which no argument contains.
    shlex::try_quote(text).map_or_else(|_| text.to_owned(), Into::into)
}
