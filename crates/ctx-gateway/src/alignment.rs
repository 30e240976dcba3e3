//! Finds the messages of a request in a stored conversation, and shows the conversation as the request has it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use ctx_engine::PreparedInput;
use ctx_types::internal::{BlockOrder, remove_marks, without_marks};
use ctx_types::session::{Node, NodeId, NodePatch, Patch, Session, SessionError, SessionOp, StoredToolCall};
use ctx_types::{Content, ContentPart, Role};
use serde_json::Value;

/// A message of a request. System messages are not stored, so a clock in one costs nothing.
#[derive(Debug)]
pub(crate) struct RequestMessage {
    pub(crate) node: Node,
    /// The stored message, once there is one.
    pub(crate) stored: Option<NodeId>,
    /// Whether this request added the stored message.
    is_added: bool,
}

/// Rules for requests that repeat no stored message, or one.
#[derive(Clone, Copy)]
pub(crate) struct AlignmentRules<'a> {
    /// Whether the client always sends the history. Other clients may send only new messages.
    pub(crate) sends_history: bool,
    /// Returns whether a request that has only this stored message again is a retry.
    pub(crate) is_retry: &'a (dyn Fn(&Node) -> bool + Sync),
}

impl RequestMessage {
    pub(crate) fn new(node: Node) -> Self {
        Self { node, stored: None, is_added: false }
    }

    /// Returns whether the message still has to be stored.
    pub(crate) fn is_new(&self) -> bool {
        self.stored.is_none() && !is_instruction(&self.node)
    }

    /// Returns the message to store, without cache marks, which apply only to this request.
    pub(crate) fn to_stored(&self) -> Node {
        let mut node = self.node.clone();
        remove_marks(&mut node);
        node
    }

    /// Sets the message that was stored for this one.
    pub(crate) fn set_added(&mut self, id: NodeId) {
        (self.stored, self.is_added) = (Some(id), true);
    }
}

/// Sets the stored message of each message that a request repeats. Returns the message that the new ones follow.
///
/// The request's first messages begin a branch, or are somewhere on the active branch: the longest match wins, then the
/// latest one. One message alone matches only at the end, as a retry, or at the start of a history. Linear in both.
pub(crate) fn align(session: &Session, messages: &mut [RequestMessage], rules: AlignmentRules<'_>) -> NodeId {
    let request: Vec<ComparedMessage<'_>> = messages
        .iter()
        .filter(|message| !is_instruction(&message.node))
        .map(|message| ComparedMessage::new(&message.node))
        .collect();
    let path = active_path(session, request.len());
    let (known, last) = match find_retried(&path, &request, rules) {
        Some(id) => (1, Some(id)),
        None => longest_match(session, &path, &request, rules),
    };
    let leaf = session.active_leaf_id();
    let is_reply = |said: &ComparedMessage<'_>| said.role == Role::Assistant;
    let is_edited =
        |last: &ComparedMessage<'_>| request.first().is_some_and(|first| first.has_same_calls(last));
    let edited = path.last().filter(|(_, last)| is_edited(last));
    let before_edited = edited.and_then(|(id, _)| session.node(id)?.parent_id.as_ref());
    let after = match last {
        // Only reports of failures follow the last message; they are not sent.
        Some(id) if known < request.len() && path.last().is_some_and(|(last, _)| *last == id) => leaf,
        Some(id) => id,
        None if rules.sends_history => session.root_id(),
        // A client that sends only new messages repeats the calls of the last reply before their results.
        None if request.first().is_some_and(|first| is_reply(first) && first.has_calls()) => {
            before_edited.unwrap_or(leaf)
        }
        None if request.iter().any(is_reply) => session.root_id(),
        None => leaf,
    };
    let (after, last) = (after.clone(), last.cloned());
    let known = known_ids(session, last, known);
    let all = messages.iter_mut().filter(|message| !is_instruction(&message.node));
    all.zip(known).for_each(|(message, id)| message.stored = Some(id));
    after
}

/// Sets the stored message of each message that a retry repeats below a message. Returns the message that the new ones
/// follow.
pub(crate) fn align_below(
    session: &Session,
    after: &NodeId,
    messages: &mut [RequestMessage],
    rules: AlignmentRules<'_>,
) -> NodeId {
    let mut last = after.clone();
    for message in messages.iter_mut().filter(|message| !is_instruction(&message.node)) {
        let said = ComparedMessage::new(&message.node);
        let is_repeated =
            |node: &Node| takes_part(node) && (rules.is_retry)(node) && ComparedMessage::new(node) == said;
        let repeated = children(session, &last).find(|id| session.node(id).is_some_and(is_repeated)).cloned();
        let Some(id) = repeated else { break };
        last = id.clone();
        message.stored = Some(id);
    }
    last
}

/// Gives calls without ids, and their results, the ids of the stored calls.
pub(crate) fn take_stored_ids(session: &Session, messages: &mut [RequestMessage]) {
    let mut ids: HashMap<Arc<str>, Arc<str>> = HashMap::new();
    for RequestMessage { node, stored, .. } in messages {
        let stored = stored.as_ref().and_then(|id| session.node(id));
        let known = stored.into_iter().flat_map(|stored| &stored.tool_calls);
        for (call, known) in node.tool_calls.iter_mut().zip(known) {
            if let (Some(id), Some(known)) = (&mut call.id, &known.id)
                && is_added_id(id)
            {
                ids.insert(id.clone(), known.clone());
                id.clone_from(known);
            }
        }
        if let Some(id) = &mut node.tool_call_id
            && let Some(known) = ids.get(id)
        {
            id.clone_from(known);
        }
    }
}

/// Returns the messages of the active branch that a request of this length can match. One message matches only at the
/// end, up to the last message that is not a reply.
fn active_path(session: &Session, request: usize) -> Vec<(&NodeId, ComparedMessage<'_>)> {
    let above = session.ancestors(session.active_leaf_id()).filter(|(_, node)| takes_part(node));
    let mut is_over = false;
    let is_near = |(_, message): &(&NodeId, ComparedMessage<'_>)| {
        !std::mem::replace(&mut is_over, request == 1 && message.role != Role::Assistant)
    };
    let above = above.map(|(id, node)| (id, ComparedMessage::new(node)));
    let mut path: Vec<_> = above.take_while(is_near).collect();
    path.reverse();
    path
}

/// Returns the stored message that a request with one message repeats.
fn find_retried<'s>(
    path: &[(&'s NodeId, ComparedMessage<'_>)],
    request: &[ComparedMessage<'_>],
    rules: AlignmentRules<'_>,
) -> Option<&'s NodeId> {
    let [said] = request else { return None };
    let (id, stored) = path.iter().rfind(|(_, said)| said.role != Role::Assistant)?;
    (stored == said && (rules.is_retry)(stored.node)).then_some(*id)
}

/// Returns how many messages match, and the last of them.
fn longest_match<'s>(
    session: &'s Session,
    path: &[(&'s NodeId, ComparedMessage<'_>)],
    request: &[ComparedMessage<'_>],
    rules: AlignmentRules<'_>,
) -> (usize, Option<&'s NodeId>) {
    let (mut known, mut last) = longest_branch(session, request);
    let is_first_turn = path.first().map(|(id, _)| *id) == last;
    if request.len() == 1 && !rules.sends_history && !is_first_turn {
        // A new message that equals the first one.
        (known, last) = (0, None);
    }
    let mut back = vec![0; request.len()];
    for index in 1..request.len() {
        back[index] = advance_match(request, &back, back[index - 1], &request[index]);
    }
    let mut matched = 0;
    for (index, (id, said)) in path.iter().enumerate() {
        matched = advance_match(request, &back, matched, said);
        let least = if index + 1 == path.len() { 1 } else { 2 };
        if matched >= known.max(least) {
            (known, last) = (matched, Some(*id));
        }
    }
    (known, last)
}

/// Returns how many of the first messages match after the next one, as in the algorithm of Knuth, Morris and Pratt.
fn advance_match(
    request: &[ComparedMessage<'_>],
    back: &[usize],
    mut matched: usize,
    next: &ComparedMessage<'_>,
) -> usize {
    while request.get(matched).is_none_or(|said| said != next) {
        let Some(last) = matched.checked_sub(1) else { return 0 };
        matched = back[last];
    }
    matched + 1
}

/// Finds the branch that begins with the most messages of a request; of equal branches, prefers the selected one.
fn longest_branch<'s>(session: &'s Session, request: &[ComparedMessage<'_>]) -> (usize, Option<&'s NodeId>) {
    let mut found = (0, None);
    let mut ends = vec![session.root_id()];
    for (index, said) in request.iter().enumerate() {
        let mut open: Vec<&NodeId> = ends.iter().rev().flat_map(|id| children(session, id)).collect();
        let mut next = Vec::new();
        while let Some(id) = open.pop() {
            match session.node(id) {
                Some(node) if !takes_part(node) => open.extend(children(session, id)),
                Some(node) if ComparedMessage::new(node) == *said => next.push(id),
                _ => {}
            }
        }
        let is_selected = |id: &&&NodeId| {
            let parent = session.node(id).and_then(|node| session.node(node.parent_id.as_ref()?));
            parent.is_some_and(|parent| parent.last_selected_child_id.as_ref() == Some(**id))
        };
        let Some(last) = next.iter().find(is_selected).or(next.last()).copied() else { break };
        (found, ends) = ((index + 1, Some(last)), next);
    }
    found
}

fn children<'s>(session: &'s Session, id: &str) -> impl Iterator<Item = &'s NodeId> {
    session.node(id).into_iter().flat_map(|node| node.children_ids.iter().rev())
}

/// Returns the last `count` messages up to `last` that take part, oldest first.
fn known_ids(session: &Session, last: Option<NodeId>, count: usize) -> Vec<NodeId> {
    let Some(last) = last else { return Vec::new() };
    let above = session.ancestors(&last).filter(|(_, node)| takes_part(node));
    let mut ids: Vec<NodeId> = above.take(count).map(|(id, _)| id.clone()).collect();
    ids.reverse();
    ids
}

fn is_instruction(node: &Node) -> bool {
    node.role.is_some_and(Role::is_instruction)
}

/// Returns whether a client knows a stored message.
fn takes_part(node: &Node) -> bool {
    !is_instruction(node) && !node.is_error() && !node.is_summary()
}

/// A message for comparison: without reasoning, cache marks, and spaces at the ends.
struct ComparedMessage<'a> {
    role: Role,
    text: Cow<'a, str>,
    node: &'a Node,
    /// The arguments of the calls as JSON, once a comparison needs them.
    arguments: OnceCell<Vec<Option<Value>>>,
}

impl<'a> ComparedMessage<'a> {
    fn new(node: &'a Node) -> Self {
        let typed =
            node.metadata.as_ref().and_then(|metadata| metadata.kept.get(PreparedInput::RAW_KEY)?.as_str());
        let text = typed.map(Cow::Borrowed).or_else(|| node.content.as_ref().map(Content::text));
        let text = match text.unwrap_or_default() {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
        Self { role: node.role.unwrap_or_default(), text, node, arguments: OnceCell::new() }
    }

    fn has_same_calls(&self, other: &Self) -> bool {
        let count = self.node.tool_calls.len();
        count == other.node.tool_calls.len() && (0..count).all(|index| self.has_same_call(other, index))
    }

    /// Compares calls with the same index.
    fn has_same_call(&self, other: &Self, index: usize) -> bool {
        let (one, two) = (&self.node.tool_calls[index], &other.node.tool_calls[index]);
        is_same_id(one.id.as_deref(), two.id.as_deref())
            && one.name == two.name
            && (one.arguments.as_deref().unwrap_or_default() == two.arguments.as_deref().unwrap_or_default()
                // Some dialects send arguments as JSON, whose spaces are lost.
                || self.arguments(index).is_some_and(|arguments| Some(arguments) == other.arguments(index)))
    }

    fn arguments(&self, index: usize) -> Option<&Value> {
        let parse = |call: &StoredToolCall| serde_json::from_str(call.arguments.as_deref()?).ok();
        self.arguments.get_or_init(|| self.node.tool_calls.iter().map(parse).collect())[index].as_ref()
    }

    fn has_calls(&self) -> bool {
        !self.node.tool_calls.is_empty()
    }

    /// Parts other than texts. Replies are stored with their texts and calls.
    fn parts(&self) -> impl Iterator<Item = Cow<'a, Value>> {
        let parts = match &self.node.content {
            Some(Content::Parts(parts)) if self.role != Role::Assistant => parts.as_slice(),
            _ => &[],
        };
        parts.iter().filter_map(|part| match part {
            ContentPart::Text(_) => None,
            ContentPart::Other(part) => Some(without_marks(part)),
        })
    }
}

impl PartialEq for ComparedMessage<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role
            // Some clients do not repeat the text before calls.
            && (self.text == other.text
                || self.has_calls() && (self.text.is_empty() || other.text.is_empty()))
            && is_same_id(self.node.tool_call_id.as_deref(), other.node.tool_call_id.as_deref())
            && self.node.is_tool_error() == other.node.is_tool_error()
            && self.has_same_calls(other)
            && self.parts().eq(other.parts())
    }
}

fn is_same_id(one: Option<&str>, other: Option<&str>) -> bool {
    one == other || one.zip(other).is_some_and(|(one, other)| is_added_id(one) || is_added_id(other))
}

/// Returns whether the reader of a request added the id, such as `call-1-0`, to a call without one.
fn is_added_id(id: &str) -> bool {
    let numbers = id.strip_prefix("call-").and_then(|numbers| numbers.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(index, position)| is_number(index) && is_number(position))
}

/// Returns the conversation as a request sends it: with the system messages of the request and, if the provider has the
/// client's dialect, with the contents and fields of the messages that it repeats. Only messages of the request have
/// cache marks. `None` if the stored one is the same.
pub(crate) fn sent_session(
    stored: &Session,
    messages: &[RequestMessage],
    is_same_dialect: bool,
) -> Result<Option<Session>, SessionError> {
    let mut ops = Vec::new();
    if messages.first().is_some_and(|message| is_instruction(&message.node)) {
        let leading = stored.path().into_iter().take_while(|node| is_instruction(node));
        let ids = leading.filter_map(|node| node.id.clone());
        ops.extend(ids.map(|id| SessionOp::Toggle { id, enabled: false }));
    }
    let shown = messages.iter().filter(|message| is_same_dialect || message.is_added);
    let nodes: Vec<NodePatch> = shown.filter_map(|message| patch_message(stored, message)).collect();
    if !nodes.is_empty() {
        ops.push(SessionOp::Patch(Patch { nodes, active_leaf: None }));
    }
    let mut before = stored.root_id().clone();
    let numbers = (1_usize..).map(|number| NodeId::from(format!("system-{number}")));
    let mut free = numbers.filter(|id| stored.node(id).is_none());
    for message in messages {
        before = match &message.stored {
            Some(id) => id.clone(),
            None if !is_instruction(&message.node) => continue,
            None => {
                let id = free.next().expect("an unbounded range has a free id");
                let node = Box::new(message.node.clone().with_id(id.clone()));
                ops.push(SessionOp::Insert { after: before, node });
                id
            }
        };
    }
    if ops.is_empty() {
        return Ok(None);
    }
    let mut session = stored.clone();
    ops.iter().try_for_each(|op| session.apply(op).map(drop))?;
    Ok(Some(session))
}

/// Returns a stored message with the content and the fields of the client's, if they differ.
fn patch_message(session: &Session, message: &RequestMessage) -> Option<NodePatch> {
    let (id, given) = (message.stored.as_ref()?, &message.node);
    let stored = session.node(id)?;
    let is_typed =
        |metadata: &ctx_types::session::NodeMetadata| metadata.kept.get(PreparedInput::RAW_KEY).is_some();
    if stored.metadata.as_deref().is_some_and(is_typed) {
        return None;
    }
    let mut node = stored.clone();
    node.content.clone_from(&given.content);
    node.name.clone_from(&given.name);
    node.tool_calls.clone_from(&given.tool_calls);
    for key in ["content", "providerFields", "cache_control"] {
        match given.kept.get(key) {
            Some(value) => node.kept.set(key, value.clone()),
            None => drop(node.kept.remove(key)),
        }
    }
    if let Some(given) = given.metadata.as_deref() {
        let metadata = node.metadata.get_or_insert_default();
        if given.reasoning_content.is_some() || !given.reasoning_artifacts.is_empty() {
            metadata.reasoning_content.clone_from(&given.reasoning_content);
            metadata.reasoning_artifacts.clone_from(&given.reasoning_artifacts);
        }
        if let Some(order) = given.kept.get(BlockOrder::KEY) {
            metadata.kept.set(BlockOrder::KEY, order.clone());
        }
    }
    (node != *stored).then(|| NodePatch {
        id: id.clone(),
        node: Some(Arc::new(node)),
        ..NodePatch::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes of letters: capital ones are of the user.
    fn nodes(letters: &str) -> impl Iterator<Item = Node> {
        let role = |letter: char| if letter.is_uppercase() { Role::User } else { Role::Assistant };
        letters.chars().map(move |letter| Node::new(role(letter), letter.to_string()))
    }

    /// Aligns a request with a stored conversation, whose messages are `n1`, `n2` and so on.
    #[track_caller]
    fn check(stored: &str, request: &str, known: &str, after: &str) {
        let (session, _) = Session::linear("c", nodes(stored));
        let mut messages: Vec<RequestMessage> = nodes(request).map(RequestMessage::new).collect();
        let rules = AlignmentRules { sends_history: false, is_retry: &|_| false };
        let found = align(&session, &mut messages, rules);
        let ids: Vec<&str> = messages.iter().filter_map(|message| message.stored.as_deref()).collect();
        assert_eq!((ids.join(" ").as_str(), &*found), (known, after), "{stored} {request}");
    }

    #[test]
    fn finds_longest_and_latest_match() {
        check("AaBb", "AaBbC", "n1 n2 n3 n4", "n4");
        check("AaBbCc", "BbCcD", "n3 n4 n5 n6", "n6");
        check("AaBbCc", "BbX", "n3 n4", "n4");
        check("AaBb", "AaX", "n1 n2", "n2");
        check("AaBb", "AaB", "n1 n2 n3", "n3");
        check("AaAaAa", "AaB", "n5 n6", "n6");
        check("AaAaB", "AaAaB", "n1 n2 n3 n4 n5", "n5");
        check("AaBb", "AaBbAaBc", "n1 n2 n3 n4", "n4");
    }

    fn calling(text: &str, id: &str) -> Node {
        let call = StoredToolCall {
            id: Some(id.into()),
            name: Some("look".into()),
            arguments: Some("{}".into()),
            ..StoredToolCall::default()
        };
        Node { tool_calls: vec![call], ..Node::new(Role::Assistant, text) }
    }

    fn result(id: &str) -> Node {
        Node { tool_call_id: Some(id.into()), ..Node::new(Role::Tool, "red") }
    }

    /// Aligns the calls of an incremental client. Returns the stored messages, the parent of the new ones, and the ids
    /// of the results.
    fn align_calls(request: Vec<Node>) -> (Vec<Option<NodeId>>, NodeId, Vec<Arc<str>>) {
        let stored = [Node::new(Role::User, "Which?"), calling("Let me look.", "c1")];
        let (session, _) = Session::linear("c", stored);
        let mut messages: Vec<RequestMessage> = request.into_iter().map(RequestMessage::new).collect();
        let rules = AlignmentRules { sends_history: false, is_retry: &|_| false };
        let after = align(&session, &mut messages, rules);
        take_stored_ids(&session, &mut messages);
        let results = messages.iter().filter_map(|message| message.node.tool_call_id.clone()).collect();
        (messages.into_iter().map(|message| message.stored).collect(), after, results)
    }

    #[test]
    fn aligns_calls_without_text_or_ids() {
        let id = |id: &str| NodeId::from(id);
        let expected = (vec![Some(id("n2")), None], id("n2"), vec![id("c1")]);
        assert_eq!(align_calls(vec![calling("", "c1"), result("c1")]), expected);
        assert_eq!(align_calls(vec![calling("", "call-0-0"), result("call-0-0")]), expected);
        let mut spaced = calling("", "c1");
        spaced.tool_calls[0].arguments = Some("{ }".into());
        assert_eq!(align_calls(vec![spaced, result("c1")]), expected);
        let (stored, after, _) = align_calls(vec![calling("", "c2"), result("c2")]);
        assert_eq!((stored, after), (vec![None, None], id("n2")));
        // The text differs: another message, not the stored one without its text.
        let (stored, after, _) = align_calls(vec![calling("Edited.", "c1"), result("c1")]);
        assert_eq!((stored, after), (vec![None, None], id("n1")));
    }

    #[test]
    fn aligns_no_single_message_inside() {
        check("AaBbC", "C", "n5", "n5");
        check("AaBb", "A", "", "n4");
        check("Aa", "A", "n1", "n1");
        check("AaBb", "B", "", "n4");
        check("AaBb", "X", "", "n4");
        check("AaBb", "XxB", "", "root");
    }
}
