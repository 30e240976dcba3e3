//! Summaries without a model: the messages' own sentences, in the six sections of the prompts.

mod section;
mod terms;
mod unpack;

use std::collections::BTreeMap;

use ctx_types::ports::TokenCounter;
use ctx_types::{Message, NoteLineKind, Text};

use crate::mask::extract::section::Section;
use crate::mask::extract::terms::terms;
use crate::mask::extract::unpack::{Unpacked, unpack};
use crate::mask::language::Language;
use crate::request::{Excerpt, excerpts, quarters};

/// What a summary is to be put together from.
#[derive(Clone, Copy, Debug)]
pub struct Extraction<'a> {
    /// The messages, oldest first; earlier summaries among them have [`Summary`](ctx_types::SourceKind::Summary)
    /// as their source.
    pub messages: &'a [Message],
    /// How many tokens the summary may have.
    pub tokens: u64,
    /// The language of its headings.
    pub language: Language,
}

/// Puts a summary together from messages' own words; nothing if it cannot.
pub type Extract<'a> = dyn Fn(&Extraction<'_>) -> Option<Text> + Send + Sync + 'a;

/// Puts a summary together from what messages say, without any model.
///
/// It has the sections of the built-in prompts, those without content left out: how it began, the last exchange,
/// names and terms, facts, what was done, what is open. Sentences are chosen as by
/// [`Coverage::sentences`](crate::request::Coverage::sentences), and stand as they were said; what earlier summaries
/// tell goes on in its sections as far as there is room. With less than some hundred tokens there are no headings.
///
/// Deterministic. `None` if nothing fits. O(text · log text).
///
/// ```
/// use ctx_compress::mask::{Extraction, Language, extract};
/// use ctx_tokens::Counter;
/// use ctx_types::{Message, Role, Source};
///
/// let says = |role, text| Message::new(role, text, Source::history("n", role));
/// let messages = [
///     says(Role::User, "Please book room 12 for Ada Bell."),
///     says(Role::Assistant, "It is booked; the number is B-7781."),
/// ];
/// let from = Extraction { messages: &messages, tokens: 60, language: Language::English };
/// let summary = extract(&from, &Counter::estimate()).unwrap();
/// assert_eq!(summary.as_str(), "- user: Please book room 12 for Ada Bell.\n- assistant: It is booked; the number is B-7781.");
/// ```
pub fn extract(from: &Extraction<'_>, counter: &dyn TokenCounter) -> Option<Text> {
    let material = unpack(from.messages);
    let mut room = from.tokens;
    for _ in 0..ATTEMPTS {
        let text = write(&material, from, room);
        let tokens = u64::from(counter.count(&text));
        if text.is_empty() || room == 0 {
            return None;
        }
        if tokens <= from.tokens {
            return Some(text.into());
        }
        // The choice estimates, and knows no headings.
        let share = room.saturating_mul(from.tokens) / tokens.max(1);
        room = share.min(room.saturating_sub(tokens - from.tokens)).saturating_sub(1);
    }
    None
}

/// How often less is chosen if the counter counts more than the estimate.
const ATTEMPTS: usize = 8;

/// With fewer tokens there are no headings.
const LEAST_FOR_HEADINGS: u64 = 120;

/// What the beginning may take of the room, in hundredths.
const OVERVIEW_SHARE: u64 = 40;

/// What each of the two sides of the last exchange may take.
const FOCUS_SHARE: u64 = 15;

/// What names and terms may take.
const TERMS_SHARE: u64 = 8;

/// What a heading costs, about, in tokens.
const HEADING: u64 = 6;

/// Writes a summary of about so many tokens of the estimate.
fn write(material: &Unpacked, from: &Extraction<'_>, room: u64) -> String {
    let has_headings = room >= LEAST_FOR_HEADINGS;
    let told: Vec<(usize, Section)> = if has_headings {
        material.told()
    } else {
        material.told().into_iter().filter(|(_, section)| *section == Section::Overview).collect()
    };
    let share = |section: &Section| if *section == Section::Overview { OVERVIEW_SHARE } else { FOCUS_SHARE };
    let first: Vec<(usize, u64)> =
        told.iter().map(|(at, section)| (*at, room * share(section) / 100)).collect();
    let mut summary = Summary::default();
    let mut left = room;
    if has_headings {
        let known = terms(material, room * TERMS_SHARE / 100, from.language);
        let cost = known.as_deref().map_or(0, |line| quarters(line).div_ceil(4) + 2);
        summary.add(Section::Terms, known.unwrap_or_default());
        left = left.saturating_sub(cost + Section::ALL.len() as u64 * HEADING);
    }
    let mut after_call = None;
    for excerpt in excerpts(&material.messages, &first, left) {
        let told = told.iter().find(|(at, _)| *at == excerpt.message && excerpt.kind != NoteLineKind::Call);
        let section = match told {
            // Without headings what was said stays in its order.
            _ if !has_headings => Section::Facts,
            Some((_, section)) => *section,
            None => section_of(material, &excerpt, &mut after_call),
        };
        let head = head(&excerpt, material.messages.get(excerpt.message), from.language);
        summary.add_said(section, &excerpt, &head);
    }
    summary.render(from.language, has_headings)
}

/// Finds the section of an excerpt; what a call was answered with follows it.
fn section_of(material: &Unpacked, excerpt: &Excerpt, after_call: &mut Option<(usize, Section)>) -> Section {
    /// How many messages after a call its results may stand.
    const NEAR: usize = 4;
    if let Some(section) = material.section(excerpt.message) {
        return section;
    }
    match excerpt.kind {
        NoteLineKind::Call => {
            let section = if excerpt.is_change { Section::Done } else { Section::Facts };
            *after_call = Some((excerpt.message, section));
            section
        }
        NoteLineKind::Result => match after_call {
            Some((call, section)) if excerpt.message - *call <= NEAR => *section,
            _ => Section::Facts,
        },
        NoteLineKind::User | NoteLineKind::Assistant | NoteLineKind::System => {
            Section::of_talk(&excerpt.text, excerpt.message * 2 >= material.messages.len())
        }
    }
}

/// Names who says it, or what it is; nothing for lines of earlier summaries, which say that themselves.
fn head(excerpt: &Excerpt, message: Option<&Message>, language: Language) -> String {
    let name = excerpt.speaker.as_deref().or_else(|| message?.name.as_deref());
    let chinese = language == Language::Chinese;
    let head = match (excerpt.kind, chinese) {
        (NoteLineKind::System, _) => return String::new(),
        (NoteLineKind::User, true) => name.unwrap_or("用户"),
        (NoteLineKind::User, false) => name.unwrap_or("user"),
        (NoteLineKind::Assistant, true) => name.unwrap_or("助手"),
        (NoteLineKind::Assistant, false) => name.unwrap_or("assistant"),
        (NoteLineKind::Call, true) => &format!("调用 {}", excerpt.tool),
        (NoteLineKind::Call, false) => &format!("called {}", excerpt.tool),
        (NoteLineKind::Result, true) => "结果",
        (NoteLineKind::Result, false) => "result",
    };
    match (excerpt.text.is_empty(), chinese) {
        (true, _) => head.to_owned(),
        (false, true) => format!("{head}："),
        (false, false) => format!("{head}: "),
    }
}

/// The lines of a summary, by sections.
#[derive(Debug, Default)]
struct Summary {
    sections: BTreeMap<Section, Vec<String>>,
    /// Whose words the last line of each section are: the message and what kind of line.
    last: BTreeMap<Section, (usize, NoteLineKind)>,
}

impl Summary {
    fn add(&mut self, section: Section, line: String) {
        let lines = self.sections.entry(section).or_default();
        if !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }

    /// Adds what was said; it goes on in the line of the same message.
    fn add_said(&mut self, section: Section, excerpt: &Excerpt, head: &str) {
        let whose = (excerpt.message, excerpt.kind);
        let goes_on = self.last.insert(section, whose) == Some(whose) && excerpt.kind != NoteLineKind::Call;
        let lines = self.sections.entry(section).or_default();
        match lines.last_mut().filter(|_| goes_on) {
            Some(line) => {
                let is_open = !line.ends_with(['。', '！', '？', '；']);
                line.push_str(if is_open { " " } else { "" });
                line.push_str(&excerpt.text);
            }
            None => self.add(section, format!("{head}{}", excerpt.text)),
        }
    }

    fn render(&self, language: Language, has_headings: bool) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (section, lines) in self.sections.iter().filter(|(_, lines)| !lines.is_empty()) {
            let body: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
            if has_headings {
                parts.push(format!("## {}\n{}", section.heading(language), body.join("\n")));
            } else {
                parts.push(body.join("\n"));
            }
        }
        parts.join(if has_headings { "\n\n" } else { "\n" })
    }
}
