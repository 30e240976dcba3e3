//! Several files of other applications at once, as one agent with all that belongs to it.

mod bundled;
mod conversations;
mod finish;
mod gathered;
mod merge;
mod scripts;
mod settle;
mod sources;
mod take;
mod weight;

use ctx_anchors::AnchorRegistry;
use ctx_types::session::Session;
use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Diagnostic, UserProfile};
use serde_json::Value;

use crate::format::Format;
use crate::limits::Limits;
use crate::report::ImportReport;

/// A file that is imported.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Its name; what it is is told by its content, and the name only shown, and used where the content has none.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// How files are imported.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportOptions {
    /// How much a document may ask of us; 20 MiB and half a million values by default, since each value has a row in
    /// the report, and each text is there several times before all is written.
    ///
    /// The documents of one file may have so many bytes together, and a quarter of a million values, of which each
    /// object counts for ten; a million, where they are worldbooks and conversations.
    pub limits: Limits,
    /// The anchors that presets may use.
    pub anchors: AnchorRegistry,
    /// The format of the files that nothing tells for certain; without it these are guessed with a warning, or refused.
    pub format: Option<Format>,
    /// The character whose prompt order a chat-completion preset uses; without it that of all characters, 100001.
    pub prompt_order: Option<String>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        let limits = Limits { json_bytes: 20 << 20, json_nodes: 500_000, ..Limits::default() };
        Self { limits, anchors: AnchorRegistry::system(), format: None, prompt_order: None }
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

/// Makes an agent of files: a card, a preset, lorebooks, regex scripts, a persona, settings, chats, whatever is there.
///
/// Of several cards, presets or personas the first counts; each further one is reported. What cannot be read is a
/// finding, and the rest goes on. Each leaf of each document has one row in the report, and what has no effect here
/// is kept under `imported` in the agent. O(bytes).
///
/// ```
/// use ctx_preset_import::{ImportOptions, SourceFile, import};
///
/// let card = br#"{ "spec": "chara_card_v2", "data": { "name": "Ada", "description": "Counts." } }"#;
/// let made = import(&[SourceFile { name: "ada.json", bytes: card }], &ImportOptions::default());
/// let agent = made.agent.unwrap();
/// assert_eq!(agent.name.as_deref(), Some("Ada"));
/// assert!(agent.preset_messages.iter().any(|entry| entry.anchor_id() == Some("char_description")));
/// assert_eq!(made.report.files[0].fields.len(), 3);
/// ```
pub fn import(files: &[SourceFile<'_>], options: &ImportOptions) -> Import {
    let prompt_order = options.prompt_order.clone();
    let mut gathered = gathered::Gathered { is_alone: files.len() == 1, prompt_order, ..Default::default() };
    for (number, file) in files.iter().enumerate() {
        gathered.add(number, *file, options);
    }
    let mut made = gathered.finish();
    settle::settle(&mut made);
    made
}
