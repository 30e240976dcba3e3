//! What each code of a finding means: its cause, an example, and a way out.
//!
//! The texts are Markdown, so that `cargo xtask diagnostics` makes `docs/diagnostics.md` of the same ones.

use ctx_types::{Argument, Divider, Phrase, phrase};

use serde_json::{Value, json};

/// The texts in the order of their codes, a file for each range.
const TEXTS: [&str; 14] = [
    include_str!("explanations/100_content.md"),
    include_str!("explanations/200_anchors.md"),
    include_str!("explanations/300_macros.md"),
    include_str!("explanations/400_tokens.md"),
    include_str!("explanations/450_pipeline.md"),
    include_str!("explanations/500_wire.md"),
    include_str!("explanations/600_import.md"),
    include_str!("explanations/700_engine.md"),
    include_str!("explanations/750_processors.md"),
    include_str!("explanations/800_compression.md"),
    include_str!("explanations/850_chat.md"),
    include_str!("explanations/900_command.md"),
    include_str!("explanations/950_worldbook.md"),
    include_str!("explanations/1000_studio.md"),
];

/// What stands below an example that no command shows.
const BY_PROGRAMS: &str = "No command shows it: it takes a program that uses the library.";

/// What stands below an example that takes a server.
const WITH_SERVER: &str = "No command shows it alone: it takes a server.";

/// What is said about one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// Such as `CTX0200`.
    pub(crate) code: &'static str,
    pub(crate) title: &'static str,
    pub(crate) cause: &'static str,
    /// Something small that is reported so.
    pub(crate) example: &'static str,
    /// The name of the example, if it is a whole file.
    pub(crate) file: Option<&'static str>,
    pub(crate) shown: Shown,
    pub(crate) way_out: &'static str,
}

/// What it takes to see the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A command line, or a script of the shell, which then is the example.
    By(&'static str),
    /// Only programs that use the library meet it.
    ByPrograms,
    /// It takes a server that a command speaks to.
    WithServer,
}

/// Returns what is said about a code: `CTX0200`, `ctx0200` or `200`; else which codes are near, by their titles.
pub(crate) fn find(
    asked: &str,
    titled: impl Fn(&Explanation) -> &'static str,
) -> Result<Explanation, Phrase> {
    let digits = match asked.split_at_checked(3) {
        Some((letters, digits)) if letters.eq_ignore_ascii_case("ctx") => digits,
        _ => asked,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| digits.parse::<u16>().ok()).flatten();
    let number =
        number.ok_or_else(|| phrase!("`{asked}` is not a code; write one such as `CTX0200`", asked))?;
    let code = format!("CTX{number:04}");
    all().find(|explanation| explanation.code == code).ok_or_else(|| nothing(&code, titled))
}

/// Reports that there is no such code, and which ones are nearest to it.
fn nothing(code: &str, titled: impl Fn(&Explanation) -> &'static str) -> Phrase {
    let below = all().filter(|known| known.code < code).last();
    let above = all().find(|known| known.code > code);
    let near = below.into_iter().chain(above).map(|known| format!("`{}` ({})", known.code, titled(&known)));
    phrase!(
        "there is no code `{code}`; the nearest are {near}",
        code,
        near = Argument::list(near, Divider::And)
    )
}

/// Returns what is said about each code, in the order of the codes.
pub(crate) fn all() -> impl Iterator<Item = Explanation> {
    TEXTS.iter().flat_map(|text| text.split("\n## ").skip(1)).filter_map(read)
}

/// Reads what stands below one heading; none if a part of it is missing, which a test finds out.
fn read(section: &'static str) -> Option<Explanation> {
    let (heading, rest) = section.split_once("\n\n")?;
    let (code, title) = heading.split_once(": ")?;
    let (cause, rest) = rest.split_once("\n\n```")?;
    let (kind, rest) = rest.split_once('\n')?;
    let (example, rest) = rest.split_once("\n```\n\n")?;
    let (shown, way_out) = rest.split_once("Way out: ")?;
    let shown = match shown.trim_end() {
        // A script keeps its prompts, which divide it from what it reads.
        "" if kind == "console" && example.contains('\n') => Shown::By(example),
        "" if kind == "console" => Shown::By(example.strip_prefix("$ ")?),
        BY_PROGRAMS => Shown::ByPrograms,
        WITH_SERVER => Shown::WithServer,
        line => Shown::By(line.strip_prefix("Shown by `")?.strip_suffix("`.")?),
    };
    let file = kind.split_once(' ').map(|(_, file)| file);
    Some(Explanation { code, title, cause, example, file, shown, way_out: way_out.trim_end() })
}

impl Explanation {
    /// Writes all of it as JSON.
    pub(crate) fn to_json(self) -> Value {
        let (shown_by, needs) = match self.shown {
            Shown::By(command) => (Some(command), None),
            Shown::ByPrograms => (None, Some("program")),
            Shown::WithServer => (None, Some("server")),
        };
        json!({
            "code": self.code,
            "title": self.title,
            "cause": self.cause,
            "example": self.example,
            "file": self.file,
            "shownBy": shown_by,
            "needs": needs,
            "wayOut": self.way_out,
        })
    }
}
