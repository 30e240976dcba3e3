//! Finds text that changes every turn. Providers cache a request by prefix, byte for byte.

use std::collections::{BTreeMap, HashMap};

use ctx_anchors::{Entry, EntryPart, Preset};
use ctx_macros::{Dialect, Registry, Template, VolatileVariables};
use ctx_tokens::estimate;
use ctx_types::{
    Content, ContentPart, Diagnostic, EntryFilter, EntryPosition, Flag, LoadedWorldbook, Order, Placement,
    Role, Side, Span, Text, WorldbookEntry, count_of, phrase, pointer_step,
};

use crate::codes;

#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) dialect: Dialect,
    /// System messages below the conversation are moved above it.
    pub(crate) is_merging: bool,
    /// `$[name]` reads a session variable.
    pub(crate) has_session_variables: bool,
}

/// Finds volatile macros, readers of variables set from them, and session variables above stable text.
///
/// At most one diagnostic per entry. Ignores entries at or below the end of the conversation. `variables`
/// contains the effects of card texts. O(bytes of the preset).
pub(crate) fn breakers(
    preset: &Preset,
    macros: &Registry,
    conditions: Conditions,
    variables: VolatileVariables,
) -> Vec<Diagnostic> {
    let is_merging = conditions.is_merging;
    let volatile = volatile(preset, macros, conditions, variables);
    let pieces = head(preset, is_merging);
    // Tokens of each text plus all texts below it.
    let mut below: Vec<u32> = pieces.iter().map(|piece| estimate(piece.text)).collect();
    for place in (1..below.len()).rev() {
        below[place - 1] = below[place - 1].saturating_add(below[place]);
    }
    let mut found = Vec::new();
    let mut reported = None;
    for (place, piece) in pieces.iter().enumerate() {
        let Some((name, span)) = volatile.get(&(piece.entry.index, piece.part)) else { continue };
        if reported.replace(piece.entry.index) == Some(piece.entry.index) {
            continue;
        }
        let rest = piece.text.get(span.end..).unwrap_or_default();
        let tokens = estimate(rest).saturating_add(below.get(place + 1).copied().unwrap_or_default());
        found.push(finding(piece, name, *span, tokens, is_merging));
    }
    found
}

/// Checks entries that are always active above the conversation, and records the variables they set.
pub(crate) fn book_diagnostics<'b>(
    books: impl Iterator<Item = &'b LoadedWorldbook>,
    macros: &Registry,
    dialect: Dialect,
    variables: &mut VolatileVariables,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for book in books {
        for (key, entry) in book.book.entries.in_order().filter(|(_, entry)| is_always_above(entry)) {
            let Some(text) = &entry.content else { continue };
            let template = Template::parse(text, dialect, macros);
            if let Some(used) = template.volatile_macros(variables).first() {
                let pointer = format!("/entries/{}/content", pointer_step(key));
                found.push(
                    entry_diagnostic(used.name)
                        .at_pointer(pointer)
                        .at_span(used.span)
                        .in_document(&*book.name),
                );
            }
        }
    }
    found
}

fn is_always_above(entry: &WorldbookEntry) -> bool {
    let is = |flag: Option<Flag>| flag.is_some_and(|flag| flag.0);
    let position = entry.position.unwrap_or_default();
    let is_above = matches!(
        position,
        EntryPosition::BeforeCharacter
            | EntryPosition::AfterCharacter
            | EntryPosition::ExamplesTop
            | EntryPosition::ExamplesBottom
    );
    is(entry.constant) && !is(entry.disable) && is_above && is_unconditional(entry)
}

/// A decorator may also move an entry.
fn is_unconditional(entry: &WorldbookEntry) -> bool {
    let is_drawn = entry.use_probability.is_none_or(|flag| flag.0);
    let is_certain = !is_drawn || entry.probability.is_none_or(|percent| percent.0 >= 100.0);
    let waits = entry.delay.is_some_and(|messages| messages.0 > 0.0)
        || entry.delay_until_recursion.is_some_and(|level| level.0 > 0);
    let is_alone = entry.group.as_deref().is_none_or(|group| group.trim().is_empty());
    let filters = |filter: &EntryFilter| !filter.names.is_empty() || !filter.tags.is_empty();
    let is_for_all = !entry.character_filter.as_ref().is_some_and(filters) && entry.triggers.is_empty();
    let is_decorated = entry.content.as_ref().is_some_and(|text| text.trim_start().starts_with("@@"));
    is_certain && !waits && is_alone && is_for_all && !is_decorated
}

fn entry_diagnostic(name: &str) -> Diagnostic {
    let message = phrase!(
        "`{name}` changes every turn in a constant entry: everything below it misses the prompt cache",
        name
    );
    let help = phrase!("move it to a separate entry in the conversation: `position` 4, `depth` 0");
    Diagnostic::warning(codes::CACHE_BREAKER, message).with_help(help)
}

type Volatile = BTreeMap<(usize, Option<usize>), (String, Span)>;

/// Expansion order is list order.
fn volatile(
    preset: &Preset,
    macros: &Registry,
    conditions: Conditions,
    mut variables: VolatileVariables,
) -> Volatile {
    let mut found = BTreeMap::new();
    let is_on = |entry: &&Entry| entry.has_own_content() && entry.off_reason().is_none();
    for piece in preset.entries().iter().filter(is_on).flat_map(texts) {
        let template = Template::parse(piece.text, conditions.dialect, macros);
        let used = template.volatile_macros(&mut variables);
        let used = used.first().map(|used| (used.name.to_owned(), used.span));
        let shown = session_variable(piece.text).filter(|_| conditions.has_session_variables);
        if let Some(first) = used.into_iter().chain(shown).min_by_key(|(_, span)| span.start) {
            found.insert((piece.entry.index, piece.part), first);
        }
    }
    found
}

fn session_variable(text: &str) -> Option<(String, Span)> {
    let mut pieces = text.split("$[");
    let mut start = pieces.next()?.len();
    for piece in pieces {
        let end = piece.find([']', '\n']).filter(|end| *end > 0);
        if let Some(end) = end.filter(|end| piece.as_bytes()[*end] == b']') {
            let span = Span::new(start, start + "$[".len() + end + 1);
            return text.get(span.start..span.end).map(|name| (name.to_owned(), span));
        }
        start += "$[".len() + piece.len();
    }
    None
}

struct PrefixText<'a> {
    entry: &'a Entry,
    part: Option<usize>,
    text: &'a Text,
}

fn head(preset: &Preset, is_merging: bool) -> Vec<PrefixText<'_>> {
    let history = preset.entries().iter().position(|entry| entry.part == EntryPart::History);
    let anchors = preset.entries().iter().enumerate();
    let anchors = anchors.rev().filter_map(|(place, entry)| Some((entry.anchor()?, place)));
    // Reversed: the first of 2 entries with the same anchor is used.
    let anchors: HashMap<&str, usize> = anchors.collect();
    let end = (history.unwrap_or(preset.entries().len()), EntryOffset::Itself);
    let is_sent = |entry: &&Entry| entry.has_own_content() && entry.off_reason().is_none();
    let placed = preset.entries().iter().enumerate().filter(|(_, entry)| is_sent(entry));
    let placed = placed.filter_map(|(place, entry)| {
        let stands = entry_position(&anchors, history, place, entry)?;
        let is_moved = is_merging && entry.role == Role::System && !is_counted(entry);
        let is_above = is_moved || (stands.0, stands.1) < end;
        is_above.then_some(((!is_moved, stands), entry))
    });
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().flat_map(|(_, entry)| texts(entry)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EntryOffset {
    Before,
    Itself,
    After,
}

/// `None` at the end of the conversation, or next to an anchor outside the list.
fn entry_position(
    anchors: &HashMap<&str, usize>,
    history: Option<usize>,
    place: usize,
    entry: &Entry,
) -> Option<(usize, EntryOffset, Order)> {
    let position = |anchor: &str| anchors.get(anchor).copied();
    match &entry.placement {
        Placement::InOrder => Some((place, EntryOffset::Itself, Order::DEFAULT)),
        Placement::Anchor { target, side: Side::Before, order } => {
            Some((position(target)?, EntryOffset::Before, *order))
        }
        Placement::Anchor { target, side: Side::After, order } => {
            Some((position(target)?, EntryOffset::After, *order))
        }
        // Among the oldest messages, which do not change.
        Placement::Index { at: 0.., order } => Some((history?, EntryOffset::Before, *order)),
        Placement::Index { .. } | Placement::Depth { .. } => None,
    }
}

/// The merge does not move these entries.
const fn is_counted(entry: &Entry) -> bool {
    matches!(entry.placement, Placement::Index { .. } | Placement::Depth { .. })
}

fn texts(entry: &Entry) -> Vec<PrefixText<'_>> {
    match &entry.content {
        Content::Text(text) => vec![PrefixText { entry, part: None, text }],
        Content::Parts(parts) => {
            let texts = parts.iter().enumerate().filter_map(|(part, content)| match content {
                ContentPart::Text(text) => Some(PrefixText { entry, part: Some(part), text }),
                ContentPart::Other(_) => None,
            });
            texts.collect()
        }
    }
}

fn finding(piece: &PrefixText<'_>, name: &str, span: Span, below: u32, is_merging: bool) -> Diagnostic {
    let message = match below {
        0 => phrase!("`{name}` changes every turn: the whole conversation misses the prompt cache", name),
        _ => phrase!(
            "`{name}` changes every turn: about {tokens} of the preset and the whole conversation miss the prompt cache",
            name,
            tokens = count_of!(below, "token")
        ),
    };
    let help = if is_merging && piece.entry.role == Role::System {
        phrase!(
            "move it to a separate entry below the conversation: `injectionStrategy: {{type: depth, depth: 0}}`"
        )
    } else {
        phrase!("move it to a separate entry below `chat_history`")
    };
    let index = piece.entry.index;
    let pointer = match piece.part {
        None => format!("/presetMessages/{index}/content"),
        Some(part) => format!("/presetMessages/{index}/content/{part}/text"),
    };
    Diagnostic::warning(codes::CACHE_BREAKER, message).at_pointer(pointer).at_span(span).with_help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = session_variable(text);
        assert_eq!(found.as_ref().map(|(name, _)| &**name), expected, "{text:?}");
        if let Some((name, span)) = found {
            assert_eq!(text[span.start..span.end], *name);
        }
    }

    #[test]
    fn finds_first_session_variable() {
        check("a $[hp] $[mp]", Some("$[hp]"));
        check("$[] $[a\nb] $[界]", Some("$[界]"));
        check("$[a $[hp]", Some("$[hp]"));
        check("$[", None);
        check(&"$[".repeat(500_000), None);
    }
}
