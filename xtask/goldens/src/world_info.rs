//! Cases of the kind `world_info_scan`: which entries of lorebooks a chat activates, step by step.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use ctx_macros::{Dialect, Registry, Template};
use ctx_project::macro_env::EnvFile;
use ctx_types::ports::TokenCounter;
use ctx_types::worldbook::Worldbook;
use ctx_types::{EncodingId, Persist as _, Reader, Role, Source as Origin, SourceKind, Text, Trust};
use ctx_worldbook::{
    Book, BookSet, EntryPart, Expand, ExpandedText, Level, Limits, Member, Ports, Scan, ScanInput,
    ScanMessage, ScanSources, Settings, Source, TimedState, internal::ListedDraws,
};
use serde_json::{Map, Value, json};

/// Scans the chats of a case, one after the other.
pub(crate) fn run(input: &Value) -> Result<Value> {
    let (settings, _) =
        Settings::read(input.get("settings").context("a case of this kind needs `settings`")?);
    let (set, _) = BookSet::compile(books(input)?, settings, Limits::default());
    let chats =
        input.get("chatsOldestFirst").and_then(Value::as_array).context("no list `chatsOldestFirst`")?;
    let EnvFile { env, state: macro_state, .. } = EnvFile::read(input);
    let mut state = TimedState::default();
    let mut steps = Vec::new();
    let mut drawn = 0;
    for chat in chats {
        let messages = messages(chat)?;
        let random = input.get("random").and_then(Value::as_array).into_iter().flatten();
        let mut draws = ListedDraws::new(random.filter_map(Value::as_f64));
        let names: Vec<Arc<str>> = ["char", "character"].iter().filter_map(|key| text(input, key)).collect();
        let sources = sources(input);
        let scan_input = ScanInput {
            messages: &messages,
            sources: &sources,
            trigger: input.get("trigger").and_then(Value::as_str).unwrap_or("normal"),
            names: &names,
            state: &state,
            max_context: input.get("maxContext").and_then(Value::as_u64),
            ..ScanInput::default()
        };
        let mut expand = Macros { env: env.clone(), state: macro_state.clone() };
        let ports = Ports { draws: &mut draws, expand: &mut expand, counter: Some(&Estimate) };
        let scan = set.scan(&scan_input, ports);
        steps.push(step(&set, &scan));
        drawn += draws.count();
        state = scan.state;
    }
    Ok(json!({ "steps": steps, "randomCalls": drawn }))
}

/// Who uses books, by the keys of an input: lists of names or single ones.
const LEVELS: [(&str, Level); 6] = [
    ("chatBook", Level::Conversation),
    ("personaBook", Level::Profile),
    ("characterBook", Level::Character),
    ("characterBooks", Level::Character),
    ("charBooks", Level::Character),
    ("globalBooks", Level::Global),
];

fn books(input: &Value) -> Result<Vec<Book>> {
    let files = input.get("books").and_then(Value::as_object).context("no object `books`")?;
    let mut books = Vec::new();
    for (key, level) in LEVELS {
        let names = match input.get(key) {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(name)) => vec![name.as_str()],
            _ => Vec::new(),
        };
        for name in names {
            let entries = files.get(name).with_context(|| format!("no book `{name}`"))?;
            books.push(Book::read(name, level, &book(entries)?).0);
        }
    }
    Ok(books)
}

/// Reads a book; a list of entries stands for the object of the file, whose keys are their uids.
fn book(entries: &Value) -> Result<Worldbook> {
    let entries = match entries.get("entries").unwrap_or(entries) {
        Value::Array(list) => {
            let uid = |(index, entry): (usize, &Value)| {
                entry.get("uid").map_or(index.to_string(), Value::to_string)
            };
            Value::Object(list.iter().enumerate().map(|at| (uid(at), at.1.clone())).collect())
        }
        object => object.clone(),
    };
    ensure!(entries.is_object(), "the entries of a book are a list or an object");
    Ok(Worldbook::read(json!({ "entries": entries }), &mut Reader::new()))
}

fn messages(chat: &Value) -> Result<Vec<ScanMessage>> {
    let lines = chat.as_array().context("a chat is a list of messages")?;
    let message = |line: &Value| ScanMessage {
        name: text(line, "name"),
        text: line.get("mes").and_then(Value::as_str).unwrap_or_default().into(),
    };
    Ok(lines.iter().map(message).collect())
}

fn sources(input: &Value) -> ScanSources {
    let data = input.get("scanData").cloned().unwrap_or_default();
    let keys = [
        ("personaDescription", Source::Persona),
        ("characterDescription", Source::Description),
        ("characterPersonality", Source::Personality),
        ("characterDepthPrompt", Source::DepthPrompt),
        ("scenario", Source::Scenario),
        ("creatorNotes", Source::CreatorNotes),
    ];
    keys.into_iter().fold(ScanSources::default(), |sources, (key, source)| {
        sources.with(source, data.get(key).and_then(Value::as_str).map(Text::from))
    })
}

fn text(value: &Value, key: &str) -> Option<Arc<str>> {
    value.get(key).and_then(Value::as_str).map(Arc::from)
}

/// Writes what one scan gave.
fn step(set: &BookSet, scan: &Scan) -> Value {
    let output = set.output(scan);
    let content = |at: &usize| scan.activations.get(*at).map_or("", |activation| &*activation.content);
    let texts = |list: &[usize]| list.iter().map(content).collect::<Vec<_>>();
    let id = |member: usize| set.members().get(member).map(|member| member.id.to_string());
    let depths = output.depths.iter().map(|at_depth| {
        json!({ "depth": at_depth.depth, "entries": texts(&at_depth.entries), "role": role(at_depth.role) })
    });
    let examples = output
        .examples
        .iter()
        .map(|(at, is_above)| json!({ "position": u8::from(!is_above), "content": content(at) }));
    let outlets = output.outlets.iter().map(|(name, list)| (name.to_string(), json!(texts(list))));
    json!({
        "activated": scan.activations.iter().filter_map(|activation| id(activation.member)).collect::<Vec<_>>(),
        "worldInfoBefore": texts(&output.before_character).join("\n"),
        "worldInfoAfter": texts(&output.after_character).join("\n"),
        "EMEntries": examples.collect::<Vec<_>>(),
        "WIDepthEntries": depths.collect::<Vec<_>>(),
        "ANBeforeEntries": texts(&output.note_top),
        "ANAfterEntries": texts(&output.note_bottom),
        "outletEntries": outlets.collect::<Map<_, _>>(),
        "timed": timed(&scan.state),
    })
}

fn role(role: Role) -> u8 {
    match role {
        Role::User => 1,
        Role::Assistant => 2,
        _ => 0,
    }
}

/// The observations leave hashes out.
fn timed(state: &TimedState) -> Value {
    let mut written = state.write();
    for effects in written.as_object_mut().into_iter().flat_map(|kinds| kinds.values_mut()) {
        for effect in effects.as_object_mut().into_iter().flat_map(|effects| effects.values_mut()) {
            effect.as_object_mut().map(|effect| effect.remove("hash"));
        }
    }
    written
}

/// The estimate with which the observations were made.
struct Estimate;

impl TokenCounter for Estimate {
    fn encoding(&self) -> EncodingId {
        EncodingId(0)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "small"
    )]
    fn count(&self, text: &str) -> u32 {
        (text.encode_utf16().count() as f64 / 3.35).ceil() as u32
    }
}

/// Macros as SillyTavern's newer engine has them.
struct Macros {
    env: ctx_macros::Env,
    state: ctx_macros::State,
}

impl Expand for Macros {
    fn expand(&mut self, member: &Member, _part: EntryPart, text: &Text) -> ExpandedText {
        let template = Template::parse(text, Dialect::SillyTavern, &Registry::builtin());
        let origin =
            Origin { id: Some(member.id.clone()), ..Origin::new(SourceKind::Worldbook, Trust::Import) };
        let text = template.expand(&self.env, &mut self.state, &origin).text;
        ExpandedText { text, written: Vec::new() }
    }
}
