//! Character cards: versions 1 to 3, Pygmalion's, and the YAML of text-generation-webui.

use ctx_types::{Diagnostic, Reader};
use serde_json::{Value, json};

use super::role;
use crate::loose::{Object, flag, number, object, objects, said, text, texts, whole};

/// A card, whichever version it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card<'v> {
    root: &'v Object,
    /// The part that counts since version 2.
    data: Option<&'v Object>,
}

/// The names that fields have in older cards.
pub(crate) const OLD_NAMES: [(&str, &[&str]); 7] = [
    ("name", &["char_name"]),
    ("description", &["char_persona", "context"]),
    ("first_mes", &["char_greeting", "greeting"]),
    ("mes_example", &["example_dialogue"]),
    ("scenario", &["world_scenario"]),
    ("creator_notes", &["creatorcomment"]),
    ("character_version", &["version"]),
];

/// What `SillyTavern` writes at the top of a card too, by its name there and below `data`.
pub(crate) const MIRRORS: [(&str, &str); 8] = [
    ("name", "name"),
    ("description", "description"),
    ("personality", "personality"),
    ("scenario", "scenario"),
    ("first_mes", "first_mes"),
    ("mes_example", "mes_example"),
    ("creatorcomment", "creator_notes"),
    ("tags", "tags"),
];

/// How many tags a comma list may hold: a text of a few megabytes would become a list of gigabytes.
const MOST_TAGS: usize = 1_000;

/// What an empty field of notes says in `SillyTavern`, which takes it away.
pub(crate) const NO_NOTES: &str = "Creator's notes go here.";

fn are_too_many(tags: &str) -> bool {
    tags.bytes().filter(|byte| *byte == b',').count() >= MOST_TAGS
}

impl<'v> Card<'v> {
    pub(crate) fn of(root: &'v Object) -> Self {
        Self { root, data: object(root, "data") }
    }

    fn fields(self) -> &'v Object {
        self.data.unwrap_or(self.root)
    }

    /// Returns a text of the card; in an older one also under its old name.
    pub(crate) fn text(self, key: &str) -> Option<&'v str> {
        let old = OLD_NAMES.iter().find(|(name, _)| *name == key).map(|(_, old)| *old).unwrap_or_default();
        let fields = self.fields();
        text(fields, key).or_else(|| old.iter().find_map(|name| text(fields, name)))
    }

    fn said(self, key: &str) -> Option<&'v str> {
        self.text(key).filter(|text| !text.trim().is_empty())
    }

    pub(crate) fn name(self) -> Option<&'v str> {
        self.said("name").or_else(|| said(self.root, "name"))
    }

    pub(crate) fn system_prompt(self) -> Option<&'v str> {
        self.said("system_prompt")
    }

    pub(crate) fn post_history(self) -> Option<&'v str> {
        self.said("post_history_instructions")
    }

    fn extensions(self) -> Option<&'v Object> {
        object(self.fields(), "extensions")
    }

    /// Returns the scripts that the card brings, and where they stand in it.
    pub(crate) fn scripts(self) -> Option<(&'static str, &'v Value)> {
        let inside = self.extensions().and_then(|extensions| extensions.get("regex_scripts"));
        let places = ["/data/extensions/regex_scripts", "/data/regex_scripts"];
        let places =
            if self.data.is_some() { places } else { ["/extensions/regex_scripts", "/regex_scripts"] };
        let [within, beside] = places;
        let found = inside.map(|list| (within, list));
        let found = found.or_else(|| Some((beside, self.fields().get("regex_scripts")?)));
        found.filter(|(_, list)| list.is_array())
    }

    /// Returns the name of the book that the card is linked with.
    pub(crate) fn world(self) -> Option<&'v str> {
        said(self.extensions()?, "world")
    }

    /// Returns the note at a depth: its text, depth and role.
    pub(crate) fn depth_prompt(self) -> Option<(&'v str, i64, &'static str)> {
        let note = object(self.extensions()?, "depth_prompt")?;
        let prompt = said(note, "prompt")?;
        let (depth, role) = Self::note_place(note);
        Some((prompt, depth, role))
    }

    /// Returns the depth of a note, and who speaks it.
    pub(crate) fn note_place(note: &Object) -> (i64, &'static str) {
        (whole(note, "depth").unwrap_or(4), role(text(note, "role")))
    }

    /// Returns the tags, also those of a comma list, unless it has more than may be.
    fn tags(self) -> Vec<&'v str> {
        match self.fields().get("tags") {
            Some(Value::String(tags)) if are_too_many(tags) => Vec::new(),
            Some(Value::String(tags)) => {
                tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect()
            }
            _ => texts(self.fields(), "tags"),
        }
    }

    /// Reports a comma list of more tags than may be; they stay in the card.
    pub(crate) fn check_tags(self) -> Vec<Diagnostic> {
        let mut reader = Reader::new();
        let check = |reader: &mut Reader| {
            let tags = self.fields().get("tags");
            if let Some(tags) = tags.filter(|tags| tags.as_str().is_some_and(are_too_many)) {
                reader.wrong_type(&format!("a list, or a text of at most {MOST_TAGS} tags"), tags);
            }
        };
        match self.data {
            Some(_) => reader.at_key("data", |reader| reader.at_key("tags", check)),
            None => reader.at_key("tags", check),
        }
        reader.finish()
    }

    /// Writes what the card says of the character into an agent.
    pub(crate) fn write(self, agent: &mut Object) {
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                agent.insert(key.to_owned(), value);
            }
        };
        put("name", self.name().map(Value::from));
        put("tags", Some(self.tags()).filter(|tags| !tags.is_empty()).map(|tags| json!(tags)));
        put("creator", self.said("creator").map(Value::from));
        put("character", Some(Value::Object(self.character())));
        put("greetings", Some(self.greetings()).filter(|list| !list.is_empty()).map(Value::Array));
        put("assets", Some(self.assets()).filter(|list| !list.is_empty()).map(Value::Array));
    }

    fn character(self) -> Object {
        let texts = [
            ("description", "description"),
            ("personality", "personality"),
            ("scenario", "scenario"),
            ("mes_example", "examples"),
            ("system_prompt", "systemPrompt"),
            ("post_history_instructions", "postHistory"),
            ("creator_notes", "creatorNotes"),
            ("character_version", "version"),
            ("nickname", "nickname"),
        ];
        let mut character = Object::new();
        for (from, to) in texts {
            let is_said = |text: &&str| !text.is_empty() && (from != "creator_notes" || *text != NO_NOTES);
            let value = self.text(from).filter(is_said);
            character.extend(value.map(|text| (to.to_owned(), Value::from(text))));
        }
        let depth_prompt = self.extensions().and_then(|extensions| extensions.get("depth_prompt"));
        let extras = [
            ("depthPrompt", depth_prompt.filter(|note| note.is_object()).cloned()),
            ("talkativeness", self.extension_number("talkativeness").map(Value::from)),
            ("isFavourite", self.extensions().and_then(|all| flag(all, "fav")).map(Value::from)),
        ];
        character.extend(extras.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        character
    }

    fn extension_number(self, key: &str) -> Option<f64> {
        self.extensions().and_then(|all| number(all, key)).or_else(|| number(self.root, key))
    }

    /// Returns the greetings: the first message, alternatives, and those for groups, which nothing chooses.
    fn greetings(self) -> Vec<Value> {
        let first =
            self.said("first_mes").map(|text| ("first_mes".to_owned(), "First message".to_owned(), text));
        let others = texts(self.fields(), "alternate_greetings").into_iter().enumerate();
        let others = others.filter(|(_, text)| !text.trim().is_empty()).map(|(index, text)| {
            (format!("alternate_greeting_{index}"), format!("Alternative {}", index + 1), text)
        });
        let all = first.into_iter().chain(others);
        all.map(|(id, name, text)| json!({ "id": id, "name": name, "role": "assistant", "content": text }))
            .collect()
    }

    /// Returns the files that the card names, in the form of AIO Hub's assets.
    fn assets(self) -> Vec<Value> {
        let asset = |(index, asset): (usize, &Object)| {
            let name = text(asset, "name").filter(|name| !name.is_empty());
            let id = name.map_or_else(|| format!("asset_{index}"), str::to_owned);
            json!({
                "id": id,
                "usage": text(asset, "type").unwrap_or("other"),
                "path": text(asset, "uri").unwrap_or_default(),
                "extension": text(asset, "ext").unwrap_or_default(),
            })
        };
        objects(self.fields(), "assets").map(asset).collect()
    }
}
