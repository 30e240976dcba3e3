//! Operations on documents: what they are, what is wrong with them, and other forms of them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ctx_engine::schema::FILE_SCHEMAS;
use ctx_engine::{Compile, Engine, Format, ImportError};
use ctx_preset_import::{
    Importer, SourceFile, card_book, detect, export_agent, export_card, export_preset, export_regex_scripts,
    write_document,
};
use ctx_tokens::ModelTable;
use ctx_types::Diagnostic;
use serde_json::{Map, Value, json};

use crate::agent_file::AgentFile;
use crate::book_file::BookFile;
use crate::check::{finding_json, look};
use crate::error::OperationError;
use crate::given::{Given, finish, need, need_text, optional};
use crate::migration::{self, MigratedText, Migration};
use crate::texts::Texts;

/// The operation `check`.
pub(crate) fn check(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let Given { name, bytes } = Given::read(&need(&mut input, "document")?, "document")?;
    finish(&input)?;
    let mut texts = Texts::default();
    texts.add(&name, &bytes);
    let detected = detect(&bytes, &name);
    let (kind, found) =
        match look((&bytes, &name), detected, None, &ModelTable::builtin(), &|| of_agent(&bytes, &name)) {
            Ok((kind, found)) => (Some(kind.id()), found),
            Err(error) => (None, vec![texts.explained(&name, &error)]),
        };
    let positions = texts.positions(&found);
    let mut placed: Vec<_> = found.into_iter().zip(positions).collect();
    placed.sort_by(|(_, a), (_, b)| a.cmp(b));
    let findings = placed.iter().map(|(finding, position)| finding_json(finding, position.as_ref()));
    Ok(json!({ "kind": kind, "findings": findings.collect::<Vec<_>>() }))
}

/// Reads an agent, compiles it, and looks at what it costs in a cache.
fn of_agent(bytes: &[u8], name: &str) -> Result<Vec<Diagnostic>, ImportError> {
    let engine = Engine::new();
    let file = AgentFile::parse(bytes, name, &engine)?;
    let compiled = engine.compile(&file.agent, &Compile::default());
    let breakers = engine.cache_breakers(&compiled);
    Ok([file.all_findings(&compiled), file.lead_back(breakers)].concat())
}

/// The operation `import`.
pub(crate) fn import(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let Value::Array(files) = need(&mut input, "files")? else {
        return Err(OperationError::usage("`files` must be a list"));
    };
    let format: Option<String> = optional(&mut input, "format")?;
    finish(&input)?;
    let read = files.iter().map(|file| Given::read(file, "file")).collect::<Result<Vec<Given>, _>>()?;
    let given: Vec<SourceFile<'_>> =
        read.iter().map(|file| SourceFile { name: &file.name, bytes: &file.bytes }).collect();
    let mut importer = Importer::default();
    if let Some(name) = format {
        let format =
            Format::parse(&name).ok_or_else(|| OperationError::usage(format!("unknown format `{name}`")))?;
        importer.format = Some(format);
    }
    let made = importer.import(&given);
    let book = |book: &ctx_preset_import::NamedBook| json!({ "name": book.name, "book": book.book });
    let chat =
        |chat: &ctx_preset_import::NamedConversation| json!({ "name": chat.name, "session": chat.session });
    let assets = made.assets.iter().map(|asset| file_to_json(&asset.path, asset.bytes(&given)));
    Ok(json!({
        "agent": made.agent.as_ref().map(ctx_types::Persist::write),
        "profile": made.profile.as_ref().map(ctx_types::Persist::write),
        "template": made.template,
        "worldbooks": made.worldbooks.iter().map(book).collect::<Vec<_>>(),
        "conversations": made.conversations.iter().map(chat).collect::<Vec<_>>(),
        "assets": assets.collect::<Vec<_>>(),
        "report": made.report,
    }))
}

/// Writes a file for programs: as text where it is UTF-8, else as base64.
fn file_to_json(name: &str, bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => json!({ "file": name, "text": text }),
        Err(_) => json!({ "file": name, "base64": BASE64_STANDARD.encode(bytes) }),
    }
}

/// The operation `export`.
pub(crate) fn export(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let Given { name, bytes } = Given::read(&need(&mut input, "agent")?, "agent")?;
    let to = need_text(&mut input, "to")?;
    let books: Option<Vec<Value>> = optional(&mut input, "worldbooks")?;
    finish(&input)?;
    let file = AgentFile::parse(&bytes, &name, &Engine::new());
    let file = file.map_err(|error| OperationError::of_document(&error, &name, &bytes))?;
    let mut found = file.found.clone();
    let mut read = Vec::new();
    for book in books.iter().flatten() {
        let Given { name, bytes } = Given::read(book, "worldbook")?;
        let (book, odd) = BookFile::parse(&bytes, &name)
            .map_err(|error| OperationError::of_document(&error, &name, &bytes))?;
        found.extend(odd);
        read.push(book);
    }
    let agent = &file.agent;
    let document = match to.as_str() {
        "st-preset" => {
            let (preset, lost) = export_preset(agent);
            found.extend(file.lead_back(lost));
            preset
        }
        "st-card" => {
            let own = read.iter().find(|book| Some(&*book.book.name) == card_book(agent));
            export_card(agent, own.map(|book| &*book.book.book))
        }
        "st-regex" => match agent.regex_config.as_ref().map(|config| config.presets.as_slice()) {
            Some([only]) => export_regex_scripts(only),
            _ => return Err(OperationError::usage("the agent must have exactly one list of regex rules")),
        },
        "aio" => {
            let asked = read.iter().filter(|book| {
                agent.worldbook_ids.iter().any(|id| *id == book.book.id || *id == book.book.name)
            });
            let asked: Vec<_> = asked.map(|book| (&*book.book.id, &*book.book.book)).collect();
            export_agent(agent, &asked)
        }
        to => {
            return Err(OperationError::usage(format!(
                "unknown target `{to}`; use one of st-preset, st-card, st-regex, aio"
            )));
        }
    };
    Ok(json!({ "document": document, "findings": found }))
}

/// The operation `migrate`.
pub(crate) fn migrate(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let Given { name, bytes } = Given::read(&need(&mut input, "document")?, "document")?;
    finish(&input)?;
    let refused = |error: ImportError| OperationError::of_document(&error, &name, &bytes);
    let Migration { migrated, text, .. } =
        migration::migrate(&bytes, &name, &Engine::new().anchors).map_err(refused)?;
    let changes: Vec<Diagnostic> =
        migrated.changes.into_iter().map(|change| change.in_document(name.as_str())).collect();
    let yaml = match text {
        MigratedText::InPlace(text) | MigratedText::Anew(text) => text,
        MigratedText::Json => write_document(&migrated.value),
    };
    Ok(json!({
        "format": migrated.format.id(),
        "document": migrated.value,
        "yaml": yaml,
        "changes": changes,
    }))
}

/// The operation `schemas`.
pub(crate) fn schemas(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let name: Option<String> = optional(&mut input, "name")?;
    finish(&input)?;
    let Some(name) = name else {
        return Ok(FILE_SCHEMAS
            .iter()
            .map(|schema| json!({ "name": schema.name, "about": schema.about }))
            .collect());
    };
    let found = FILE_SCHEMAS.iter().find(|schema| name == schema.name);
    let found = found.ok_or_else(|| OperationError::usage(format!("unknown schema `{name}`")))?;
    Ok((found.write)(&Engine::new()))
}
