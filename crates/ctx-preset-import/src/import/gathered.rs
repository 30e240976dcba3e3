//! What the files hold, sorted by what it is.

use ctx_types::{Agent, Diagnostic, RegexPreset, phrase};
use serde_json::Value;

use super::merge::{self, rows};
use super::sources::{Named, Source};
use super::take::{DocumentContext, Use};
use super::weight::Allowance;
use super::{Asset, AssetContent, Import, ImportOptions, SourceFile};
use crate::codes;
use crate::container;
use crate::document::ends_with;
use crate::error::ImportError;
use crate::format::{self, Format};
use crate::formats::risu;
use crate::formats::sillytavern::card::TakenCard;
use crate::formats::sillytavern::person::Persona;
use crate::formats::sillytavern::settings::Settings;
use crate::loose::Object;
use crate::report::{FieldReports, FileReport};

/// What the files hold.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) card: Option<SourceObject>,
    /// What was made of the card.
    pub(super) card_parts: Option<TakenCard>,
    pub(super) preset: Option<SourceObject>,
    pub(super) settings: Option<SourceObject>,
    /// What was made of the settings.
    pub(super) settings_parts: Option<Settings>,
    pub(super) system_prompt: Option<SourceObject>,
    pub(super) persona: Option<Persona>,
    pub(super) agent: Option<Agent>,
    /// The number of the report of the agent's file.
    pub(super) agent_report: usize,
    /// Regex rules of files that hold scripts, each list with a name and the number of its report.
    pub(super) scripts: Vec<(String, usize, RegexPreset)>,
    /// Templates and other files that are kept, by their names.
    pub(super) templates: Object,
    /// The chat-completion preset that the first preset of `RisuAI` comes nearest to.
    pub(super) risu_preset: Option<Object>,
    /// What is nothing known, by its names: it is kept where an agent is made of the other files.
    pub(super) unknown: Object,
    pub(super) made: Import,
    /// Whether there is one file alone.
    pub(super) is_alone: bool,
    /// Where what is kept of each file is, by the numbers of the reports.
    pub(super) kept_at: Vec<String>,
    /// The name of the card's own book.
    pub(super) card_book: Option<String>,
    /// The character whose prompt order is used.
    pub(super) prompt_order: Option<String>,
}

/// An object that a file held.
pub(super) struct SourceObject {
    /// The number of the file's report.
    pub(super) report: usize,
    /// Where it stands in the file.
    pub(super) at: &'static str,
    pub(super) value: Value,
}

impl SourceObject {
    /// Returns the object that a file is.
    pub(super) fn whole(report: usize, value: Value) -> Self {
        Self { report, at: "", value }
    }
}

/// The name of a picture that has none.
const PICTURE: &str = "avatar.png";

impl Gathered {
    /// Adds a file, or all documents that it holds.
    pub(super) fn add(&mut self, number: usize, file: SourceFile<'_>, options: &ImportOptions) {
        let mut left = Allowance::of(&options.limits);
        let named = |is_alone| options.format.map(|format| Named { format, is_alone });
        match container::unpack(file.bytes, &options.limits) {
            Ok(None) => {
                let read = Source::read(file, &left.limits(&options.limits), named(self.is_alone));
                self.add_document(file, (None, file), allowed(read, file.bytes.len(), &mut left), options);
            }
            Ok(Some(unpacked)) => {
                let before = self.made.report.files.len();
                let is_empty = unpacked.documents.is_empty();
                for document in unpacked.documents {
                    let name = if document.name.is_empty() { file.name } else { &document.name };
                    let inner = SourceFile { name, bytes: &document.bytes };
                    let read = match document.read {
                        Some(read) => Ok(Source::of(read, name, named(false))),
                        None => Source::read(inner, &left.limits(&options.limits), named(false)),
                    };
                    let read = allowed(read, inner.bytes.len(), &mut left);
                    self.add_document(file, (Some(&document.container), inner), read, options);
                }
                if is_empty {
                    let found =
                        Diagnostic::error(codes::UNKNOWN_FILE, phrase!("the archive has no importable file"));
                    let help = phrase!("import the files that the other application exports");
                    self.refuse(file, None, found.with_help(help));
                }
                // Files beside nothing that is read belong to nothing.
                let documents = self.made.report.files.iter().skip(before);
                if documents.into_iter().any(|document| document.format.is_some()) {
                    let packed = unpacked.files.into_iter();
                    let packed = packed.map(|file| (file.path, AssetContent::Packed(file.bytes)));
                    let picture = unpacked.is_picture.then(|| (String::new(), AssetContent::Source(number)));
                    let assets = packed.chain(picture).map(|(path, content)| Asset {
                        path: if path.is_empty() { PICTURE.to_owned() } else { path },
                        content,
                    });
                    self.made.assets.extend(assets);
                }
                self.tell(unpacked.diagnostics);
            }
            Err(error) => self.fail(file, None, &error),
        }
    }

    /// Adds a document of a file, with what it was packed in, if it could be read.
    fn add_document(
        &mut self,
        file: SourceFile<'_>,
        (container, document): (Option<&str>, SourceFile<'_>),
        read: Result<Source, ImportError>,
        options: &ImportOptions,
    ) {
        match read {
            Ok(mut source) => {
                file.name.clone_into(&mut source.path);
                source.container = container.map(str::to_owned);
                // A text without fields in a picture says nothing of who chats.
                source.format = source.format.filter(|format| {
                    *format != Format::PlainText || !container.is_some_and(|outer| outer.contains("png:"))
                });
                self.add_source(source, document, options);
            }
            Err(error) => self.fail(file, container, &error),
        }
    }

    /// Puts findings about a file to those of its last document.
    fn tell(&mut self, found: Vec<Diagnostic>) {
        if let Some(report) = self.made.report.files.last_mut() {
            let path = report.path.as_str();
            report.diagnostics.splice(..0, found.into_iter().map(|finding| finding.in_document(path)));
            report.diagnostics.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        }
    }

    /// Reports a file that cannot be read.
    fn fail(&mut self, file: SourceFile<'_>, container: Option<&str>, error: &ImportError) {
        let mut found = error.to_diagnostic();
        if ends_with(file.name, &risu::PACKED) {
            found = found.with_help(risu::packed_help());
        }
        self.refuse(file, container, found);
    }

    /// Reports a file of which nothing is made, and why.
    fn refuse(&mut self, file: SourceFile<'_>, container: Option<&str>, found: Diagnostic) {
        self.kept_at.push(String::new());
        self.made.report.files.push(FileReport {
            path: file.name.to_owned(),
            format: None,
            container: container.map(str::to_owned),
            fields: FieldReports::default(),
            diagnostics: vec![found.in_document(file.name)],
        });
    }

    fn add_source(&mut self, mut source: Source, file: SourceFile<'_>, options: &ImportOptions) {
        let key = self.key(source.format, source.stem());
        let kept_at = format!("/imported/{key}");
        let mut report = FileReport {
            path: source.path.clone(),
            format: source.format,
            container: source.container.take(),
            fields: FieldReports::default(),
            diagnostics: std::mem::take(&mut source.diagnostics),
        };
        let has_persona = source.format == Some(Format::Settings) && self.persona.is_some();
        let is_second =
            source.format.is_some_and(|format| merge::ONCE.contains(&format) && format.id() != key);
        let extent = source.extent;
        if let (Some(format), Some(what)) = (source.format, source.guessed_by) {
            let help = phrase!("if this is wrong, omit the file, or name its format with `--as`");
            report.diagnostics.push(format::guessed(format, what).with_help(help));
        }
        let taken = self.take(source, &DocumentContext { file, key: &key, options, extent });
        report.diagnostics.extend(taken.found);
        if let Some(rows) = taken.rows {
            report.fields = rows;
        }
        if has_persona {
            merge::supersede_persona(&mut report, &kept_at);
        }
        if is_second {
            rows::supersede(&mut report, &kept_at, "another file of this type is imported already", |_| true);
        }
        match taken.used {
            Use::Whole => {}
            Use::Superseded => rows::refuse(&mut report, "another file of this type is imported already"),
            Use::Unreadable => report.format = None,
        }
        report.diagnostics =
            report.diagnostics.into_iter().map(|finding| finding.in_document(report.path.as_str())).collect();
        report.diagnostics.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self.made.report.files.push(report);
        self.kept_at.push(kept_at);
    }

    /// Returns the name under which a document is kept beside what is made of it.
    fn key(&self, format: Option<Format>, name: &str) -> String {
        let wanted = match format {
            Some(format) if format.is_card() => return "card".to_owned(),
            Some(Format::ChatPreset) => return "preset".to_owned(),
            Some(Format::Settings) => return "settings".to_owned(),
            Some(format) => format.id(),
            None => name,
        };
        let is_taken = |name: &str| {
            ["card", "preset", "settings", "cardBook"].contains(&name)
                || self.templates.contains_key(name)
                || self.unknown.contains_key(name)
        };
        unused(wanted, is_taken)
    }
}

/// Takes what a document of so many bytes needs, if there is so much left to its file.
fn allowed(
    read: Result<Source, ImportError>,
    bytes: usize,
    left: &mut Allowance,
) -> Result<Source, ImportError> {
    let mut source = read?;
    source.extent = left.take(bytes, source.format, &source.value)?;
    Ok(source)
}

/// Returns a name, with a number behind it where others have it.
pub(super) fn unused(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{wanted} {number}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}
