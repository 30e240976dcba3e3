//! Several files of other applications at once, as one agent with all that belongs to it.

mod assemble;
mod bundled;
mod conversations;
mod convert;
mod documents;
mod plan;

use ctx_anchors::AnchorRegistry;
use ctx_types::session::Session;
use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Diagnostic, UserProfile};
use serde_json::Value;

use crate::format::Format;
use crate::limits::Limits;
use crate::report::ImportReport;
use convert::Conversion;
use documents::Documents;
use plan::Plan;

/// A file that is imported.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Its name; what it is is told by its content, and the name only shown, and used where the content has none.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// Imports files of other applications, and how it does so.
///
/// ```
/// use ctx_preset_import::{Importer, SourceFile};
///
/// let card = br#"{ "spec": "chara_card_v2", "data": { "name": "Ada", "description": "Counts." } }"#;
/// let made = Importer::default().import(&[SourceFile { name: "ada.json", bytes: card }]);
/// let agent = made.agent.unwrap();
/// assert_eq!(agent.name.as_deref(), Some("Ada"));
/// assert!(agent.preset_messages.iter().any(|entry| entry.anchor_id() == Some("char_description")));
/// assert_eq!(made.report.files[0].fields.len(), 3);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Importer {
    /// Limits of a document; by default 20 MiB and 500,000 values.
    ///
    /// All documents of one file share these bytes, and 250,000 values (1,000,000 for worldbooks and conversations).
    /// An object is 10 values.
    pub limits: Limits,
    /// The anchors that presets may use.
    pub anchors: AnchorRegistry,
    /// The format of files without a certain format; without it, these are guessed with a warning, or refused.
    pub format: Option<Format>,
    /// The character whose prompt order a chat completion preset uses; by default 100001, which applies to all
    /// characters.
    pub prompt_order: Option<String>,
}

impl Default for Importer {
    fn default() -> Self {
        let limits = Limits { json_bytes: 20 << 20, json_nodes: 500_000, ..Limits::default() };
        Self { limits, anchors: AnchorRegistry::system(), format: None, prompt_order: None }
    }
}

impl Importer {
    /// Makes an agent of files: a card, a preset, lorebooks, regex scripts, a persona, settings, chats.
    ///
    /// Uses the first card, the first preset, and the first persona, and reports others. An unreadable file is a
    /// diagnostic, and the other files are imported. Each value of each document is in the report. Values
    /// without an effect are kept under `imported` in the agent. O(bytes).
    pub fn import(&self, files: &[SourceFile<'_>]) -> Import {
        let Documents { read, reports, assets } = Documents::read(files, self);
        let mut conversion = Conversion::new(self, Plan::new(&read, self), reports, assets);
        for (number, document) in read.into_iter().enumerate() {
            conversion.add(number, document);
        }
        conversion.finish()
    }
}

/// What was made of the files.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// The agent; none if no file says anything of one.
    pub agent: Option<Agent>,
    /// The worldbooks, those of cards among them; the agent asks for each by its name.
    pub worldbooks: Vec<NamedBook>,
    /// The person who chats.
    pub profile: Option<UserProfile>,
    /// How turns are written in one text, for `--template` of the dialect `completion`.
    pub template: Option<Value>,
    /// The conversations.
    pub conversations: Vec<NamedConversation>,
    /// Files that cards and archives held: pictures, sounds.
    pub assets: Vec<Asset>,
    /// What became of each field of each file.
    pub report: ImportReport,
}

/// A file that belongs to what was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its name in what it was packed in: relative, without `..`, with `/` between folders; `avatar.png` for a picture
    /// that has no name there, or was given by itself.
    pub path: String,
    /// Its content.
    pub content: AssetContent,
}

/// The content of a file that belongs to what was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssetContent {
    /// Bytes that were packed in a file.
    Packed(Vec<u8>),
    /// All of the file of this number among those that were given, from 0: a card's picture is the file that holds the
    /// card, and is not copied.
    Source(usize),
}

impl Asset {
    /// Returns the bytes; `files` are those of the import, in the same order. Nothing where there are fewer.
    pub fn bytes<'b>(&'b self, files: &[SourceFile<'b>]) -> &'b [u8] {
        match &self.content {
            AssetContent::Packed(bytes) => bytes,
            AssetContent::Source(number) => files.get(*number).map(|file| file.bytes).unwrap_or_default(),
        }
    }
}

/// A worldbook and its name.
#[derive(Clone, Debug)]
pub struct NamedBook {
    /// The name by which the agent asks for it.
    pub name: String,
    /// The book.
    pub book: Worldbook,
}

/// A conversation and its name.
#[derive(Clone, Debug)]
pub struct NamedConversation {
    /// The name of its file, without the ending.
    pub name: String,
    /// The conversation.
    pub session: Session,
}

impl Import {
    /// Returns all findings, file by file.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.report.files.iter().flat_map(|file| &file.diagnostics)
    }
}
