//! Character cards: versions 1 to 3, Pygmalion's, and the YAML of text-generation-webui.

use ctx_types::{Diagnostic, Reader, phrase};
use serde_json::{Value, json};

use super::regex_scripts::TakenScripts;
use super::{CARD_RULES, role};
use crate::loose::{Object, number_of, said, text, whole};
use crate::report::NOT_READ;
use crate::source::Source;

/// A card, whichever version it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card<'v> {
    root: Source<'v>,
    /// The part that counts: `data` since version 2.
    fields: Source<'v>,
    is_layered: bool,
}

pub(crate) struct CardText {
    pub(crate) key: &'static str,
    /// Its place in an agent.
    pub(crate) to: &'static str,
    /// Its names in older cards.
    pub(crate) old: &'static [&'static str],
    /// Its name at the top of a card, where `SillyTavern` writes it too.
    pub(crate) top: Option<&'static str>,
}

const fn text_of(
    key: &'static str,
    to: &'static str,
    old: &'static [&'static str],
    top: Option<&'static str>,
) -> CardText {
    CardText { key, to, old, top }
}

pub(crate) static TEXTS: [CardText; 12] = [
    text_of("name", "/name", &["char_name"], Some("name")),
    text_of("description", "/character/description", &["char_persona", "context"], Some("description")),
    text_of("personality", "/character/personality", &[], Some("personality")),
    text_of("scenario", "/character/scenario", &["world_scenario"], Some("scenario")),
    text_of("mes_example", "/character/examples", &["example_dialogue"], Some("mes_example")),
    text_of("system_prompt", "/character/systemPrompt", &[], None),
    text_of("post_history_instructions", "/character/postHistory", &[], None),
    text_of("creator_notes", "/character/creatorNotes", &["creatorcomment"], Some("creatorcomment")),
    text_of("character_version", "/character/version", &["version"], None),
    text_of("nickname", "/character/nickname", &[], None),
    text_of("creator", "/creator", &[], None),
    text_of("first_mes", "/greetings/*/content", &["char_greeting", "greeting"], Some("first_mes")),
];

/// Returns the fields at the top of a card that repeat one below `data`, with that one and its place in an agent.
pub(crate) fn mirrors() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let texts = TEXTS.iter().filter_map(|text| Some((text.top?, text.key, text.to)));
    texts.chain([("tags", "tags", "/tags")])
}

/// How many tags a comma list may hold: a text of a few megabytes would become a list of gigabytes.
const MOST_TAGS: usize = 1_000;

/// What an empty field of notes says in `SillyTavern`, which takes it away.
const NO_NOTES: &str = "Creator's notes go here.";

fn are_too_many(tags: &str) -> bool {
    tags.bytes().filter(|byte| *byte == b',').count() >= MOST_TAGS
}

/// Why fields of a card are no more than nearly what they were, or kept.
const TOLD: &str = "identifies the file type";
const CREATOR: &str = "stored as a separate field; not sent to the model";
const MIRROR: &str = "for older readers; same as in `data`";
const UNLIKE_DATA: &str = "`data` differs and is used";
const GROUPS: &str = "group chats are not supported";
const DATES: &str = "not used";
const FAVOURITE: &str = "for people; not used for sorting";

/// What is made of a card, but for its worldbook.
#[derive(Default)]
pub(crate) struct TakenCard {
    /// What it says of the character, as the fields of an agent.
    pub(crate) agent: Object,
    pub(crate) scripts: Option<TakenScripts>,
}

impl<'v> Card<'v> {
    pub(crate) fn new(root: Source<'v>) -> Self {
        let data = root.at("data");
        match data.object() {
            Some(_) => Self { root, fields: data, is_layered: true },
            None => Self { root, fields: root, is_layered: false },
        }
    }

    /// Returns a text of the card; in an older one also under its old name.
    pub(crate) fn text(self, key: &str) -> Option<&'v str> {
        std::iter::once(key)
            .chain(old_names(key).iter().copied())
            .find_map(|name| self.fields.at(name).as_str())
    }

    pub(crate) fn said(self, key: &str) -> Option<&'v str> {
        self.text(key).filter(|text| !text.trim().is_empty())
    }

    pub(crate) fn name(self) -> Option<&'v str> {
        self.said("name").or_else(|| self.root.at("name").as_str().filter(|name| !name.trim().is_empty()))
    }

    /// Returns the place of the book that the card brings, if it has entries to search.
    pub(crate) fn book(self) -> Option<(&'static str, Source<'v>)> {
        let place = if self.is_layered { "/data/character_book" } else { "/character_book" };
        let book = self.fields.at("character_book");
        let entries = book.at("entries").value();
        entries.is_some_and(|entries| entries.is_array() || entries.is_object()).then_some((place, book))
    }

    /// Returns the name of the book that the card is linked with.
    pub(crate) fn world(self) -> Option<&'v str> {
        self.fields.at("extensions/world").as_str().filter(|name| !name.trim().is_empty())
    }

    /// Returns the note at a depth: its text, depth and role.
    pub(crate) fn depth_prompt(self) -> Option<(&'v str, i64, &'static str)> {
        let note = self.fields.at("extensions/depth_prompt").object()?;
        let prompt = said(note, "prompt")?;
        let (depth, role) = Self::note_place(note);
        Some((prompt, depth, role))
    }

    /// Returns the depth of a note, and who speaks it.
    pub(crate) fn note_place(note: &Object) -> (i64, &'static str) {
        (whole(note, "depth").unwrap_or(4), role(text(note, "role")))
    }

    /// Reports a comma list of more tags than may be; they stay in the card.
    pub(crate) fn check_tags(self) -> Vec<Diagnostic> {
        let mut reader = Reader::new();
        let check = |reader: &mut Reader| {
            let tags = self.fields.at("tags").value();
            if let Some(tags) = tags.filter(|tags| tags.as_str().is_some_and(are_too_many)) {
                reader
                    .wrong_type(phrase!("a list, or text with at most {most} tags", most = MOST_TAGS), tags);
            }
        };
        if self.is_layered {
            reader.at_key("data", |reader| reader.at_key("tags", check));
        } else {
            reader.at_key("tags", check);
        }
        reader.finish()
    }

    /// Takes what the card says of the character.
    pub(crate) fn take(self) -> TakenCard {
        let mut agent = Object::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                agent.insert(key.to_owned(), value);
            }
        };
        self.root.at("spec").keep(TOLD);
        self.root.at("spec_version").keep(TOLD);
        self.take_text("name", "/name");
        put("name", self.name().map(Value::from));
        put("tags", Some(self.take_tags()).filter(|tags| !tags.is_empty()).map(|tags| json!(tags)));
        let creator = self.fields.at("creator").text().equivalent(CREATOR).into("/creator");
        put("creator", creator.filter(|creator| !creator.trim().is_empty()).map(Value::from));
        put("character", Some(Value::Object(self.take_character())));
        put("greetings", Some(self.take_greetings()).filter(|list| !list.is_empty()).map(Value::Array));
        put("assets", Some(self.take_assets()).filter(|list| !list.is_empty()).map(Value::Array));
        self.take_mirrors();
        TakenCard { agent, scripts: self.take_scripts() }
    }

    /// Takes a text; of a field and its older names the first that is a text counts.
    fn take_text(self, key: &str, to: &'static str) -> Option<&'v str> {
        let old = old_names(key);
        let given = std::iter::once(&key).chain(old).find(|name| self.fields.at(name).as_str().is_some());
        for older in old.iter().filter(|older| given.is_some_and(|given| given != *older)) {
            self.fields.at(older).keep("set by another field of the card");
        }
        let older = old.iter().filter(|older| given.is_none_or(|given| given == *older));
        let older = older.map(|older| self.fields.at(older).text().into(to)).collect::<Vec<_>>();
        let own = self.fields.at(key).text().into(to);
        own.or_else(|| older.into_iter().flatten().next())
    }

    /// Takes the tags, also those of a comma list, unless it has more than may be.
    fn take_tags(self) -> Vec<&'v str> {
        let tags = self.fields.at("tags");
        tags.refuse_fields();
        match tags.list_or_text().into("/tags") {
            Some(Value::String(list)) if are_too_many(list) => {
                tags.keep(NOT_READ);
                Vec::new()
            }
            Some(Value::String(list)) => {
                list.split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect()
            }
            _ => tags.items().filter_map(|(_, tag)| tag.text().into("/tags")).collect(),
        }
    }

    fn take_character(self) -> Object {
        let mut character = Object::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                character.insert(key.to_owned(), value);
            }
        };
        for &CardText { key: from, to, .. } in TEXTS.iter().filter(|text| text.to.starts_with("/character/"))
        {
            let is_said = |text: &&str| !text.is_empty() && (from != "creator_notes" || *text != NO_NOTES);
            let value = self.take_text(from, to).filter(is_said).map(Value::from);
            put(to.trim_start_matches("/character/"), value);
        }
        for notes in ["creator_notes", "creatorcomment"].map(|name| self.fields.at(name)) {
            if notes.as_str() == Some(NO_NOTES) {
                notes.keep("SillyTavern's text for an empty field");
            }
        }
        let extensions = self.fields.at("extensions");
        extensions.any().equivalent("empty").into("/character");
        extensions.at("world").text().into("/worldbookIds");
        put("depthPrompt", Self::take_note(extensions.at("depth_prompt")));
        let talkativeness = |around: Source<'v>| {
            around.at("talkativeness").number().equivalent(GROUPS).into("/character/talkativeness")
        };
        let otherwise = talkativeness(self.root);
        put("talkativeness", talkativeness(extensions).or(otherwise).map(Value::from));
        let is_favourite = extensions.at("fav").flag().equivalent(FAVOURITE).into("/character/isFavourite");
        put("isFavourite", is_favourite.map(Value::from));
        self.fields.at("group_only_greetings").keep(GROUPS);
        self.fields.at("creation_date").keep(DATES);
        self.fields.at("modification_date").keep(DATES);
        self.fields.at("character_book").list().equivalent("no worldbook").into("/worldbookIds");
        character
    }

    /// Takes the note at a depth as it is.
    fn take_note(note: Source<'v>) -> Option<Value> {
        note.object()?;
        let note = note.lead_to("/character/depthPrompt");
        note.at("prompt").text().into("/prompt");
        note.at("depth").whole(i64::MIN).into("/depth");
        note.at("role").named(&["system", "user", "assistant"]).into("/role");
        note.value().cloned()
    }

    /// Takes the greetings: the first message and alternatives; nothing chooses those for groups.
    fn take_greetings(self) -> Vec<Value> {
        let greeting = |id: String, name: String, text: &str| json!({ "id": id, "name": name, "role": "assistant", "content": text });
        let is_said = |text: &&str| !text.trim().is_empty();
        let first = self.take_text("first_mes", "/greetings/*/content").filter(is_said);
        let first = first.map(|text| greeting("first_mes".to_owned(), "First message".to_owned(), text));
        let mut greetings: Vec<Value> = first.into_iter().collect();
        let others = self.fields.at("alternate_greetings");
        let is_single = others.list_or_text().into("/greetings").is_some_and(Value::is_string);
        let single = is_single.then_some(others).into_iter();
        let texts = single.chain(others.items().map(|(_, item)| item)).filter(|item| item.as_str().is_some());
        for (index, item) in texts.enumerate() {
            let text = item.as_str().filter(is_said);
            if !is_single {
                item.text().into(if text.is_some() { "/greetings/*/content" } else { "/greetings" });
            }
            let (id, number) = (format!("alternate_greeting_{index}"), index + 1);
            greetings.extend(text.map(|text| greeting(id, format!("Alternative {number}"), text)));
        }
        greetings
    }

    /// Takes the files that the card names, in the form of AIO Hub's assets.
    fn take_assets(self) -> Vec<Value> {
        let assets = self.fields.at("assets");
        assets.list().into("/assets");
        let asset = |(index, asset): (usize, Source<'v>)| {
            let asset = asset.lead_to("/assets/*");
            let take = |field: &str, to: &'static str| asset.at(field).text().into(to);
            let name = take("name", "/id").filter(|name| !name.is_empty());
            json!({
                "id": name.map_or_else(|| format!("asset_{index}"), str::to_owned),
                "usage": take("type", "/usage").unwrap_or("other"),
                "path": take("uri", "/path").unwrap_or_default(),
                "extension": take("ext", "/extension").unwrap_or_default(),
            })
        };
        assets.objects().map(asset).collect()
    }

    fn take_scripts(self) -> Option<TakenScripts> {
        let fields = if self.is_layered { "/data" } else { "" };
        let is_within = self.fields.at("extensions/regex_scripts").value().is_some();
        let around = if is_within { "/extensions" } else { "" };
        TakenScripts::take(self.root, &format!("{fields}{around}/regex_scripts"), CARD_RULES)
    }

    /// Takes what stands at the top of a card beside `data`.
    fn take_mirrors(self) {
        if !self.is_layered {
            return;
        }
        let (root, data) = (self.root, self.fields);
        let mirror = |top: Source<'v>, below: Source<'v>, to: &'static str| {
            if top.value() == below.value() { top.equate_all(MIRROR, to) } else { top.keep(UNLIKE_DATA) }
        };
        for (top, below, to) in mirrors() {
            mirror(root.at(top), data.at(below), to);
        }
        let name = root.at("name");
        if data.object().and_then(|data| said(data, "name")).is_none()
            && name.as_str().is_some_and(|name| name.trim().is_empty())
        {
            name.text().into("/name");
        }
        let extension = data.at("extensions/talkativeness");
        if extension.value().and_then(number_of).is_some() {
            mirror(root.at("talkativeness"), extension, "/character/talkativeness");
        }
        mirror(root.at("fav"), data.at("extensions/fav"), "/character/isFavourite");
    }
}

/// Returns the names that a field has in older cards.
fn old_names(key: &str) -> &'static [&'static str] {
    TEXTS.iter().find(|text| text.key == key).map(|text| text.old).unwrap_or_default()
}
