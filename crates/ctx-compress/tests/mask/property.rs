//! What holds of masks whatever the conversation and whatever happens to it.

use std::collections::{BTreeMap, BTreeSet};

use ctx_compress::mask::{
    MaskConfig, MaskDraft, MaskPlan, MaskSelection, SummaryFailure, check_summaries, delete_summary,
    edit_summary, switch_summary,
};
use ctx_tokens::Counter;
use ctx_types::internal::{DisplayState, display_path};
use ctx_types::ports::{PortError, PortErrorKind, SummaryAnswer, SummaryFinish, SummaryRequest};
use ctx_types::session::{History, Node, NodeEdit, NodeId, Session, SessionOp, pending_start};
use ctx_types::{Content, Role, groups, phrase};
use proptest::prelude::*;

use crate::generate::{Draw, Event, draws, events, session};
use crate::{Scripted, bytes, summarize, visible};

/// How many conversations each rule is tried on; `PROPTEST_CASES` asks for more.
pub(crate) fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(1_000), failure_persistence: None, ..default }
}

fn config(switches: u8) -> MaskConfig {
    MaskConfig {
        protect_recent_count: usize::from(switches & 3),
        compress_count: 1 + usize::from(switches >> 2 & 7),
        roll_up_percent: if switches & 32 == 0 { 100 } else { 0 },
        summary_retries: u32::from(switches >> 6),
        ..MaskConfig::default()
    }
}

fn selection(session: &Session, (kind, a, b, _): Event) -> MaskSelection {
    let ids: Vec<NodeId> = session.nodes().map(|(id, _)| id.clone()).chain(["elsewhere".into()]).collect();
    match kind {
        0 => MaskSelection::Oldest,
        1 => MaskSelection::All,
        2 => MaskSelection::Summaries,
        _ => MaskSelection::Between { from: ids[a % ids.len()].clone(), to: ids[b % ids.len()].clone() },
    }
}

fn plan(session: &Session, event: Event) -> Option<MaskPlan> {
    MaskPlan::new(session, &config(event.3), &selection(session, event), &Counter::estimate()).ok()
}

/// Summarizes by a summarizer that is good or bad in a way that the draw decides.
fn draft(plan: MaskPlan, kind: usize) -> Result<MaskDraft, SummaryFailure> {
    let answer = |_: &SummaryRequest| match kind % 12 {
        0 => Err(PortError::new(PortErrorKind::Unavailable, phrase!("x"))),
        1 => Ok("".into()),
        2 => Ok("{\"tool_calls\":[]}".into()),
        3 => Ok("long ".repeat(5_000).into()),
        4 => Ok(SummaryAnswer { text: "cut".into(), finish: SummaryFinish::Length }),
        _ => Ok("ok".into()),
    };
    summarize(plan, &Scripted { answer, window: None })
}

/// What nodes that are no summaries say, by id.
fn words(session: &Session) -> BTreeMap<NodeId, String> {
    let ordinary = session.nodes().filter(|(_, node)| !node.is_summary());
    let words = |node: &Node| {
        let mut file = serde_json::json!(node);
        for link in ["parentId", "childrenIds", "lastSelectedChildId"] {
            file.as_object_mut().unwrap().shift_remove(link);
        }
        file.to_string()
    };
    ordinary.map(|(id, node)| (id.clone(), words(node))).collect()
}

/// Asserts that links point back, that everything hangs below the root, and that nothing is shown and hidden.
fn assert_sound(session: &Session) {
    let mut open = vec![session.root_id().clone()];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        assert!(seen.insert(id.clone()), "`{id}` is reached twice");
        let node = session.node(&id).unwrap();
        for child in &node.children_ids {
            assert_eq!(session.node(child).unwrap().parent_id.as_ref(), Some(&id));
            open.push(child.clone());
        }
    }
    assert_eq!(seen.len(), session.nodes().count());
    let shown = display_path(session, &[]);
    for one in &shown {
        if let DisplayState::Hidden { by } = &one.state {
            let by = shown.iter().find(|other| other.id == by).unwrap();
            assert_eq!(by.state, DisplayState::Visible, "what hides is visible");
        }
    }
    check_summaries(session);
}

/// Asserts what holds of a range: whole groups, nothing protected, oldest first, nothing left between.
fn assert_range(session: &Session, plan: &MaskPlan, selection: &MaskSelection) {
    let nodes: Vec<&Node> = ctx_types::session::visible_path(session);
    let messages: Vec<_> = nodes.iter().map(|node| node.to_message(node.id.as_ref().unwrap())).collect();
    let position = |id: &NodeId| nodes.iter().position(|node| node.id.as_ref() == Some(id));
    let taken: BTreeSet<usize> = plan.range.messages.iter().map(|id| position(id).unwrap()).collect();
    let covered: BTreeSet<usize> = plan.range.covered.iter().map(|id| position(id).unwrap()).collect();
    let is_live = |node: &Node| node.metadata.as_ref().is_some_and(|data| data.greeting_live == Some(true));
    let instructs = |at: usize| nodes[at].role.is_some_and(Role::is_instruction);
    let is_silent = !nodes.iter().any(|node| node.role == Some(Role::User) || node.is_summary());
    let is_greeting = |at: usize| {
        let speaks = messages[at].role == Role::Assistant && messages[at].tool_calls.is_empty();
        instructs(at) || is_live(nodes[at]) || speaks
    };
    let greetings = (0..nodes.len()).take_while(|at| is_silent && is_greeting(*at)).count();
    let is_candidate =
        |at: usize| at >= greetings && !nodes[at].is_summary() && !instructs(at) && !is_live(nodes[at]);
    assert!(taken.iter().all(|at| is_candidate(*at)));
    assert!(covered.iter().all(|at| nodes[*at].is_summary()));
    let end = messages.len() - usize::from(messages.last().is_some_and(|last| last.is_continuation_prefix));
    let pending = pending_start(&messages[..end]);
    assert!(taken.iter().all(|at| *at < pending), "the pending turn stays");
    for group in groups(&messages) {
        let members: Vec<usize> = group.filter(|at| is_candidate(*at)).collect();
        let count = members.iter().filter(|at| taken.contains(at)).count();
        assert!(count == 0 || count == members.len(), "a group is taken whole");
    }
    let is_automatic = matches!(selection, MaskSelection::Oldest | MaskSelection::All);
    let said: Vec<usize> = (0..nodes.len()).filter(|at| is_candidate(*at)).collect();
    let tail = said.len().saturating_sub(plan.config.protect_recent_count);
    if is_automatic {
        assert!(taken.iter().all(|at| !said[tail..].contains(at)), "the newest stay");
        assert_eq!(said.first(), taken.first(), "the oldest go first");
    }
    if let (Some(first), Some(last)) = (taken.first(), taken.last())
        && is_automatic
    {
        let between = (*first..=*last).filter(|at| is_candidate(*at)).count();
        assert_eq!(between, taken.len(), "no candidate is left between");
        let summaries = (*first..=*last).filter(|at| nodes[*at].is_summary());
        assert!(summaries.into_iter().all(|at| covered.contains(&at)), "summaries between are taken in");
    }
    if *selection == MaskSelection::Oldest && taken.len() > plan.config.compress_count {
        // Only one thing that cannot be parted is larger than what is allowed.
        let calls = taken
            .iter()
            .filter(|at| !messages[**at].tool_calls.is_empty() || messages[**at].role == Role::Tool);
        assert!(calls.count() >= 1);
    }
}

/// What is visible after the range gave way to the summary.
fn expected_view(before: &[NodeId], plan: &MaskPlan, summary: &NodeId) -> Vec<NodeId> {
    let mut view = Vec::new();
    for id in before {
        if !plan.range.messages.contains(id) && !plan.range.covered.contains(id) {
            view.push(id.clone());
        }
        if *id == plan.range.after {
            view.push(summary.clone());
        }
    }
    view
}

/// The visible paths of all leaves but those below a node.
fn elsewhere(session: &Session, node: &NodeId) -> Vec<(NodeId, Vec<NodeId>)> {
    let leaves = session.nodes().filter(|(_, node)| node.children_ids.is_empty()).map(|(id, _)| id.clone());
    let away = leaves.filter(|leaf| session.ancestors(leaf).all(|(id, _)| id != node));
    let view = |leaf: NodeId| {
        let mut session = session.clone();
        session.apply(&SessionOp::ActivateLeaf { id: leaf.clone() }).unwrap();
        let view = visible(&session);
        (leaf, view)
    };
    away.map(view).collect()
}

/// Compresses once and undoes it in every way.
fn check_compression(draws: &[Draw], event: Event) {
    let mut session = session(draws);
    let (before, file, said) = (visible(&session), bytes(&session), words(&session));
    let Some(plan) = plan(&session, event) else { return };
    assert_range(&session, &plan, &selection(&session, event));
    let Ok(draft) = draft(plan, event.1 / 7) else { return };
    assert!(draft.summary_tokens < draft.plan.replaced_tokens, "a summary is shorter");
    let others = elsewhere(&session, &draft.plan.range.after);
    let commit = draft.commit(&session, 7).unwrap();
    assert_eq!(bytes(&session), file);
    let undo = session.apply(&commit.op).unwrap();
    assert_sound(&session);
    assert_eq!(words(&session), said);
    assert_eq!(visible(&session), expected_view(&before, &draft.plan, &commit.id));
    assert_eq!(elsewhere(&session, &draft.plan.range.after), others, "other branches show what they showed");
    let compressed = bytes(&session);
    assert_eq!(bytes(&serde_json::from_str(&compressed).unwrap()), compressed);

    let off = switch_summary(&session, &commit.id, false).unwrap();
    session.apply(&off).unwrap();
    assert_eq!(visible(&session), before, "disabled");
    session.apply(&switch_summary(&session, &commit.id, true).unwrap()).unwrap();
    assert_eq!(bytes(&session), compressed, "switched on again");

    let mut deleted = session.clone();
    let back = deleted.apply(&delete_summary(&deleted, &commit.id).unwrap()).unwrap();
    assert_sound(&deleted);
    assert_eq!(visible(&deleted), before, "deleted");
    assert_eq!(words(&deleted), said);
    deleted.apply(&back).unwrap();
    assert_eq!(bytes(&deleted), compressed);

    let redo = session.apply(&undo).unwrap();
    assert_eq!(bytes(&session), file, "undone");
    session.apply(&redo).unwrap();
    assert_eq!(bytes(&session), compressed, "done again");
}

/// Carries out an event that is no compression by itself; nothing if it does not fit.
fn happen(session: &Session, (kind, a, b, switches): Event, number: usize) -> Option<SessionOp> {
    let counter = Counter::estimate();
    let all: Vec<&NodeId> = session.nodes().map(|(id, _)| id).collect();
    let summaries: Vec<&NodeId> =
        session.nodes().filter(|(_, node)| node.is_summary()).map(|(id, _)| id).collect();
    let summary = || summaries.get(a % summaries.len().max(1)).copied();
    let id = all[a % all.len()].clone();
    let node = || Box::new(Node::new(Role::User, "new words").with_id(format!("new{number}")));
    match kind {
        4 => Some(switch_summary(session, summary()?, switches % 2 == 0).unwrap()),
        5 => Some(delete_summary(session, summary()?).unwrap()),
        6 => Some(edit_summary(session, summary()?, "other words", &counter).unwrap()),
        7 => {
            let plan = MaskPlan::regenerate(session, &config(switches), summary()?, &counter).ok()?;
            Some(draft(plan, b).ok()?.commit(session, 9).unwrap().op)
        }
        8 => Some(SessionOp::Append { parent: session.active_leaf_id().clone(), node: node() }),
        9 => Some(SessionOp::Append { parent: id, node: node() }),
        10 => Some(SessionOp::ActivateLeaf { id }),
        11 => Some(SessionOp::Remove { id }),
        12 => Some(SessionOp::Edit { id, edit: Box::new(NodeEdit::content(Content::Text("edited".into()))) }),
        13 => None,
        _ => Some(draft(plan(session, (kind, a, b, switches))?, b / 3).ok()?.commit(session, 7).unwrap().op),
    }
}

/// Lets many things happen, through the log; some are undone, done again, or survive a crash.
fn check_history(draws: &[Draw], events: &[Event]) {
    let mut session = session(draws);
    let mut history = History::default();
    let mut files = vec![bytes(&session)];
    for (number, event) in events.iter().enumerate() {
        let said = words(&session);
        if let Some(op) = happen(&session, *event, number) {
            let is_mask = !matches!(event.0, 8..=13);
            if history.apply(&mut session, "event", Some(7), op).is_ok() {
                files.push(bytes(&session));
                assert!(!is_mask || words(&session) == said, "{event:?} changes no message");
            }
        }
        assert_sound(&session);
        if event.3 & 0x30 == 0 && history.undo(&mut session).is_ok() {
            let after = files.pop().unwrap();
            assert_eq!(bytes(&session), *files.last().unwrap(), "{event:?} undone");
            if event.3 & 0x40 == 0 {
                history.redo(&mut session).unwrap();
                assert_eq!(bytes(&session), after, "{event:?} done again");
                files.push(after);
            }
        }
        if event.0 == 13 {
            history.write(&mut session.header);
            session = serde_json::from_str(&bytes(&session)).unwrap();
            let (read, found) = History::read(&session.header);
            assert_eq!((found, &read), (vec![], &history));
            session.header = Session::new("s").header;
        }
    }
    for file in files.iter().rev().skip(1) {
        history.undo(&mut session).unwrap();
        assert_eq!(bytes(&session), *file);
    }
}

/// Plans, lets something happen, and commits: what is committed is what was planned, or nothing is.
fn check_meanwhile(draws: &[Draw], event: Event, meanwhile: Event) {
    let mut session = session(draws);
    let Some(plan) = plan(&session, event) else { return };
    let Ok(draft) = draft(plan, 11) else { return };
    let texts = |session: &Session| -> Vec<Option<Content>> {
        let ids = draft.plan.range.covered.iter().chain(&draft.plan.range.messages);
        ids.map(|id| session.node(id).and_then(|node| node.content.clone())).collect()
    };
    let planned = texts(&session);
    if let Some(op) = happen(&session, meanwhile, 0)
        && session.apply(&op).is_err()
    {
        return;
    }
    let (before, file) = (visible(&session), bytes(&session));
    let Ok(commit) = draft.commit(&session, 7) else {
        assert_eq!(bytes(&session), file);
        return;
    };
    assert_eq!(texts(&session), planned, "what is committed is what was summarised");
    let undo = session.apply(&commit.op).unwrap();
    assert_eq!(visible(&session), expected_view(&before, &draft.plan, &commit.id));
    session.apply(&undo).unwrap();
    assert_eq!(bytes(&session), file);
}

/// Compresses, lets messages follow, undoes: the messages stay, and what was hidden shows again.
fn check_later_messages(draws: &[Draw], event: Event) {
    let mut session = session(draws);
    let Some(plan) = plan(&session, event) else { return };
    let Ok(draft) = draft(plan, 11) else { return };
    let before = visible(&session);
    let mut history = History::default();
    let commit = draft.commit(&session, 7).unwrap();
    history.apply(&mut session, "compress", None, commit.op).unwrap();
    for id in ["later", "latest"] {
        let node = Box::new(Node::new(Role::User, id).with_id(id));
        session.apply(&SessionOp::Append { parent: session.active_leaf_id().clone(), node }).unwrap();
    }
    history.undo(&mut session).unwrap();
    assert_sound(&session);
    let later = ["later", "latest"].map(NodeId::from);
    assert_eq!(visible(&session), [before.as_slice(), &later].concat());
}

proptest! {
    #![proptest_config(cases())]

    /// Invariants 14, 16 and 17.
    #[test]
    fn a_compression_hides_its_range_and_can_be_taken_back(draws in draws(), event in (0_u8..4, any::<usize>(), any::<usize>(), any::<u8>())) {
        check_compression(&draws, event);
    }

    /// Invariants 13, 15 and 20.
    #[test]
    fn any_history_can_be_undone_step_by_step(draws in draws(), events in events()) {
        check_history(&draws, &events);
    }

    /// Invariant 18, where something happens meanwhile.
    #[test]
    fn a_commit_fits_the_session_or_is_refused(
        draws in draws(),
        event in (0_u8..4, any::<usize>(), any::<usize>(), any::<u8>()),
        meanwhile in (0_u8..14, any::<usize>(), any::<usize>(), any::<u8>()),
    ) {
        check_meanwhile(&draws, event, meanwhile);
    }

    /// Invariant 20, with later messages.
    #[test]
    fn messages_that_follow_survive_the_undoing(draws in draws(), event in (0_u8..4, any::<usize>(), any::<usize>(), any::<u8>())) {
        check_later_messages(&draws, event);
    }
}
