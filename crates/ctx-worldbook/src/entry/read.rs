use std::sync::Arc;

use ctx_types::worldbook::{EntryFilter, EntryPosition, Flag, Numeric, WorldbookEntry};
use ctx_types::{Order, Persist as _};

use super::{CharacterFilter, Destination, Entry, Timing};
use crate::book::Dialect;
use crate::decorators::{DecoratedContent, IdleDecorator};
use crate::fingerprint;
use crate::source::{Source, SourceSet};

/// SillyTavern's default depth.
const DEFAULT_DEPTH: u64 = 4;

impl Entry {
    pub(crate) fn read(key: &str, noun: &WorldbookEntry, dialect: Dialect) -> (Self, Vec<IdleDecorator>) {
        let is = |flag: Option<Flag>| flag.is_some_and(|flag| flag.0);
        let maybe = |flag: Option<Flag>| flag.map(|flag| flag.0);
        let decorated = DecoratedContent::read(noun.content.as_ref(), dialect);
        let mut entry = Self {
            uid: noun.uid_under(key),
            key: key.into(),
            title: title(noun),
            content: decorated.content.clone(),
            content_start: noun.content.as_ref().map_or(0, |whole| whole.len() - decorated.content.len()),
            keys: noun.key.to_vec(),
            secondary_keys: noun.keysecondary.to_vec(),
            logic: noun.selective_logic.unwrap_or_default(),
            is_selective: noun.selective.is_none_or(|flag| flag.0),
            is_enabled: !is(noun.disable) && !noun.is_malformed(),
            is_constant: is(noun.constant),
            is_vectorized: is(noun.vectorized),
            order: noun.order.map_or(Order::DEFAULT, |order| Order(order.0)),
            destination: destination(noun),
            role: noun.role.map(|role| role.0),
            ignores_budget: is(noun.ignore_budget),
            is_excluded_from_recursion: is(noun.exclude_recursion),
            prevents_recursion: is(noun.prevent_recursion),
            recursion_level: recursion_level(noun),
            probability: probability(noun),
            group: noun.group.clone().unwrap_or_default(),
            wins_group: is(noun.group_override),
            group_weight: noun.group_weight.map_or(100.0, |weight| weight.0),
            use_group_scoring: maybe(noun.use_group_scoring),
            scan_depth: noun.scan_depth.map(|depth| to_integer(depth.0)),
            case_sensitive: maybe(noun.case_sensitive),
            match_whole_words: maybe(noun.match_whole_words),
            timing: Timing {
                sticky: count(noun.sticky),
                cooldown: count(noun.cooldown),
                delay: count(noun.delay),
            },
            sources: sources(noun),
            filter: noun.character_filter.as_ref().map(filter),
            triggers: noun.triggers.to_vec(),
            forced: None,
            conditions: Vec::new(),
            fingerprint: 0,
        };
        let idle = decorated.apply_to(&mut entry);
        if entry.timing.lasts() {
            entry.fingerprint = fingerprint::hash_value(&noun.write());
        }
        (entry, idle)
    }
}

fn title(noun: &WorldbookEntry) -> Option<Arc<str>> {
    let title = noun.comment.as_deref().map(str::trim).filter(|title| !title.is_empty());
    title.map(Arc::from)
}

fn destination(noun: &WorldbookEntry) -> Destination {
    match noun.position.unwrap_or_default() {
        EntryPosition::BeforeCharacter => Destination::BeforeCharacter,
        EntryPosition::AfterCharacter => Destination::AfterCharacter,
        EntryPosition::NoteTop => Destination::NoteTop,
        EntryPosition::NoteBottom => Destination::NoteBottom,
        EntryPosition::AtDepth => {
            Destination::Depth(noun.depth.map_or(DEFAULT_DEPTH, |depth| at_least_0(depth.0)))
        }
        EntryPosition::ExamplesTop => Destination::ExamplesTop,
        EntryPosition::ExamplesBottom => Destination::ExamplesBottom,
        EntryPosition::Outlet => Destination::Outlet(noun.outlet_name.clone().unwrap_or_default()),
    }
}

/// A probability of 100 takes no random value.
fn probability(noun: &WorldbookEntry) -> Option<f64> {
    let is_used = noun.use_probability.is_none_or(|flag| flag.0);
    let probability = noun.probability.map_or(100.0, |probability| probability.0);
    #[expect(clippy::float_cmp, reason = "files contain exactly 100")]
    let is_asked = is_used && probability != 100.0;
    is_asked.then_some(probability)
}

/// `delayUntilRecursionLevel` applies only if `delayUntilRecursion` is on.
fn recursion_level(noun: &WorldbookEntry) -> u32 {
    let level = noun.delay_until_recursion.map_or(0, |delay| delay.0);
    let beside = noun.delay_until_recursion_level.map_or(0, |level| at_least_0(level.0));
    if level == 1 && beside > 1 { u32::try_from(beside).unwrap_or(u32::MAX) } else { level }
}

fn sources(noun: &WorldbookEntry) -> SourceSet {
    let flags = [
        (noun.match_persona_description, Source::Persona),
        (noun.match_character_description, Source::Description),
        (noun.match_character_personality, Source::Personality),
        (noun.match_character_depth_prompt, Source::DepthPrompt),
        (noun.match_scenario, Source::Scenario),
        (noun.match_creator_notes, Source::CreatorNotes),
    ];
    let on = flags.into_iter().filter(|(flag, _)| flag.is_some_and(|flag| flag.0));
    on.map(|(_, source)| source).collect()
}

fn filter(noun: &EntryFilter) -> CharacterFilter {
    CharacterFilter {
        is_exclude: noun.is_exclude.is_some_and(|flag| flag.0),
        names: noun.names.to_vec(),
        tags: noun.tags.to_vec(),
    }
}

fn count(number: Option<Numeric>) -> u64 {
    number.map_or(0, |number| at_least_0(number.0))
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn to_integer(number: f64) -> i64 {
    number as i64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn at_least_0(number: f64) -> u64 {
    number as u64
}
