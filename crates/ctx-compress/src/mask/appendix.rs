//! Facts that a summary lost, as far as the token limit allows.

use std::collections::BTreeSet;

use ctx_types::internal::{AppendedFact, SummaryAppendix};
use ctx_types::ports::TokenCounter;
use ctx_types::session::{Node, NodeId};
use ctx_types::{Content, Message, Role, Source, SourceKind, Text, Trust};

use crate::mask::accept::FRAME;
use crate::mask::language::Language;
use crate::mask::plan::{MaskPlan, SummaryTask};
use crate::quality::{Place, QualityReport};

pub(super) fn appendix(facts: Vec<AppendedFact>, language: Language) -> SummaryAppendix {
    SummaryAppendix { heading: language.texts().appendix_heading.to_owned(), facts, is_sent: true }
}

/// Returns the facts in the appendix of a summary.
pub(super) fn facts(node: &Node) -> Vec<AppendedFact> {
    SummaryAppendix::from_node(node).map(|appendix| appendix.facts).unwrap_or_default()
}

/// Returns the text of a summary without its appendix.
pub(super) fn body_of(node: &Node) -> Text {
    match &node.content {
        None => Text::default(),
        Some(Content::Text(text)) => text.clone(),
        Some(content) => Text::from(content.text().into_owned()),
    }
}

/// Counts a summary with its appendix.
pub(super) fn tokens_with(
    text: &Text,
    appendix: Option<&SummaryAppendix>,
    counter: &dyn TokenCounter,
) -> u64 {
    let below = appendix.map(|appendix| appendix.text_below(text)).unwrap_or_default();
    let tokens = match &*below {
        "" => counter.count_text(text),
        below => counter.count(&format!("{}{below}", text.as_str())),
    };
    u64::from(tokens) + FRAME
}

impl MaskPlan {
    /// Returns the facts for the appendix of a summary: those of merged summaries, then sentences with lost facts in
    /// the order of the conversation.
    pub(super) fn lost_facts(&self, text: &Text, counter: &dyn TokenCounter) -> Vec<AppendedFact> {
        let mut left = u64::from(self.config.appendix_tokens);
        if left == 0 {
            return Vec::new();
        }
        let mut fits = |fact: &AppendedFact| {
            let tokens = u64::from(counter.count(&fact.text)) + 2;
            let fits = tokens <= left;
            left -= if fits { tokens } else { 0 };
            fits
        };
        let is_new = |fact: &&AppendedFact| !text.contains(fact.text.as_str());
        let mut kept: Vec<AppendedFact> =
            self.carried.iter().filter(is_new).filter(|fact| fits(fact)).cloned().collect();
        let carried = kept.len();
        let (ids, messages): (Vec<NodeId>, Vec<Message>) = self.sources().unzip();
        let so_far = format!("{}{}", text.as_str(), appendix(kept.clone(), self.language).text_below(text));
        let words = QualityReport::of_summary(&messages, so_far).lost_words(&messages);
        let lost = words.into_iter().filter_map(|words| {
            let from = ids.get(words.place.message)?.clone();
            Some((words.place, AppendedFact { text: words.text, from }))
        });
        let mut lost: Vec<(Place, AppendedFact)> = lost.filter(|(_, fact)| fits(fact)).collect();
        lost.sort_by_key(|(place, _)| (place.message, place.call, place.start));
        kept.extend(lost.into_iter().map(|(_, fact)| fact));
        // If the summary would not be shorter than the original, only facts of merged summaries are kept.
        for most in [kept.len(), carried] {
            kept.truncate(most);
            let whole = appendix(kept.clone(), self.language);
            if !kept.is_empty() && tokens_with(text, Some(&whole), counter) < self.replaced_tokens {
                return kept;
            }
        }
        Vec::new()
    }

    /// Returns the messages and merged summaries that the summary replaces.
    pub(super) fn sources(&self) -> impl Iterator<Item = (NodeId, Message)> {
        let material: BTreeSet<&NodeId> = self.material.iter().map(|one| &one.id).collect();
        let leading = self.range.covered.iter().filter(move |id| !material.contains(id));
        let merged = self.previous.iter().filter(|_| self.task == SummaryTask::Merge);
        let summaries = leading.zip(merged).map(|(id, text)| {
            let source = Source::new(SourceKind::Summary, Trust::Model);
            (id.clone(), Message::new(Role::System, text.clone(), source))
        });
        let material = self.material.iter().map(|one| (one.id.clone(), one.message.clone()));
        summaries.chain(material)
    }
}
