//! Summaries without a model: the messages' own sentences, in the sections of the prompts.

mod section;
mod terms;
mod unpack;

use std::collections::BTreeMap;

use ctx_types::ports::TokenCounter;
use ctx_types::{Message, NoteLineKind, Text};

use crate::mask::extract::section::Section;
use crate::mask::extract::terms::{join_terms, terms};
use crate::mask::extract::unpack::{Unpacked, unpack};
use crate::mask::language::Language;
use crate::mask::prompt::fill;
use crate::mask::texts::Texts;
use crate::request::{Excerpt, excerpts, quarters};

/// The input of a summary without a model.
#[derive(Clone, Copy, Debug)]
pub struct Extraction<'a> {
    /// The messages, oldest first; the source of earlier summaries is [`Summary`](ctx_types::SourceKind::Summary).
    pub messages: &'a [Message],
    /// Token limit of the summary.
    pub tokens: u64,
    /// Language of the headings.
    pub language: Language,
}

/// Writes a summary without a model; `None` if it cannot.
pub type Extract<'a> = dyn Fn(&Extraction<'_>) -> Option<Text> + Send + Sync + 'a;

/// Writes a summary from the messages' own sentences.
///
/// It has the non-empty sections of the built-in prompts: start, last exchange, names and terms, facts, done, open.
/// Sentences are chosen as by [`Coverage::sentences`](crate::request::Coverage::sentences). Lines of earlier summaries
/// stay in their sections, as far as they fit. A small summary has no headings.
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
    /// Selection uses the estimate, and ignores headings; it is repeated if the counter counts more.
    const ATTEMPTS: usize = 8;
    let material = unpack(from.messages);
    let terms = terms(&material);
    let mut limit = from.tokens;
    for _ in 0..ATTEMPTS {
        let text = write(&material, &terms, limit, from.language.texts());
        let tokens = u64::from(counter.count(&text));
        if text.is_empty() || limit == 0 {
            return None;
        }
        if tokens <= from.tokens {
            return Some(text.into());
        }
        let share = limit.saturating_mul(from.tokens) / tokens.max(1);
        limit = share.min(limit.saturating_sub(tokens - from.tokens)).saturating_sub(1);
    }
    None
}

/// Smaller summaries have no headings.
const LEAST_FOR_HEADINGS: u64 = 120;

/// Share of the overview, in percent.
const OVERVIEW_SHARE: u64 = 40;

/// Share of each message of the last exchange.
const FOCUS_SHARE: u64 = 15;

/// Share of names and terms.
const TERMS_SHARE: u64 = 8;

/// Tokens of a heading.
const HEADING: u64 = 6;

/// Writes a summary of about `limit` tokens of the estimate.
fn write(material: &Unpacked, terms: &[String], limit: u64, texts: &Texts) -> String {
    let has_headings = limit >= LEAST_FOR_HEADINGS;
    let mut ends = material.ends();
    ends.retain(|(_, section)| has_headings || *section == Section::Overview);
    let share = |section: Section| if section == Section::Overview { OVERVIEW_SHARE } else { FOCUS_SHARE };
    let first: Vec<(usize, u64)> =
        ends.iter().map(|(at, section)| (*at, limit * share(*section) / 100)).collect();
    let mut summary = Summary::default();
    let mut left = limit;
    if has_headings {
        let line = join_terms(terms, limit * TERMS_SHARE / 100, texts.comma);
        let cost = if line.is_empty() { 0 } else { quarters(&line).div_ceil(4) + 2 };
        summary.add(Section::Terms, line);
        left = left.saturating_sub(cost + Section::ALL.len() as u64 * HEADING);
    }
    let mut last_call = None;
    for excerpt in excerpts(&material.messages, &first, left) {
        let end = ends.iter().find(|(at, _)| *at == excerpt.message && excerpt.kind != NoteLineKind::Call);
        let section = match end {
            // Without headings, sentences stay in their order.
            _ if !has_headings => Section::Facts,
            Some((_, section)) => *section,
            None => section_of(material, &excerpt, &mut last_call),
        };
        let head = head(&excerpt, &material.messages[excerpt.message], texts);
        summary.add_excerpt(section, &excerpt, &head);
    }
    summary.render(texts, has_headings)
}

/// Finds the section of an excerpt; the result of a call follows the call.
fn section_of(material: &Unpacked, excerpt: &Excerpt, last_call: &mut Option<(usize, Section)>) -> Section {
    /// Limit of the messages between a call and its result.
    const NEAR: usize = 4;
    if let Some(section) = material.section(excerpt.message) {
        return section;
    }
    match excerpt.kind {
        NoteLineKind::Call => {
            let section = if excerpt.is_change { Section::Done } else { Section::Facts };
            *last_call = Some((excerpt.message, section));
            section
        }
        NoteLineKind::Result => match last_call {
            Some((call, section)) if excerpt.message - *call <= NEAR => *section,
            _ => Section::Facts,
        },
        NoteLineKind::User | NoteLineKind::Assistant | NoteLineKind::System => {
            Section::of_talk(&excerpt.text, excerpt.message * 2 >= material.messages.len())
        }
    }
}

/// Returns the speaker or the tool of an excerpt; empty for lines of earlier summaries.
fn head(excerpt: &Excerpt, message: &Message, texts: &Texts) -> String {
    let name = excerpt.speaker.as_deref().or(message.name.as_deref());
    let head = match excerpt.kind {
        NoteLineKind::System => return String::new(),
        NoteLineKind::User => name.unwrap_or(texts.user),
        NoteLineKind::Assistant => name.unwrap_or(texts.assistant),
        NoteLineKind::Call => &fill(texts.short_call, &[("{tool}", &*excerpt.tool)]),
        NoteLineKind::Result => texts.short_result,
    };
    let colon = if excerpt.text.is_empty() { "" } else { texts.colon };
    format!("{head}{colon}")
}

/// The lines of a summary, by sections.
#[derive(Debug, Default)]
struct Summary {
    sections: BTreeMap<Section, Vec<String>>,
    /// The message and the kind of the last line of each section.
    last: BTreeMap<Section, (usize, NoteLineKind)>,
}

impl Summary {
    fn add(&mut self, section: Section, line: String) {
        let lines = self.sections.entry(section).or_default();
        if !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }

    /// Adds an excerpt to the line of the same message, or as a new line.
    fn add_excerpt(&mut self, section: Section, excerpt: &Excerpt, head: &str) {
        let origin = (excerpt.message, excerpt.kind);
        let continues =
            self.last.insert(section, origin) == Some(origin) && excerpt.kind != NoteLineKind::Call;
        let lines = self.sections.entry(section).or_default();
        match lines.last_mut().filter(|_| continues) {
            Some(line) => {
                line.push_str(if line.ends_with(['。', '！', '？', '；']) { "" } else { " " });
                line.push_str(&excerpt.text);
            }
            None => self.add(section, format!("{head}{}", excerpt.text)),
        }
    }

    fn render(&self, texts: &Texts, has_headings: bool) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (section, lines) in self.sections.iter().filter(|(_, lines)| !lines.is_empty()) {
            let body: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
            let body = body.join("\n");
            let heading = texts.headings[*section as usize];
            parts.push(if has_headings { format!("## {heading}\n{body}") } else { body });
        }
        parts.join(if has_headings { "\n\n" } else { "\n" })
    }
}
