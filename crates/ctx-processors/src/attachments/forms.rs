use ctx_compress::mask::Language;
use ctx_pipeline::{ConfigField, SettingsReader};

/// `{name}` and `{number}` are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forms {
    document: String,
    transcript: String,
    placeholder: String,
}

const fn built_in(language: Language) -> [&'static str; 3] {
    match language {
        Language::English => ["[file: {name}]", "[transcript: {name}]", "[attachment: {number} - {name}]"],
        // AIO Hub's texts.
        Language::Chinese => ["[文件: {name}]", "[转写: {name}]", "[附件: {number} - {name}]"],
    }
}

impl Forms {
    /// Empty settings use the default in the agent's language.
    pub(crate) fn read(settings: &mut SettingsReader<'_>, language: Language) -> Self {
        let [document, transcript, placeholder] = built_in(language);
        let mut text = |key: &str, label: &str, built_in: &str| {
            let own: String = settings.read(ConfigField::text(key, label, "").with_description(
                "`{name}` is the file name, `{number}` its position in the message; empty: text in the agent's language",
            ));
            if own.is_empty() { built_in.to_owned() } else { own }
        };
        Self {
            document: text("documentHeading", "Document header", document),
            transcript: text("transcriptHeading", "Transcript header", transcript),
            placeholder: text("placeholder", "Placeholder for files", placeholder),
        }
    }

    /// Fences plain text. The model cannot mistake it for the message's own text.
    pub(crate) fn document(&self, file: FileLabel<'_>, text: &str, fence: Option<&str>) -> String {
        let heading = file.fill(&self.document);
        match fence {
            Some(language) => format!("\n{heading}\n{}\n", fenced(text, language)),
            None => format!("\n{heading}\n{}\n", text.trim_end()),
        }
    }

    pub(crate) fn transcript(&self, file: FileLabel<'_>, text: &str) -> String {
        format!("\n{}\n{}\n", file.fill(&self.transcript), text.trim_end())
    }

    pub(crate) fn placeholder(&self, file: FileLabel<'_>) -> String {
        file.fill(&self.placeholder)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FileLabel<'a> {
    pub(crate) name: &'a str,
    /// Position in the message, from 1.
    pub(crate) number: usize,
}

impl FileLabel<'_> {
    /// Replaces control characters in the name. A name cannot imitate a heading.
    fn fill(self, form: &str) -> String {
        let name = self.name.replace(|c: char| c.is_control(), " ");
        form.replace("{number}", &self.number.to_string()).replace("{name}", &name)
    }
}

/// The fence is longer than any run of backticks in the text.
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
    fn writes_fence_longer_than_inner_backticks() {
        check("a\n", "```md\na\n```");
        check("a ``` b", "````md\na ``` b\n````");
        check("``````", "```````md\n``````\n```````");
        check("", "```md\n\n```");
    }

    #[test]
    fn writes_name_on_one_line_unexpanded() {
        let forms = Forms::read(&mut SettingsReader::default(), Language::English);
        let shown = FileLabel { name: "a\n[file: b]{number}", number: 2 };
        assert_eq!(forms.placeholder(shown), "[attachment: 2 - a [file: b]{number}]");
    }
}
