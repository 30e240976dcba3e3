//! What becomes of each field of character cards.

use std::rc::Rc;

use serde_json::Value;

use super::scripts;
use crate::loose::{Object, object, said, text};
use crate::report::Expect::{Flag, List, Named, Number, Text, Texts, Whole};
use crate::report::{Link, Rule, RuleSet, approximated, kept, mapped};
use crate::sillytavern::card::{Card, MIRRORS, NO_NOTES, OLD_NAMES};
use crate::worldbook;

const CREATOR: &str = "a field of its own; nothing shows it to the model";
const MIRROR: &str = "older readers look here; `data` says the same";
const UNLIKE_DATA: &str = "`data` counts, which says something else";
const GROUPS: &str = "there are no groups";
const DATES: &str = "nothing reads it";

const SPEC: [Rule; 2] =
    [kept("/spec", "tells what the file is"), kept("/spec_version", "tells what the file is")];

/// The fields that mean the same in each card.
const FIELDS: [Rule; 24] = [
    mapped("/name", Text, "/name"),
    mapped("/description", Text, "/character/description"),
    mapped("/personality", Text, "/character/personality"),
    mapped("/scenario", Text, "/character/scenario"),
    mapped("/first_mes", Text, "/greetings/0/content"),
    mapped("/mes_example", Text, "/character/examples"),
    mapped("/creator_notes", Text, "/character/creatorNotes"),
    mapped("/system_prompt", Text, "/character/systemPrompt"),
    mapped("/post_history_instructions", Text, "/character/postHistory"),
    mapped("/alternate_greetings", Texts, "/greetings"),
    mapped("/tags/*", Text, "/tags"),
    mapped("/tags", Texts, "/tags"),
    approximated("/creator", "/creator", CREATOR).of(Text),
    mapped("/character_version", Text, "/character/version"),
    mapped("/nickname", Text, "/character/nickname"),
    mapped("/assets", List, "/assets"),
    approximated("/character_book", "/worldbookIds", "there is no book").of(List),
    approximated("/extensions", "/character", "there is nothing in it"),
    mapped("/extensions/world", Text, "/worldbookIds"),
    approximated("/extensions/talkativeness", "/character/talkativeness", GROUPS).of(Number),
    approximated("/extensions/fav", "/character/isFavourite", "for people; nothing sorts by it").of(Flag),
    kept("/group_only_greetings/**", GROUPS),
    kept("/creation_date", DATES),
    kept("/modification_date", DATES),
];

const NOTE: [Rule; 3] = [
    mapped("/prompt", Text, "/prompt"),
    mapped("/depth", Whole(i64::MIN), "/depth"),
    mapped("/role", Named(&["system", "user", "assistant"]), "/role"),
];

const ASSET: [Rule; 4] = [
    mapped("/type", Text, "/usage"),
    mapped("/uri", Text, "/path"),
    mapped("/name", Text, "/id"),
    mapped("/ext", Text, "/extension"),
];

/// Returns the rules for a card, whose book goes to a place.
pub(crate) fn of(root: &Object, book: &str, is_v3: bool) -> RuleSet {
    let Some(data) = object(root, "data") else {
        let mut rules = fields(root, book, is_v3);
        rules.add(SPEC);
        rules.add([approximated("/talkativeness", "/character/talkativeness", GROUPS).of(Number)]);
        return rules;
    };
    let mut rules = RuleSet::new(SPEC);
    mirrors(root, data, &mut rules);
    rules.link("", "data", Link::new(&Rc::new(fields(data, book, is_v3)), ""));
    rules
}

/// Rules for what stands at the top of a card beside `data`.
fn mirrors(root: &Object, data: &Object, rules: &mut RuleSet) {
    for (top, below) in MIRRORS {
        let is_same = root.contains_key(top) && root.get(top) == data.get(below);
        let to = FIELDS.iter().find(|rule| rule.field() == below).map_or("", |rule| rule.to());
        rules.single("", top, if is_same { approximated("", to, MIRROR) } else { kept("", UNLIKE_DATA) });
    }
    if said(data, "name").is_none() && text(root, "name").is_some_and(|name| name.trim().is_empty()) {
        rules.single("", "name", mapped("", Text, "/name"));
    }
    let extension = |key: &str| object(data, "extensions").and_then(|all| all.get(key));
    let is_same = |key: &str| root.contains_key(key) && extension(key) == root.get(key);
    let talkativeness = match extension("talkativeness").and_then(crate::loose::number_of) {
        None => approximated("", "/character/talkativeness", GROUPS).of(Number),
        Some(_) if is_same("talkativeness") => approximated("", "/character/talkativeness", MIRROR),
        Some(_) => kept("", UNLIKE_DATA),
    };
    rules.single("", "talkativeness", talkativeness);
    let fav = if is_same("fav") {
        approximated("", "/character/isFavourite", MIRROR)
    } else {
        kept("", UNLIKE_DATA)
    };
    rules.single("", "fav", fav);
}

/// Rules for the fields of a card, wherever its version has them.
fn fields(fields: &Object, book: &str, is_v3: bool) -> RuleSet {
    let mut rules = RuleSet::default();
    for name in ["creator_notes", "creatorcomment"] {
        if text(fields, name) == Some(NO_NOTES) {
            rules.field("", name, kept("", "what an empty field says in SillyTavern"));
        }
    }
    old_names(fields, &mut rules);
    greetings(fields, &mut rules);
    extensions(fields, &mut rules);
    let assets = Rc::new(RuleSet::new(ASSET));
    for (number, (index, _)) in crate::loose::objects(fields, "assets").enumerate() {
        rules.link("/assets", index.to_string(), Link::new(&assets, format!("/assets/{number}")));
    }
    if let Some(own) = object(fields, "character_book").filter(|own| worldbook::has_entries(own)) {
        let set = Rc::new(worldbook::of_card_book(own, book, is_v3));
        rules.link("", "character_book", Link::new(&set, book).keeping_at(book));
    }
    rules.add(FIELDS);
    rules
}

/// Of a field and its older names the first that is a text counts.
fn old_names(fields: &Object, rules: &mut RuleSet) {
    const OTHER: &str = "another field of the card says it";
    for (name, old) in OLD_NAMES {
        let given = std::iter::once(&name).chain(old).find(|name| text(fields, name).is_some());
        let to = FIELDS.iter().find(|rule| rule.field() == name).map_or("", |rule| rule.to());
        for older in old {
            let counts = given.is_none_or(|given| given == older);
            rules.field("", older, if counts { mapped("", Text, to) } else { kept("", OTHER) });
        }
    }
}

fn greetings(fields: &Object, rules: &mut RuleSet) {
    let first = Card::of(fields).text("first_mes").is_some_and(|text| !text.trim().is_empty());
    let mut number = usize::from(first);
    let texts = fields.get("alternate_greetings").and_then(Value::as_array).into_iter().flatten();
    for (index, greeting) in texts.enumerate() {
        let Some(text) = greeting.as_str() else { continue };
        let is_said = !text.trim().is_empty();
        let to = if is_said { format!("/greetings/{number}/content") } else { "/greetings".to_owned() };
        number += usize::from(is_said);
        let set = Rc::new(RuleSet::new([mapped("", Text, "")]));
        rules.link("/alternate_greetings", index.to_string(), Link::new(&set, to));
    }
}

fn extensions(fields: &Object, rules: &mut RuleSet) {
    let all = object(fields, "extensions");
    if all.is_some_and(|all| object(all, "depth_prompt").is_some()) {
        let note = Rc::new(RuleSet::new(NOTE));
        rules.link("/extensions", "depth_prompt", Link::new(&note, "/character/depthPrompt"));
    }
    match all.and_then(|all| all.get("regex_scripts")) {
        Some(list) if list.is_array() => rules.link("/extensions", "regex_scripts", scripts::of_list(list)),
        Some(_) => {}
        None => {
            if let Some(list) = fields.get("regex_scripts").filter(|list| list.is_array()) {
                rules.link("", "regex_scripts", scripts::of_list(list));
            }
        }
    }
}
