//! Imports cards, presets, worldbooks and settings of other applications as agents, and exports agents.
//!
//! ```
//! use ctx_engine::import::{Importer, SourceFile};
//!
//! let card = br#"{ "spec": "chara_card_v2", "data": { "name": "Ada", "first_mes": "Good evening." } }"#;
//! let made = Importer::default().import(&[SourceFile { name: "ada.json", bytes: card }]);
//! assert_eq!(made.agent.and_then(|agent| agent.name).as_deref(), Some("Ada"));
//! ```

pub use ctx_preset_import::{
    AgentOrigin, Asset, AssetContent, ConversationForm, Document, FieldReport, FieldStatus, FileReport,
    Import, ImportReport, Importer, Limits, MigratedDocument, NamedBook, NamedConversation, SourceFile,
    WorldbookOrigin, WrittenConversation, agent_of, card_book, conversation_of, detect, export_agent,
    export_card, export_card_book, export_card_picture, export_lorebook, export_preset, export_regex_scripts,
    export_worldbook, migrate, migrate_document, read_regex_scripts, worldbook_of, write_conversation,
};
