//! Cases without a kind: the messages of a request that SillyTavern sent, and the files that it held.

use std::sync::Arc;

use anyhow::{Context, Result};
use ctx_engine::{Compile, Engine, read_profile};
use ctx_preset_import::{Import, Importer, SourceFile};
use ctx_types::TurnInput;
use ctx_types::worldbook::LoadedWorldbook;
use serde_json::{Value, json};

use crate::chat_completion::{sent, text};

/// The model of the requests.
const MODEL: &str = "gpt-4o";

/// Imports the files of a case and assembles its request.
pub(crate) fn run(input: &Value) -> Result<Value> {
    let part = |key: &str| input.get(key).with_context(|| format!("the case has no `{key}`"));
    let mut files = vec![
        ("card.json".to_owned(), part("card")?.to_string()),
        ("preset.json".to_owned(), part("preset")?.to_string()),
        ("chat.jsonl".to_owned(), chat(input)?),
    ];
    let books = part("books")?.as_object().context("`books` is not an object")?;
    files.extend(books.iter().map(|(name, book)| (format!("{name}.json"), book.to_string())));
    let sources: Vec<SourceFile<'_>> =
        files.iter().map(|(name, text)| SourceFile { name, bytes: text.as_bytes() }).collect();
    let Import { agent, worldbooks, conversations, .. } = Importer::default().import(&sources);
    let agent = agent.context("no agent was made")?;
    let session = conversations.into_iter().next().context("no conversation was made")?.session;
    let profile = json!({ "name": text(input, "user"), "content": text(input, "persona") }).to_string();
    let profile = read_profile(profile.as_bytes(), "profile.json")?.value;
    let worldbooks = worldbooks.into_iter().map(|named| LoadedWorldbook {
        id: named.name.as_str().into(),
        name: named.name.as_str().into(),
        book: Arc::new(named.book),
        is_global: false,
    });
    let with = Compile::default().with(|compile| {
        compile.profile = Some(profile);
        compile.worldbooks = worldbooks.collect();
    });
    let number =
        |key: &str| input.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    let turn = TurnInput::default().with(|turn| {
        turn.model = Some(MODEL.into());
        turn.context_tokens = number("context").map(i64::from);
        turn.reserve = number("reserve");
    });
    let context = Engine::new().compile(&agent, &with).assemble_blocking(&session, &turn)?;
    Ok(json!({ "messages": context.messages.iter().map(sent).collect::<Vec<_>>() }))
}

/// A chat as SillyTavern stores it.
fn chat(input: &Value) -> Result<String> {
    let (user, character) = (text(input, "user"), text(input, "character"));
    let header = json!({ "user_name": user, "character_name": character, "create_date": "2026-1-1", "chat_metadata": {} });
    let messages = input.get("chat").and_then(Value::as_array).context("the case has no `chat`")?;
    let lines = messages.iter().map(|message| {
        let is_user = message.get("is_user") == Some(&Value::Bool(true));
        let name = if is_user { user } else { character };
        let mut line = json!({ "name": name, "send_date": "2026-01-01T00:00:00Z" });
        if let (Some(line), Some(message)) = (line.as_object_mut(), message.as_object()) {
            line.extend(message.clone());
        }
        line.to_string()
    });
    Ok(std::iter::once(header.to_string()).chain(lines).collect::<Vec<_>>().join("\n"))
}
