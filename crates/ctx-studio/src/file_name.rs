//! Names of files that a user chooses on the page.

use std::path::Path;

use ctx_project::case::is_case;
use ctx_types::internal::excerpt;
use ctx_types::phrase;

use crate::call::Refusal;

/// Maximum number of characters of a name, including the extension.
const MAX_NAME: usize = 100;

/// Maximum number of bytes of a name. File systems allow 255.
const MAX_BYTES: usize = 240;

/// Path separators, characters that Windows does not allow, and invisible characters for the direction of text.
const FORBIDDEN: &str = "/\\:*?\"<>|\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\
    \u{2067}\u{2068}\u{2069}\u{feff}";

/// Returns the name of a file with this extension. The user may omit the extension.
pub(crate) fn file_name(name: &str, extension: &str) -> Result<String, Refusal> {
    let end = format!(".{extension}");
    let stem = match name.trim().rsplit_once('.') {
        Some((stem, own)) if own.eq_ignore_ascii_case(extension) => stem,
        _ => name.trim(),
    };
    let full = format!("{stem}{end}");
    let is_allowed = is_portable(stem)
        && full.chars().count() <= MAX_NAME
        && full.len() <= MAX_BYTES
        && !is_case(Path::new(&full));
    if is_allowed {
        return Ok(full);
    }
    let help = phrase!(
        "use at most {limit} characters and {bytes} bytes, without `/`, `:` or similar; `con`, `nul` and `case` are reserved",
        limit = MAX_NAME,
        bytes = MAX_BYTES
    );
    Err(Refusal::malformed(phrase!("invalid file name `{name}`", name = excerpt(name))).with_help(help))
}

/// Returns whether a name, without an extension, is allowed on every system.
pub(crate) fn is_portable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['.', ' '])
        && !name.ends_with(['.', ' '])
        && !name.contains(is_forbidden)
        && !is_device(name)
}

/// Returns whether a name cannot contain a character.
pub(crate) fn is_forbidden(character: char) -> bool {
    character.is_control() || FORBIDDEN.contains(character)
}

/// Returns whether Windows opens a device instead of a file with this name.
fn is_device(stem: &str) -> bool {
    let name = stem.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let number = name.strip_prefix("com").or_else(|| name.strip_prefix("lpt"));
    let is_port = number.is_some_and(|number| {
        number.chars().count() == 1 && number.contains(|digit: char| "123456789¹²³".contains(digit))
    });
    is_port || ["con", "prn", "aux", "nul"].contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_extension_and_rejects_paths_and_reserved_names() {
        for (name, expected) in [
            ("Robin", "Robin.yaml"),
            (" Robin.YAML ", "Robin.yaml"),
            ("v1.2", "v1.2.yaml"),
            ("罗宾【主】", "罗宾【主】.yaml"),
            ("console", "console.yaml"),
            ("com10", "com10.yaml"),
            ("cases", "cases.yaml"),
        ] {
            assert_eq!(file_name(name, "yaml").ok().as_deref(), Some(expected), "{name}");
        }
        let wide = "字".repeat(78);
        assert_eq!(file_name(&wide, "yaml").ok(), Some(format!("{wide}.yaml")));
        let (long, wider) = ("x".repeat(MAX_NAME), format!("{wide}字"));
        for name in [
            "",
            " ",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "/etc/passwd",
            "C:x",
            "x::$DATA",
            ".hidden",
            "x.",
            ".yaml",
            "a\u{0}b",
            "a\nb",
            "a\u{202e}b",
            "con",
            "CON.txt",
            "nul .x",
            "COM1",
            "lpt²",
            "case",
            "case.yaml",
            "*",
            "a?",
            long.as_str(),
            wider.as_str(),
        ] {
            assert!(file_name(name, "yaml").is_err(), "{name}");
        }
    }
}
