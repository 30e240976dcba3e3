//! Finds text that changes every turn. Providers cache a request by prefix, byte for byte.
//!
//! Compares the entries above the conversation in sample turns.

use std::collections::HashMap;

use ctx_macros::internal::MacroUse;
use ctx_processors::internal::ids;
use ctx_tokens::internal::estimate;
use ctx_types::{ContentPart, Diagnostic, Role, Source, SourceKind, Span, Text, count_of, phrase};
use ctx_worldbook::{
    Member,
    internal::{Destination, Entry},
};
use serde_json::Value;

use crate::codes;
use crate::compiled_agent::CompiledAgent;
use crate::context::Context;
use crate::inspect::sample_turns::SamplePair;

/// Finds changing texts above the conversation, at most one per entry.
pub(crate) fn find_breakers(compiled: &CompiledAgent, pairs: &[SamplePair]) -> Vec<Diagnostic> {
    let samples: Vec<&Context> = pairs.iter().flat_map(|pair| [&pair.first, &pair.next]).collect();
    let texts: Vec<SampleTexts<'_>> = samples.iter().map(|sample| entries_above_history(sample)).collect();
    let Some((first, others)) = texts.split_first() else { return Vec::new() };
    let (mut in_preset, mut in_books) = (Vec::new(), Vec::new());
    let mut below = 0_u32;
    for entry in first.entries.iter().rev() {
        let same: Option<Vec<&EntryText<'_>>> = others.iter().map(|texts| texts.find(entry.origin)).collect();
        if let Some(at) = same.and_then(|same| entry.changing_piece(&same, compiled)) {
            if let Some(member) = entry.member(samples[0]) {
                in_books.extend(entry_diagnostic(compiled, entry, at, member));
            } else {
                let below = below.saturating_add(estimate(&entry.text_from(at + 1)));
                in_preset.extend(preset_diagnostic(compiled, entry, at, below));
            }
        }
        below = below.saturating_add(estimate(&entry.text_from(0)));
    }
    in_preset.into_iter().rev().chain(in_books.into_iter().rev()).collect()
}

/// Texts of one sample in their order.
#[derive(Default)]
struct SampleTexts<'c> {
    entries: Vec<EntryText<'c>>,
    places: HashMap<(SourceKind, Option<usize>), usize>,
}

/// The text of an entry of the preset or a worldbook in one sample.
struct EntryText<'c> {
    origin: &'c Source,
    role: Role,
    pieces: Vec<Piece<'c>>,
}

#[derive(PartialEq)]
struct Piece<'c> {
    source: &'c Source,
    text: String,
}

fn entries_above_history(context: &Context) -> SampleTexts<'_> {
    let mut texts = SampleTexts::default();
    for message in &context.messages {
        let text = message.text();
        let whole = [(Span::new(0, text.len()), &message.source, &message.source)];
        let segments = message.written.iter();
        let segments =
            segments.map(|part| (part.span, &part.source, part.via.last().unwrap_or(&part.source)));
        let whole = whole.into_iter().filter(|_| message.written.is_empty());
        for (span, source, origin) in segments.chain(whole) {
            if origin.kind.is_history() {
                return texts;
            }
            let is_entry = matches!(origin.kind, SourceKind::Preset | SourceKind::Worldbook);
            if !is_entry || origin.index().is_none() {
                continue;
            }
            let piece = Piece { source, text: text[span.start..span.end].to_owned() };
            let entries = &mut texts.entries;
            let place = *texts.places.entry((origin.kind, origin.index())).or_insert(entries.len());
            if place == entries.len() {
                entries.push(EntryText { origin, role: message.role, pieces: Vec::new() });
            }
            entries[place].pieces.push(piece);
        }
    }
    texts
}

impl<'c> SampleTexts<'c> {
    fn find(&self, origin: &Source) -> Option<&EntryText<'c>> {
        self.places.get(&(origin.kind, origin.index())).map(|place| &self.entries[*place])
    }
}

impl EntryText<'_> {
    fn changing_piece(&self, others: &[&EntryText<'_>], compiled: &CompiledAgent) -> Option<usize> {
        let macros = &compiled.macros;
        let known = |name: &str| macros.registry.get(name, macros.dialect);
        let is_volatile = |name: &str| known(name).is_some_and(|known| known.volatile);
        let is_changing = |at: &usize| {
            let piece = &self.pieces[*at];
            match piece.source.kind {
                SourceKind::Variable => true,
                SourceKind::Macro if piece.source.id.as_deref().is_some_and(is_volatile) => true,
                _ => others.iter().any(|other| other.pieces.get(*at) != Some(piece)),
            }
        };
        (0..self.pieces.len()).find(is_changing)
    }

    fn text_from(&self, at: usize) -> String {
        self.pieces[at..].iter().map(|piece| piece.text.as_str()).collect()
    }

    fn member<'m>(&self, context: &'m Context) -> Option<&'m Member> {
        let scan = context.trace.as_ref()?.scan().filter(|_| self.origin.kind == SourceKind::Worldbook)?;
        scan.set.members().get(self.origin.index()?)
    }

    /// Finds the macro or variable of a piece in the text of the entry.
    fn find_use(&self, at: usize, text: &Text, compiled: &CompiledAgent) -> Option<(String, Span)> {
        let source = self.pieces[at].source;
        let name = source.id.as_deref().unwrap_or_default();
        if source.kind == SourceKind::Variable {
            let shown = format!("$[{name}]");
            let start = text.find(&shown)?;
            let end = start + shown.len();
            return Some((text[start..end].to_owned(), Span::new(start, end)));
        }
        let template = compiled.macros.parse(text);
        let uses: Vec<MacroUse<'_>> = template.macros().collect();
        let earlier = self.pieces[..at].iter().filter(|piece| piece.source == source).count();
        let mut same = uses.iter().filter(|used| source.kind == SourceKind::Macro && used.name == name);
        // A condition chooses other text of the entry.
        let found = same.clone().nth(earlier).or_else(|| same.next());
        let is_variable = |used: &&MacroUse<'_>| {
            let macros = &compiled.macros;
            macros.registry.get(used.name, macros.dialect).is_none()
        };
        let found = found.or_else(|| uses.iter().find(|used| used.volatile));
        let found = found.or_else(|| uses.iter().find(is_variable))?;
        Some((found.name.to_owned(), found.span))
    }
}

fn preset_diagnostic(
    compiled: &CompiledAgent,
    entry: &EntryText<'_>,
    at: usize,
    below: u32,
) -> Option<Diagnostic> {
    let index = entry.origin.index().filter(|index| !compiled.moving.contains(index))?;
    let content = compiled.agent().preset_messages.get(index)?.content.as_ref()?;
    let (pointer, name, span) = match content {
        ctx_types::Content::Text(text) => {
            let (name, span) = entry.find_use(at, text, compiled)?;
            (format!("/presetMessages/{index}/content"), name, span)
        }
        ctx_types::Content::Parts(parts) => parts.iter().enumerate().find_map(|(part, content)| {
            let ContentPart::Text(text) = content else { return None };
            let (name, span) = entry.find_use(at, text, compiled)?;
            Some((format!("/presetMessages/{index}/content/{part}/text"), name, span))
        })?,
    };
    let message = match below {
        0 => phrase!("`{name}` changes every turn: the whole conversation misses the prompt cache", name),
        _ => phrase!(
            "`{name}` changes every turn: about {tokens} of the preset and the whole conversation miss the prompt cache",
            name,
            tokens = count_of!(below, "token")
        ),
    };
    let help = if entry.role == Role::System && is_merging(compiled) {
        phrase!(
            "move it to a separate entry below the conversation: `injectionStrategy: {{type: depth, depth: 0}}`"
        )
    } else {
        phrase!("move it to a separate entry below `chat_history`")
    };
    let diagnostic = Diagnostic::warning(codes::CACHE_BREAKER, message).with_help(help);
    Some(diagnostic.at_pointer(pointer).at_span(span))
}

/// System messages below the conversation are moved above it.
fn is_merging(compiled: &CompiledAgent) -> bool {
    let mut settings = compiled.pipeline().settings().iter();
    settings.any(|setting| {
        let scope = setting.config.get("scope").and_then(Value::as_str);
        &*setting.id == ids::MERGE_SYSTEM_TO_HEAD && setting.enabled.value && scope != Some("leading")
    })
}

fn entry_diagnostic(
    compiled: &CompiledAgent,
    entry: &EntryText<'_>,
    at: usize,
    member: &Member,
) -> Option<Diagnostic> {
    let Entry { destination, probability, group, recursion_level, content, .. } = &member.entry;
    let is_counted = matches!(destination, Destination::Depth(_) | Destination::FromStart(_));
    if is_counted || probability.is_some() || !group.trim().is_empty() || *recursion_level > 0 {
        return None;
    }
    let (name, span) = entry.find_use(at, content, compiled)?;
    let start = member.entry.content_start;
    let message = phrase!(
        "`{name}` changes every turn in an entry that is always active: everything below it misses the prompt cache",
        name
    );
    let help = phrase!("move it to a separate entry in the conversation: `position` 4, `depth` 0");
    let diagnostic = Diagnostic::warning(codes::CACHE_BREAKER, message).with_help(help);
    let diagnostic = diagnostic.at_pointer(format!("{}/content", member.entry.pointer()));
    let span = Span::new(span.start + start, span.end + start);
    Some(diagnostic.at_span(span).in_document(member.book.clone()))
}
