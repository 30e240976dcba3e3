//! The words that stand in a message for a file.

use ctx_pipeline::{Config, ConfigField};

/// The words around texts of files; `{name}` and `{number}` in them stand for the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forms {
    document: String,
    transcript: String,
    placeholder: String,
}

/// AIO Hub's own words, so that conversations read the same to a model.
const DOCUMENT: &str = "[文件: {name}]";
const TRANSCRIPT: &str = "[转写: {name}]";
const PLACEHOLDER: &str = "[附件: {number} - {name}]";

impl Default for Forms {
    fn default() -> Self {
        Self { document: DOCUMENT.into(), transcript: TRANSCRIPT.into(), placeholder: PLACEHOLDER.into() }
    }
}

impl Forms {
    pub(crate) fn fields() -> [ConfigField; 3] {
        let field = |key, label, default| {
            ConfigField::text(key, label, default)
                .with_description("`{name}` is the file's name, `{number}` which file of its message it is")
        };
        [
            field("documentHeading", "Above the text of a document", DOCUMENT),
            field("transcriptHeading", "Above a transcript", TRANSCRIPT),
            field("placeholder", "In place of a file that is not sent", PLACEHOLDER),
        ]
    }

    pub(crate) fn of_config(config: &Config) -> Self {
        let text = |key| config.text(key).to_owned();
        Self {
            document: text("documentHeading"),
            transcript: text("transcriptHeading"),
            placeholder: text("placeholder"),
        }
    }

    /// The text of a document; that of a text file is fenced, so that nothing in it reads as the message's own.
    pub(crate) fn document(&self, file: Shown<'_>, text: &str, fence: Option<&str>) -> String {
        let heading = file.fill(&self.document);
        match fence {
            Some(language) => format!("\n{heading}\n{}\n", fenced(text, language)),
            None => format!("\n{heading}\n{}\n", text.trim_end()),
        }
    }

    pub(crate) fn transcript(&self, file: Shown<'_>, text: &str) -> String {
        format!("\n{}\n{}\n", file.fill(&self.transcript), text.trim_end())
    }

    pub(crate) fn placeholder(&self, file: Shown<'_>) -> String {
        file.fill(&self.placeholder)
    }
}

/// A file, as words speak of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) name: &'a str,
    /// Which file of its message it is, from 1 on.
    pub(crate) number: usize,
}

impl Shown<'_> {
    /// Puts name and number into a form; a line break in a name becomes a blank, so that no name looks like text.
    fn fill(self, form: &str) -> String {
        let name = self.name.replace(|c: char| c.is_control(), " ");
        form.replace("{number}", &self.number.to_string()).replace("{name}", &name)
    }
}

/// Sets a text between two lines of backticks that are longer than any run of them in it.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.strip_suffix('\n').unwrap_or(text);
    format!("{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(fenced(text, "md"), expected);
    }

    #[test]
    fn a_fence_is_longer_than_any_run_of_backticks_inside() {
        check("a\n", "```md\na\n```");
        check("a ``` b", "````md\na ``` b\n````");
        check("``````", "```````md\n``````\n```````");
        check("", "```md\n\n```");
    }

    #[test]
    fn a_name_cannot_look_like_text() {
        let shown = Shown { name: "a\n[文件: b]{number}", number: 2 };
        assert_eq!(Forms::default().placeholder(shown), "[附件: 2 - a [文件: b]{number}]");
    }
}
