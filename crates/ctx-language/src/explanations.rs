//! English explanations of diagnostic codes. `cargo xtask diagnostics` builds `docs/diagnostics.md` from
//! them.

use std::sync::OnceLock;

/// Sorted by code.
const TEXTS: [&str; 14] = [
    include_str!("en/100_content.md"),
    include_str!("en/200_anchors.md"),
    include_str!("en/300_macros.md"),
    include_str!("en/400_tokens.md"),
    include_str!("en/450_pipeline.md"),
    include_str!("en/500_wire.md"),
    include_str!("en/600_import.md"),
    include_str!("en/700_engine.md"),
    include_str!("en/750_processors.md"),
    include_str!("en/800_compression.md"),
    include_str!("en/850_chat.md"),
    include_str!("en/900_command.md"),
    include_str!("en/950_worldbook.md"),
    include_str!("en/1000_studio.md"),
];

const BY_PROGRAMS: &str = "program";

const WITH_SERVER: &str = "server";

/// Explanation of a diagnostic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// Code, such as `CTX0200`.
    pub code: &'static str,
    /// Short title.
    pub title: &'static str,
    /// Cause, in Markdown.
    pub cause: &'static str,
    /// Example, not translated.
    pub example: &'static str,
    /// File name of the example, if it is a whole file.
    pub file: Option<&'static str>,
    /// How to reproduce the diagnostic.
    pub shown: Reproduction,
    /// Fix, in Markdown.
    pub way_out: &'static str,
}

/// Method to reproduce an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reproduction {
    /// A command line, or the example itself as a shell script.
    Command(&'static str),
    /// Reported only by programs that use the library.
    Library,
    /// Reported only by a server.
    Server,
}

/// Sorted by code; parsed on first use.
pub(crate) fn english() -> &'static [Explanation] {
    static ENGLISH: OnceLock<Vec<Explanation>> = OnceLock::new();
    ENGLISH.get_or_init(|| {
        let sections = TEXTS.iter().flat_map(|text| text.split("\n## ").skip(1));
        sections.filter_map(read).collect()
    })
}

/// A test detects missing parts.
fn read(section: &'static str) -> Option<Explanation> {
    let (heading, rest) = section.split_once("\n\n")?;
    let (code, title) = heading.split_once(": ")?;
    let (cause, rest) = rest.split_once("\n\n```")?;
    let (kind, rest) = rest.split_once('\n')?;
    let (example, rest) = rest.split_once("\n```\n\n")?;
    let (shown, way_out) = rest.split_once("Fix: ")?;
    let (kind, reporter) = kind.split_once(',').unwrap_or((kind, ""));
    let shown = match (reporter, shown.trim_end()) {
        (BY_PROGRAMS, "") => Reproduction::Library,
        (WITH_SERVER, "") => Reproduction::Server,
        // Prompts separate a script's commands from their input.
        ("", "") if kind == "console" && example.contains('\n') => Reproduction::Command(example),
        ("", "") if kind == "console" => Reproduction::Command(example.strip_prefix("$ ")?),
        ("", line) => Reproduction::Command(line.strip_prefix("Reported by `")?.strip_suffix("`.")?),
        _ => return None,
    };
    let file = kind.split_once(' ').map(|(_, file)| file);
    Some(Explanation { code, title, cause, example, file, shown, way_out: way_out.trim_end() })
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use crate::Language;

    use super::*;

    #[test]
    fn reads_every_explanation() {
        let written: usize = TEXTS.iter().map(|text| text.matches("\n## ").count()).sum();
        let codes: Vec<&str> = english().iter().map(|explanation| explanation.code).collect();
        assert_eq!(codes.len(), written);
        assert!(codes.is_sorted_by(|one, next| one < next), "{codes:?}");
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/en")).unwrap();
        assert_eq!(files.count(), TEXTS.len());
    }

    #[test]
    fn translates_each_code_to_chinese() {
        let chinese = Language::Zh.catalogue().unwrap();
        let codes = english().iter().map(|known| known.code);
        let missing: Vec<&str> =
            codes.filter(|code| chinese.code(code).is_none() || chinese.cause(code).is_none()).collect();
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn matches_chinese_causes_with_current_english() {
        let file = include_str!("zh/causes.txt");
        let marked = |known: &Explanation| {
            let digest = Sha256::digest(known.cause);
            let fingerprint = u32::from_be_bytes(std::array::from_fn(|at| digest[at]));
            format!("# {fingerprint:08x}\n{}\n", known.code)
        };
        let stale: Vec<String> =
            english().iter().map(marked).filter(|marked| !file.contains(marked.as_str())).collect();
        let way_out = "update the Chinese cause, and write above it";
        assert!(stale.is_empty(), "{way_out}:\n{}", stale.concat());
    }
}
