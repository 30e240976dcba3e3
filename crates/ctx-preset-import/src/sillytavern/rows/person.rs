//! What becomes of each field of personas and of `settings.json`.

use std::rc::Rc;

use crate::loose::{Object, object, text, whole};
use crate::report::Expect::{Among, Flag, Text, Whole};
use crate::report::{Link, NOT_READ, Rule, RuleSet, approximated, kept, mapped};
use crate::sillytavern::person::Persona;
use crate::sillytavern::preset;
use crate::sillytavern::processors::{WORLD_INFO, WorldInfo};

const ANOTHER: &str = "another persona than the one in use";
const MET: &str = "decided when card and preset meet";
const ITS_OWN: &str = "the persona in use says it itself";
const ANOTHER_PRESET: &str = "a preset was given, which says it";

/// The fields of a persona's description; the entries of the agent say where it stands.
const DESCRIBED: [Rule; 5] = [
    mapped("/description", Text, "/profile/content"),
    mapped("/position", Among(&[0, 1, 2, 3, 4, 9]), "/presetMessages"),
    mapped("/depth", Whole(0), "/presetMessages"),
    mapped("/role", Among(&[0, 1, 2]), "/presetMessages"),
    mapped("/lorebook", Text, "/profile/worldbookIds"),
];

/// The same of a description that has no position of its own at a depth.
const NO_DEPTH: [Rule; 2] =
    [kept("/depth", "the persona stands at no depth"), kept("/role", "the persona stands at no depth")];

/// Returns the rules for a backup of personas.
pub(crate) fn of_personas(file: &Object) -> RuleSet {
    let mut rules = RuleSet::default();
    personas(file, Persona::avatar(file), &mut rules);
    rules.add([approximated("/default_persona", "/profile", "the persona that is read")]);
    rules
}

fn personas(file: &Object, avatar: Option<&str>, rules: &mut RuleSet) {
    let is_named = avatar.and_then(|id| text(object(file, "personas")?, id)).is_some();
    if let Some(avatar) = avatar {
        let name = if is_named { mapped("", Text, "/profile/name") } else { kept("", NOT_READ) };
        rules.single("/personas", avatar, name);
        let entry = object(file, "persona_descriptions").and_then(|all| object(all, avatar));
        if let Some(entry) = entry {
            let position = whole(entry, "position").or_else(|| whole(file, "persona_description_position"));
            let mut set = RuleSet::default();
            if position != Some(4) {
                set.add(NO_DEPTH);
            }
            set.add(DESCRIBED);
            rules.link("/persona_descriptions", avatar, Link::new(&Rc::new(set), ""));
        }
    }
    rules.add([kept("/personas/**", ANOTHER), kept("/persona_descriptions/**", ANOTHER)]);
}

/// Returns the rules for `settings.json`.
pub(crate) fn of_settings(file: &Object) -> RuleSet {
    let mut rules = RuleSet::default();
    if let Some(power) = object(file, "power_user") {
        let set = power_user(power, Persona::avatar(file));
        rules.link("", "power_user", Link::new(&Rc::new(set), ""));
    }
    let is_named = Persona::avatar(file)
        .and_then(|id| text(object(object(file, "power_user").unwrap_or(file), "personas")?, id));
    if is_named.is_some() {
        rules.add([kept("/username", ITS_OWN)]);
    }
    world_info(file, &mut rules);
    let global = object(file, "extension_settings").and_then(|all| all.get("regex"));
    if let Some(list) = global.filter(|list| list.is_array()) {
        rules.link("/extension_settings", "regex", Link::of_scripts(list));
    }
    if preset::in_use(file).is_some() {
        rules.add([kept("/oai_settings/**", ANOTHER_PRESET)]);
    }
    rules.add([
        mapped("/username", Text, "/profile/name"),
        approximated("/user_avatar", "/profile", "the persona that is read"),
        mapped(
            "/extension_settings/note/defaultInterval",
            Whole(0),
            "/parameters/processors/author-note/config/interval",
        ),
        mapped(
            "/extension_settings/note/defaultDepth",
            Whole(0),
            "/parameters/processors/author-note/config/depth",
        ),
    ]);
    rules
}

fn power_user(power: &Object, avatar: Option<&str>) -> RuleSet {
    let mut rules = RuleSet::default();
    personas(power, avatar, &mut rules);
    let entry = avatar.and_then(|id| object(object(power, "persona_descriptions")?, id));
    let has = |key: &str| entry.is_some_and(|entry| whole(entry, key).is_some());
    let place = entry.and_then(|entry| whole(entry, "position"));
    let place = place.or_else(|| whole(power, "persona_description_position"));
    let is_described = entry.is_some_and(|entry| text(entry, "description").is_some());
    let mut say = |key: &'static str, counts: bool, rule: Rule| {
        rules.field("", key, if counts { rule } else { kept("", ITS_OWN) });
    };
    say("persona_description", !is_described, mapped("", Text, "/profile/content"));
    let position = mapped("", Among(&[0, 1, 2, 3, 4, 9]), "/presetMessages");
    say("persona_description_position", !has("position"), position);
    let is_deep = place == Some(4);
    say("persona_description_depth", is_deep && !has("depth"), mapped("", Whole(0), "/presetMessages"));
    say(
        "persona_description_role",
        is_deep && !has("role"),
        mapped("", Among(&[0, 1, 2]), "/presetMessages"),
    );
    rules.add([
        approximated("/prefer_character_prompt", "/presetMessages", MET).of(Flag),
        approximated("/prefer_character_jailbreak", "/presetMessages", MET).of(Flag),
        approximated("/default_persona", "/profile", "the persona that is read"),
    ]);
    rules
}

fn world_info(file: &Object, rules: &mut RuleSet) {
    let parent = if object(file, "world_info_settings").is_some() { "/world_info_settings" } else { "" };
    for (theirs, ours, kind) in WORLD_INFO {
        let expect = match kind {
            WorldInfo::Number(_) => Whole(0),
            WorldInfo::Flag(_) => Flag,
            WorldInfo::Strategy => Among(&[0, 1, 2]),
        };
        let set = Rc::new(RuleSet::new([mapped("", expect, ours)]));
        rules.link(parent, theirs, Link::new(&set, "/parameters/processors/worldbook-processor/config"));
    }
}
