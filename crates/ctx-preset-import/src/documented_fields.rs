//! The tables of fields in `docs/formats.md` are those of the importer.

use std::collections::BTreeSet;
use std::iter;

use crate::formats::lorebook::{AGNAI, NOVELAI, RISU};
use crate::formats::risu;
use crate::formats::sillytavern::parameters::{self, OLD_SAMPLERS, SAMPLERS};
use crate::formats::sillytavern::settings::{Shipped, WORLD_INFO};
use crate::formats::sillytavern::{card, processors, regex_scripts, templates};
use crate::worldbook::card::CARD;
use crate::worldbook::fields::{EntryField, Kind};

#[track_caller]
fn check<const COLUMNS: usize>(head: [&str; COLUMNS], rows: impl Iterator<Item = [String; COLUMNS]>) {
    let mut table = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(COLUMNS));
    for row in rows {
        table = format!("{table}| {} |\n", row.join(" | "));
    }
    #[expect(clippy::disallowed_methods, reason = "the page is not in the package")]
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md")).unwrap();
    assert!(page.contains(&table), "docs/formats.md does not contain:\n{table}");
}

/// Writes fields of one column.
fn cell<'f>(fields: impl IntoIterator<Item = &'f str>) -> String {
    let fields = fields.into_iter().map(|field| format!("`{}`", field.trim_matches('/').replace('/', ".")));
    let fields: Vec<String> = fields.collect();
    if fields.is_empty() { "–".to_owned() } else { fields.join(", ") }
}

#[test]
fn lists_texts_of_cards() {
    let names = |text: &card::CardText| cell(iter::once(text.key).chain(text.old.iter().copied()));
    check(["card", "agent"], card::TEXTS.iter().map(|text| [names(text), cell([text.to])]));
}

#[test]
fn lists_fields_of_worldbook_entries() {
    let formats: [&[EntryField]; 4] = [&CARD, NOVELAI.fields, AGNAI.fields, RISU.fields];
    let formats = formats.map(|fields| {
        let is_read = |field: &&EntryField| !matches!(field.kind, Kind::QuickReply | Kind::Unread);
        fields.iter().filter(is_read).collect::<Vec<_>>()
    });
    let mut seen = BTreeSet::new();
    let ours = formats.iter().flatten().map(|field| field.ours).filter(|ours| seen.insert(*ours));
    let rows = ours.map(|ours| {
        let [card, novelai, agnai, risu] = formats
            .each_ref()
            .map(|fields| cell(fields.iter().filter(|field| field.ours == ours).map(|field| field.theirs)));
        [cell([ours]), card, novelai, agnai, risu]
    });
    check(["worldbook", "card", "NovelAI", "Agnai", "RisuAI"], rows);
}

#[test]
fn lists_fields_of_regex_scripts() {
    let rows = regex_scripts::FIELDS.iter().map(|(theirs, ours)| [cell([*theirs]), cell([*ours])]);
    check(["script", "rule"], rows);
}

#[test]
fn lists_samplers_of_presets() {
    let names = SAMPLERS.iter().map(|(name, _)| *name).chain(["openai_max_context"]);
    let rows = names.map(|name| {
        let place = parameters::place(name);
        let older = OLD_SAMPLERS.iter().filter(|(_, ours)| place.ends_with(&format!("/{ours}")));
        let text = templates::TEXT_SAMPLERS.iter().filter(|(_, chat)| *chat == name);
        let risu = risu::SAMPLERS.iter().filter(|(_, chat, _)| *chat == name);
        [
            cell([&*place]),
            cell([name]),
            cell(older.map(|(theirs, _)| *theirs)),
            cell(text.map(|(theirs, _)| *theirs)),
            cell(risu.map(|(theirs, ..)| *theirs)),
        ]
    });
    check(["agent", "chat completion", "old chat completion", "text completion", "RisuAI"], rows);
}

#[test]
fn lists_texts_of_presets() {
    let rows = processors::TEXTS.iter();
    let rows = rows.map(|(processor, key, field)| [cell([*field]), cell([*processor]), cell([*key])]);
    check(["preset", "processor", "setting"], rows);
}

#[test]
fn lists_world_info_settings() {
    let rows = WORLD_INFO.iter().map(|(theirs, ours, shipped)| {
        let default = match shipped {
            Shipped::Number(number) => number.to_string(),
            Shipped::Flag(flag) => flag.to_string(),
            Shipped::Strategy => "character_first".to_owned(),
        };
        [cell([*theirs]), cell([*ours]), cell([&*default])]
    });
    check(["`settings.json`", "setting", "default"], rows);
}
