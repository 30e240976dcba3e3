//! Texts that append-only requests inserted between the messages of a conversation.

use std::collections::HashMap;

use ctx_tokens::Counter;
use ctx_types::internal::SentMessage;
use ctx_types::ports::TokenCounter as _;
use ctx_types::session::{NodeId, Session};
use ctx_types::{Message, Segment, Source, SourceKind, Text};

use super::path::{MAX_TEXT, start};
use crate::api_talk::InsertedText;
use crate::preview::{joined_name, kind};

/// Returns the texts of the newest request that are not from the conversation, in order.
pub(super) fn inserted(session: &Session) -> Vec<InsertedText> {
    let Some(prefix) = session.sent_prefix(None) else { return Vec::new() };
    let mut texts = Texts::default();
    for (message, sent) in prefix.messages.iter().zip(&prefix.records) {
        let segments = message.segments();
        if sent.is_insertion() {
            texts.insert(message, &segments);
        } else if message.source.kind != SourceKind::Merged {
            sent.nodes.first().into_iter().for_each(|id| texts.place_before(id));
        } else {
            let nodes = sent.nodes.iter().map(|id| (&**id, id)).collect();
            for run in segments.chunk_by(|a, b| origin(a, &nodes, sent) == origin(b, &nodes, sent)) {
                match origin(&run[0], &nodes, sent) {
                    Origin::Conversation(id) => id.into_iter().for_each(|id| texts.place_before(id)),
                    Origin::Elsewhere => texts.insert(message, run),
                }
            }
        }
    }
    prefix.tail.first().into_iter().for_each(|id| texts.place_before(id));
    texts.texts
}

#[derive(Default)]
struct Texts {
    texts: Vec<InsertedText>,
    /// Number of texts whose place is known.
    placed: usize,
}

impl Texts {
    fn place_before(&mut self, id: &NodeId) {
        self.texts[self.placed..].iter_mut().for_each(|text| text.before = Some(id.to_string()));
        self.placed = self.texts.len();
    }

    /// Adds a part of a message, without separators around it.
    fn insert(&mut self, message: &Message, run: &[Segment]) {
        let is_text = |segment: &Segment| segment.source.kind != SourceKind::Separator;
        let (Some(first), Some(last)) = (run.iter().position(is_text), run.iter().rposition(is_text)) else {
            return;
        };
        let run = &run[first..=last];
        let whole = message.text();
        // A record in a file may name any bytes.
        let Some(text) = whole.get(run[0].span.start..run[run.len() - 1].span.end) else { return };
        let cut = start(text, MAX_TEXT);
        self.texts.push(InsertedText {
            before: None,
            source: kind(message, run).as_str().to_owned(),
            name: joined_name(message, run),
            tokens: Counter::estimate().count_text(&Text::from(text)).into(),
            is_cut: cut.len() < text.len(),
            text: cut.to_owned(),
        });
    }
}

/// Where a part of a message is from.
#[derive(PartialEq)]
enum Origin<'a> {
    /// A message of the conversation, if it is stored.
    Conversation(Option<&'a NodeId>),
    Elsewhere,
}

/// `nodes` has the messages of the conversation that the sent message contains.
fn origin<'a>(segment: &Segment, nodes: &HashMap<&str, &'a NodeId>, sent: &'a SentMessage) -> Origin<'a> {
    // A recalled passage is from a message that the request does not contain.
    let is_recalled = segment.source.kind == SourceKind::Summary;
    let mut sources = segment.via.iter().filter(|_| !is_recalled).chain([&segment.source]);
    let node = |source: &Source| nodes.get(source.id.as_deref()?).copied();
    if let Some(id) = sources.clone().find_map(node) {
        return Origin::Conversation(Some(id));
    }
    if sources.any(|source| source.kind == SourceKind::Input) {
        return Origin::Conversation(sent.nodes.last());
    }
    Origin::Elsewhere
}

#[cfg(test)]
mod tests {
    use ctx_types::internal::SentRecord;
    use ctx_types::session::{Node, SessionOp};
    use ctx_types::{Role, Span, Trust};

    use super::*;

    fn message(role: Role, text: &str, source: Source) -> Message {
        Message::new(role, text, source)
    }

    fn book(id: &str) -> Source {
        Source::new(SourceKind::Worldbook, Trust::Preset).with_id(id)
    }

    fn part(from: usize, to: usize, source: Source) -> Segment {
        Segment { span: Span::new(from, to), source, via: Vec::new() }
    }

    /// A conversation of `n1` to `n3`, whose newest request was recorded with `n3`.
    fn session(messages: &[(Message, &[&str])]) -> Session {
        let mut session = Session::new("s");
        for (id, role) in [("n1", Role::User), ("n2", Role::Assistant), ("n3", Role::User)] {
            let (parent, node) =
                (session.active_leaf_id().clone(), Box::new(Node::new(role, id).with_id(id)));
            session.apply(&SessionOp::Append { parent, node }).unwrap();
        }
        let sent = |(message, ids): &(Message, &[&str])| {
            let stored = |id: &&str| ((*id).into(), session.node(id).unwrap().to_message(&(*id).into()));
            SentMessage::new(message, &ids.iter().map(stored).collect::<Vec<_>>(), None)
        };
        let record = SentRecord {
            begins: Some("p".into()),
            messages: messages.iter().map(sent).collect(),
            first: Some("n1".into()),
            ..SentRecord::default()
        };
        let op = record.to_op(&"n3".into(), None);
        session.apply(&op).unwrap();
        session
    }

    #[track_caller]
    fn check(session: &Session, expected: &[(Option<&str>, &str, &str, &str)]) {
        let texts = inserted(session);
        let texts: Vec<_> = texts
            .iter()
            .map(|text| (text.before.as_deref(), &*text.source, &*text.name, &*text.text))
            .collect();
        assert_eq!(texts, expected);
    }

    fn history(id: &str, role: Role) -> Message {
        message(role, id, Source::history(id, role))
    }

    #[test]
    fn places_texts_between_messages() {
        let preset = Source::preset(Some("who".into()), 0, None);
        let session = session(&[
            (message(Role::System, "You are Robin.", preset), &[]),
            (history("n1", Role::User), &["n1"]),
            (history("n2", Role::Assistant), &["n2"]),
            (message(Role::System, "Basil grows.", book("basil")), &[]),
            (history("n3", Role::User), &["n3"]),
            (message(Role::System, "Be brief.", book("brief")), &[]),
        ]);
        check(
            &session,
            &[
                (Some("n1"), "preset", "who", "You are Robin."),
                (Some("n3"), "worldbook", "basil", "Basil grows."),
                (None, "worldbook", "brief", "Be brief."),
            ],
        );
    }

    #[test]
    fn finds_texts_in_a_merged_message() {
        let (separator, merged) = (
            Source::new(SourceKind::Separator, Trust::Preset),
            Source::new(SourceKind::Merged, Trust::Preset),
        );
        let mut joined = message(Role::User, "Basil grows.\n\nn3\n\nBe brief.", merged);
        joined.written = vec![
            part(0, 12, book("basil")),
            part(12, 14, separator.clone()),
            part(14, 16, Source::history("n3", Role::User)),
            part(16, 18, separator),
            part(18, 27, book("brief")),
        ];
        let session = session(&[
            (history("n1", Role::User), &["n1"]),
            (history("n2", Role::Assistant), &["n2"]),
            (joined, &["n3"]),
        ]);
        check(
            &session,
            &[(Some("n3"), "worldbook", "basil", "Basil grows."), (None, "worldbook", "brief", "Be brief.")],
        );
    }

    #[test]
    fn finds_nothing_without_a_record() {
        check(&Session::new("s"), &[]);
    }
}
