//! Cases of the kind `chat_completion_assembly`: the messages that were sent, from the files that SillyTavern holds.

use anyhow::{Context, Result};
use ctx_engine::{Compile, Engine};
use ctx_preset_import::{Import, Importer, SourceFile};
use ctx_types::session::Session;
use ctx_types::worldbook::LoadedWorldbook;
use ctx_types::{GenerationKind, Message, TurnInput};
use serde_json::{Map, Value, json};

/// The model whose tokenizer counted.
const MODEL: &str = "gpt-4-turbo";

/// Writes the files of a case, imports them all at once, and assembles.
pub(crate) fn run(input: &Value) -> Result<Value> {
    let files = files(input)?;
    let sources: Vec<SourceFile<'_>> =
        files.iter().map(|(name, text)| SourceFile { name, bytes: text.as_bytes() }).collect();
    let made = Importer::default().import(&sources);
    let messages = assemble(made, input)?;
    Ok(json!({ "messages": messages.iter().map(sent).collect::<Vec<_>>() }))
}

fn assemble(made: Import, input: &Value) -> Result<Vec<Message>> {
    let agent = made.agent.context("no agent was made")?;
    let kind = match text(input, "generationType") {
        "continue" => GenerationKind::Continue,
        "impersonate" => GenerationKind::Impersonate,
        "quiet" => GenerationKind::Quiet,
        _ => GenerationKind::Normal,
    };
    let turn = TurnInput::default().with(|turn| {
        turn.kind = kind;
        turn.model = Some(MODEL.into());
        turn.input = Some(text(input, "quietPrompt").into()).filter(|_| kind == GenerationKind::Quiet);
    });
    let books = made.worldbooks.into_iter().map(|named| LoadedWorldbook {
        id: named.name.as_str().into(),
        name: named.name.as_str().into(),
        book: std::sync::Arc::new(named.book),
        is_global: true,
    });
    let with = Compile::default().with(|compile| {
        compile.profile = made.profile;
        compile.worldbooks = books.collect();
    });
    let compiled = Engine::new().compile(&agent, &with);
    let chat = made.conversations.into_iter().next();
    let session = chat.map_or_else(|| Session::new("empty"), |chat| chat.session);
    // A quiet prompt is the application's, so that its macros are expanded.
    let expanded = turn.input.is_some().then(|| compiled.prepare_input(&session, &turn).text);
    let turn = turn.with(|turn| turn.input = expanded);
    Ok(compiled.assemble_blocking(&session, &turn)?.messages)
}

pub(crate) fn sent(message: &Message) -> Value {
    let mut sent = json!({ "role": message.role.as_str(), "content": message.text() });
    if let Some(name) = &message.name {
        sent["name"] = (&**name).into();
    }
    sent
}

/// The files that SillyTavern would hold, each with its name.
fn files(input: &Value) -> Result<Vec<(String, String)>> {
    let mut files = vec![
        ("card.json".to_owned(), card(input).to_string()),
        ("preset.json".to_owned(), preset(input)?.to_string()),
        ("settings.json".to_owned(), settings(input).to_string()),
        ("chat.jsonl".to_owned(), chat(input)?),
    ];
    for (name, book) in input.get("worldInfo").and_then(Value::as_object).into_iter().flatten() {
        files.push((format!("{name}.json"), worldbook(book).to_string()));
    }
    Ok(files)
}

pub(crate) fn text<'v>(input: &'v Value, key: &str) -> &'v str {
    input.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn object(input: &Value, key: &str) -> Map<String, Value> {
    input.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// A card of version 2; the note at a depth stands below `extensions` there.
fn card(input: &Value) -> Value {
    let mut data = object(input, "card");
    let mut extensions = data.remove("extensions").unwrap_or_else(|| json!({}));
    if let Some(note) = data.remove("depth_prompt") {
        extensions["depth_prompt"] = note;
    }
    data.insert("name".to_owned(), text(input, "char").into());
    data.insert("extensions".to_owned(), extensions);
    json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": data })
}

fn preset(input: &Value) -> Result<Value> {
    let mut preset = object(input, "settings");
    let prompts = input.get("prompts").context("a case of this kind needs `prompts`")?;
    let order = input.get("promptOrder").context("a case of this kind needs `promptOrder`")?;
    preset.insert("prompts".to_owned(), prompts.clone());
    preset.insert("prompt_order".to_owned(), json!([{ "character_id": 100_001, "order": order }]));
    Ok(Value::Object(preset))
}

/// The settings of the whole application: the person who chats, whose prompts count, and world info.
fn settings(input: &Value) -> Value {
    let persona = object(input, "persona");
    let mut power = object(input, "powerUser");
    for key in ["description", "position", "depth", "role"] {
        let to = if key == "description" {
            "persona_description".to_owned()
        } else {
            format!("persona_description_{key}")
        };
        power.extend(persona.get(key).map(|value| (to, value.clone())));
    }
    let place = |key: &str| input.get(key).unwrap_or(&Value::Null);
    let places = [input, place("settings"), place("power")];
    for (key, camel) in [
        ("prefer_character_prompt", "preferCharacterPrompt"),
        ("prefer_character_jailbreak", "preferCharacterJailbreak"),
    ] {
        let given = places.iter().find_map(|place| place.get(key).or_else(|| place.get(camel)));
        power.extend(given.map(|value| (key.to_owned(), value.clone())));
    }
    let world_info = object(input, "worldInfoSettings");
    json!({ "username": text(input, "user"), "power_user": power, "world_info_settings": world_info })
}

/// The header of a chat with its metadata, and a message a line.
fn chat(input: &Value) -> Result<String> {
    let note = object(input, "authorsNote");
    let mut metadata = object(input, "chatMetadata");
    for key in ["prompt", "interval", "position", "depth", "role"] {
        metadata.extend(note.get(key).map(|value| (format!("note_{key}"), value.clone())));
    }
    let header = json!({
        "user_name": text(input, "user"), "character_name": text(input, "char"), "chat_metadata": metadata,
    });
    let lines =
        input.get("chatOldestFirst").and_then(Value::as_array).context("no list `chatOldestFirst`")?;
    let lines: Vec<String> = std::iter::once(&header).chain(lines).map(Value::to_string).collect();
    Ok(lines.join("\n"))
}

/// World info; a list of entries stands for the object of the file, whose keys are their uids.
fn worldbook(book: &Value) -> Value {
    let Some(list) = book.as_array() else { return book.clone() };
    let uid = |(index, entry): (usize, &Value)| entry.get("uid").map_or(index.to_string(), Value::to_string);
    let entries: Map<String, Value> = list.iter().enumerate().map(|at| (uid(at), at.1.clone())).collect();
    json!({ "entries": entries })
}
