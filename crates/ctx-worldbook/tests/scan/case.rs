//! Runs a case: books, settings, and chats. Returns the status of each entry.

use std::sync::Arc;

use ctx_types::ports::TokenCounter;
use ctx_types::worldbook::Worldbook;
use ctx_types::{EncodingId, Persist as _, Reader, Text};
use ctx_worldbook::{
    Book, BookSet, EntryPart, Expand, ExpandedText, Level, Limits, Member, Ports, Scan, ScanInput,
    ScanMessage, ScanSources, Settings, Source, Status, TimedState, internal::ListedDraws,
};
use serde_json::{Value, json};

pub(crate) struct Bytes;

impl TokenCounter for Bytes {
    fn encoding(&self) -> EncodingId {
        EncodingId(0)
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.len()).unwrap_or(u32::MAX)
    }
}

/// Expands `{{char}}` to `Ada`, and `{{n}}` to a running number.
#[derive(Default)]
pub(crate) struct CountingExpander(usize);

impl Expand for CountingExpander {
    fn expand(&mut self, _member: &Member, _part: EntryPart, text: &Text) -> ExpandedText {
        let mut expanded = text.replace("{{char}}", "Ada");
        while let Some(at) = expanded.find("{{n}}") {
            self.0 += 1;
            expanded.replace_range(at..at + 5, &self.0.to_string());
        }
        ExpandedText { text: expanded.into(), written: Vec::new() }
    }
}

/// `entries` is a single book `B`; `books` is an object of books with levels.
pub(crate) fn compile(case: &Value) -> BookSet {
    let (settings, found) = Settings::read(case.get("settings").unwrap_or(&json!({})));
    assert_eq!(found, []);
    let read = |name: &str, level, book: &Value| {
        let noun = Worldbook::read(book.clone(), &mut Reader::new());
        Book::read(name, level, &noun).0
    };
    let mut books = Vec::new();
    if case.get("entries").is_some() {
        books.push(read("B", Level::Global, case));
    }
    for (name, book) in case.get("books").and_then(Value::as_object).into_iter().flatten() {
        let level = match book["level"].as_str() {
            Some("conversation") => Level::Conversation,
            Some("profile") => Level::Profile,
            Some("character") => Level::Character,
            _ => Level::Global,
        };
        books.push(read(name, level, book));
    }
    BookSet::compile(books, settings, Limits::default()).0
}

/// Items are texts, or pairs of speaker and text.
pub(crate) fn messages(chat: &Value) -> Vec<ScanMessage> {
    let message = |line: &Value| match line {
        Value::Array(parts) => ScanMessage::new(parts[0].as_str().unwrap(), parts[1].as_str().unwrap()),
        line => ScanMessage { name: None, text: line.as_str().unwrap().into() },
    };
    chat.as_array().into_iter().flatten().map(message).collect()
}

pub(crate) fn scan(
    set: &BookSet,
    case: &Value,
    chat: &Value,
    state: &TimedState,
    draws: &mut ListedDraws,
) -> Scan {
    let messages = messages(chat);
    let names = texts(&case["names"]);
    let tags = case.get("tags").map(texts);
    let activated = texts(&case["activated"]);
    let injected: Vec<Text> = texts(&case["injected"]).iter().map(|text| Text::from(&**text)).collect();
    let sources = ScanSources::default()
        .with(Source::Persona, case["persona"].as_str().map(Text::from))
        .with(Source::Scenario, case["scenario"].as_str().map(Text::from));
    let input = ScanInput {
        messages: &messages,
        answers: case["answers"].as_u64().unwrap_or_default(),
        sources: &sources,
        injected: &injected,
        trigger: case["trigger"].as_str().unwrap_or("normal"),
        names: &names,
        tags: tags.as_deref(),
        state,
        max_context: case["context"].as_u64(),
        activated: &activated,
        greeting: case["greeting"].as_u64(),
        user_icon: case["icon"].as_str(),
        length: None,
    };
    set.scan(&input, Ports { draws, expand: &mut CountingExpander::default(), counter: Some(&Bytes) })
}

fn texts(value: &Value) -> Vec<Arc<str>> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(Arc::from).collect()
}

pub(crate) fn draws(case: &Value) -> ListedDraws {
    ListedDraws::new(case["random"].as_array().into_iter().flatten().filter_map(Value::as_f64))
}

pub(crate) fn statuses(set: &BookSet, scan: &Scan, chat: &Value) -> Vec<String> {
    let messages = messages(chat);
    let line = |(member, status): (&Member, &Status)| match status {
        Status::Activated(at) => {
            let activation = &scan.activations[*at];
            format!(
                "{}: {} (pass {})",
                member.entry.uid,
                set.describe(activation, &messages),
                activation.pass
            )
        }
        Status::NotActivated(reason) => format!("{}: no, {reason}", member.entry.uid),
    };
    set.members().iter().zip(&scan.statuses).map(line).collect()
}

#[track_caller]
pub(crate) fn check(case: Value, expected: &[&str]) {
    let set = compile(&case);
    let scan = scan(&set, &case, &case["chat"], &TimedState::default(), &mut draws(&case));
    assert_eq!(statuses(&set, &scan, &case["chat"]), expected);
}

#[track_caller]
pub(crate) fn check_chats(case: Value, expected: &[&[&str]]) {
    let set = compile(&case);
    let mut state = TimedState::default();
    let mut active = Vec::new();
    for chat in case["chats"].as_array().into_iter().flatten() {
        let scan = scan(&set, &case, chat, &state, &mut draws(&case));
        let uid = |member: usize| set.members()[member].entry.uid.to_string();
        active.push(scan.activations.iter().map(|activation| uid(activation.member)).collect::<Vec<_>>());
        state = scan.state;
    }
    assert_eq!(active, expected);
}
