//! The documents of files, with their formats and limits.

use ctx_types::{Diagnostic, phrase};
use serde_json::Value;

use super::{Asset, AssetContent, Importer, SourceFile};
use crate::codes;
use crate::container;
use crate::document::{BadLine, Document, Syntax, ends_with};
use crate::error::ImportError;
use crate::format::{Detected, Format, detected_in, guessed, stem};
use crate::formats::risu;
use crate::limits::Limits;
use crate::report::FileReport;

pub(super) struct SourceDocument {
    /// The number of its report.
    pub(super) report: usize,
    /// Its own file name.
    pub(super) name: String,
    pub(super) format: Option<Format>,
    /// The nearest formats of a document without a known format.
    pub(super) nearest: Vec<Format>,
    pub(super) value: Value,
    pub(super) syntax: Syntax,
    pub(super) bad_lines: Vec<BadLine>,
    /// The bytes of a plain text.
    pub(super) text: Vec<u8>,
}

impl SourceDocument {
    /// Returns the name without folders and ending.
    pub(super) fn stem(&self) -> &str {
        stem(&self.name)
    }
}

/// The documents of all files, with a report for each document.
#[derive(Default)]
pub(super) struct Documents {
    pub(super) read: Vec<SourceDocument>,
    pub(super) reports: Vec<FileReport>,
    pub(super) assets: Vec<Asset>,
}

impl Documents {
    pub(super) fn read(files: &[SourceFile<'_>], importer: &Importer) -> Self {
        let mut documents = Self::default();
        for (number, file) in files.iter().enumerate() {
            documents.add_file(number, *file, files.len() == 1, importer);
        }
        documents
    }

    fn add_file(&mut self, number: usize, file: SourceFile<'_>, is_alone: bool, importer: &Importer) {
        let limits = &importer.limits;
        let mut left = Allowance { bytes: limits.json_bytes, used: 0 };
        let unpacked = match container::unpack(file.bytes, limits) {
            Ok(Some(unpacked)) => unpacked,
            Ok(None) => {
                let document = Document::read_with_limits(file.bytes, file.name, limits);
                let inner = Inner { outer: file, file, container: None, is_alone };
                return self.add_document(inner, document, importer, &mut left);
            }
            Err(error) => return self.fail(file, None, &error),
        };
        let before = self.reports.len();
        if unpacked.documents.is_empty() {
            let found = Diagnostic::error(codes::UNKNOWN_FILE, phrase!("the archive has no importable file"));
            let help = phrase!("import the files that the other application exports");
            self.refuse(file, None, found.with_help(help));
        }
        for document in unpacked.documents {
            let name = if document.name.is_empty() { file.name } else { &document.name };
            let inner = Inner {
                outer: file,
                file: SourceFile { name, bytes: &document.bytes },
                container: Some(document.container.as_str()),
                is_alone: false,
            };
            let read = match document.read {
                Some(read) => Ok(read),
                None => Document::read_with_limits(
                    &document.bytes,
                    name,
                    &Limits { json_bytes: left.bytes, ..*limits },
                ),
            };
            self.add_document(inner, read, importer, &mut left);
        }
        // Other files belong to a document.
        if self.reports.iter().skip(before).any(|document| document.format.is_some()) {
            let packed = unpacked.files.into_iter();
            let packed = packed.map(|file| (file.path, AssetContent::Packed(file.bytes)));
            let picture = unpacked.is_picture.then(|| (String::new(), AssetContent::Source(number)));
            self.assets.extend(packed.chain(picture).map(|(path, content)| Asset {
                path: if path.is_empty() { "avatar.png".to_owned() } else { path },
                content,
            }));
        }
        if let Some(report) = self.reports.last_mut() {
            let path = report.path.as_str();
            report
                .diagnostics
                .splice(..0, unpacked.diagnostics.into_iter().map(|found| found.in_document(path)));
        }
    }

    fn add_document(
        &mut self,
        inner: Inner<'_>,
        read: Result<Document, ImportError>,
        importer: &Importer,
        left: &mut Allowance,
    ) {
        let document = match read {
            Ok(document) => document,
            Err(error) => return self.fail(inner.outer, inner.container, &error),
        };
        let name = inner.file.name;
        let (mut format, guess, nearest) = match (detected_in(&document, name), importer.format) {
            (_, Some(format)) if inner.is_alone => (Some(format), None, Vec::new()),
            (Detected::Certain(format), _) | (_, Some(format)) => (Some(format), None, Vec::new()),
            (Detected::Guess(format, what), None) => (Some(format), Some(guessed(format, what)), Vec::new()),
            (Detected::Unknown(nearest), None) => (None, None, nearest),
        };
        if let Err(error) = left.take(inner.file.bytes.len(), format, &document.value) {
            return self.fail(inner.outer, inner.container, &error);
        }
        // A plain text in a picture is not a user profile.
        if format == Some(Format::PlainText) && inner.container.is_some_and(|outer| outer.contains("png:")) {
            format = None;
        }
        let help = phrase!("if this is wrong, omit the file, or name its format with `--as`");
        let guess = guess.filter(|_| format.is_some()).map(|guess| guess.with_help(help));
        let report = FileReport {
            path: inner.outer.name.to_owned(),
            format,
            container: inner.container.map(str::to_owned),
            diagnostics: document.diagnostics.into_iter().chain(guess).collect(),
            ..FileReport::default()
        };
        let is_text =
            matches!(format, Some(Format::Profile | Format::PlainText)) && !document.value.is_object();
        self.read.push(SourceDocument {
            report: self.reports.len(),
            name: name.to_owned(),
            format,
            nearest,
            value: document.value,
            syntax: document.syntax,
            bad_lines: document.bad_lines,
            text: if is_text { inner.file.bytes.to_vec() } else { Vec::new() },
        });
        self.reports.push(report);
    }

    fn fail(&mut self, file: SourceFile<'_>, container: Option<&str>, error: &ImportError) {
        let found = error.to_diagnostic();
        let is_packed = ends_with(file.name, &risu::PACKED);
        self.refuse(file, container, if is_packed { found.with_help(risu::packed_help()) } else { found });
    }

    fn refuse(&mut self, file: SourceFile<'_>, container: Option<&str>, found: Diagnostic) {
        self.reports.push(FileReport {
            path: file.name.to_owned(),
            container: container.map(str::to_owned),
            diagnostics: vec![found],
            ..FileReport::default()
        });
    }
}

/// A document in a file.
#[derive(Clone, Copy)]
struct Inner<'a> {
    /// The file that holds it.
    outer: SourceFile<'a>,
    file: SourceFile<'a>,
    container: Option<&'a str>,
    /// Whether it is the only imported file, whose format can be named by hand.
    is_alone: bool,
}

/// Values that an object counts as: entries, rules, and messages are made of objects.
const OBJECT: usize = 10;

/// Lists whose other items become objects.
const GROWING: [&str; 4] = ["alternate_greetings", "entries", "group_only_greetings", "presetMessages"];

/// Maximum number of values in a file: one of a few megabytes can hold millions.
const VALUES: usize = 250_000;

/// The same for worldbooks and conversations, whose objects take less memory than those of cards.
const LIGHT_VALUES: usize = 1_000_000;

/// Remaining limits for the documents of one file.
struct Allowance {
    bytes: usize,
    /// A share of [`LIGHT_VALUES`].
    used: usize,
}

impl Allowance {
    /// Subtracts a document. O(values).
    fn take(&mut self, bytes: usize, format: Option<Format>, value: &Value) -> Result<(), ImportError> {
        let is_light = format.is_some_and(|format| format.is_conversation() || format == Format::Worldbook);
        let (limit, share) = if is_light { (LIGHT_VALUES, 1) } else { (VALUES, LIGHT_VALUES / VALUES) };
        self.used = self.used.saturating_add(weight(value).saturating_mul(share));
        if self.used > LIGHT_VALUES {
            return Err(ImportError::TooHeavy { limit });
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        Ok(())
    }
}

fn weight(value: &Value) -> usize {
    match value {
        Value::Object(map) => {
            let grown = map.iter().filter(|(key, _)| GROWING.contains(&key.as_str()));
            let grown = grown.filter_map(|(_, value)| value.as_array()).flatten();
            let grown = grown.filter(|item| !item.is_object()).count() * (OBJECT - 1);
            OBJECT + grown + map.values().map(weight).sum::<usize>()
        }
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        _ => 1,
    }
}
