//! Converts a SillyTavern character card to an agent, with a report about each field.
//!
//! `cargo run -p examples --bin import_card` imports the card below. Add `-- PATH` to import a JSON or PNG file.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use ctx_engine::import::{Importer, SourceFile};
use ctx_engine::prelude::{Compile, Engine, LoadedWorldbook, Session, TurnInput};

const CARD: &str = r#"{ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
    "name": "Ada",
    "description": "{{char}} counts everything she sees.",
    "first_mes": "Good evening, {{user}}. Four lamps tonight.",
    "post_history_instructions": "Never round a number.",
    "creator_notes": "For evenings.",
    "extensions": { "somebody/else": { "level": 3 } },
    "character_book": { "entries": [
        { "keys": ["lamp"], "content": "The lamps burn whale oil.", "insertion_order": 1, "enabled": true, "extensions": {} }
    ] }
} }"#;

fn main() -> anyhow::Result<()> {
    let (name, bytes) = match std::env::args().nth(1) {
        Some(path) => (path.clone(), std::fs::read(path)?),
        None => ("ada.json".to_owned(), CARD.into()),
    };
    // The import never fails: problems are diagnostics.
    let made = Importer::default().import(&[SourceFile { name: &name, bytes: &bytes }]);

    for file in &made.report.files {
        println!("{}:", file.path);
        for field in &file.fields {
            let to = field.to.as_deref().unwrap_or("–");
            println!("  {:<12} {:<44} {to}", field.status.as_str(), field.pointer);
        }
    }
    made.diagnostics().for_each(|finding| println!("  {finding}"));

    // The agent refers to the card's worldbook by name; the host provides the worldbooks.
    let books = made.worldbooks.iter().map(|book| LoadedWorldbook {
        id: book.name.as_str().into(),
        name: book.name.as_str().into(),
        book: Arc::new(book.book.clone()),
        is_global: false,
    });
    let with = Compile::default().with(|compile| {
        compile.worldbooks = books.collect();
        compile.profile = made.profile.clone();
    });
    let compiled = Engine::new().compile(&made.agent.unwrap_or_default(), &with);
    let turn = TurnInput::new("Who lights each lamp?");
    let context = compiled.assemble_blocking(&Session::new("chat"), &turn)?;
    println!("\nthe first turn:");
    for message in &context.messages {
        println!("  {:<7} {:<28} {}", message.role.as_str(), message.source.to_string(), message.text());
    }
    Ok(())
}
