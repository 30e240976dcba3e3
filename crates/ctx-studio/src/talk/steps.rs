//! Steps: each is one entry in the log of the conversation, written before the page hears of it.

use ctx_chat::StepLabel;
use ctx_project::Sources;
use ctx_project::chat::now;
use ctx_project::compress::{SummaryFile, SummaryPart, SummaryStep, SummaryWriter};
use ctx_project::files::{self, Existing, FilesRead};
use ctx_project::options::{SummarizerChoice, SummarizerOptions};
use ctx_project::session_file::{SessionFile, Target};
use ctx_tokens::Counter;
use ctx_types::session::{HistoryError, Node, NodeEdit, NodeId, Session, SessionOp};
use ctx_types::{Content, Role, phrase};

use super::compressing::settings_for;
use super::open;
use crate::access::random;
use crate::api_talk::{ConversationStep, StepTaken, TakeStep};
use crate::call::{Call, Refusal};
use crate::codes;
use crate::server::Server;

/// Takes a step, if the conversation is as the page saw it.
pub(crate) fn take(server: &Server, call: &Call) -> Result<StepTaken, Refusal> {
    let id = call.part("f");
    let TakeStep { base, step, agent } = call.json()?;
    let _writing = server.talks.begin();
    let mut file = open(server, id, &base)?;
    let is_summary = |node: &str| file.session.node(node).is_some_and(Node::is_summary);
    let (label, about) = match &step {
        ConversationStep::Undo => {
            let steps = StepLabel::count_undo(&file.history);
            (repeat(steps, || file.undo())?, None)
        }
        ConversationStep::Redo => {
            let steps = StepLabel::count_redo(&file.history);
            (repeat(steps, || file.redo())?, None)
        }
        ConversationStep::Regenerate { id } => {
            return regenerate(server, call, file, (id, agent.as_deref()));
        }
        ConversationStep::Toggle { id, .. }
        | ConversationStep::Remove { id }
        | ConversationStep::Edit { id, .. }
            if is_summary(id) =>
        {
            return of_summary(server, call, file, (id, &step));
        }
        _ => {
            let (label, op, about) = operation(&file, step)?;
            file.apply(&label, now(), &op).map_err(ctx_project::ProjectError::from)?;
            (label, Some(about))
        }
    };
    written(server, call, file, (label, about))
}

/// Returns the operation that activates a message, so the next reply starts a branch below it. `None` if it is active.
pub(super) fn switch_to(session: &Session, id: &str) -> Result<Option<SessionOp>, Refusal> {
    let node = session.node(id).filter(|node| node.parent_id.is_some());
    node.ok_or_else(|| Refusal::not_found(phrase!("no message `{id}`", id)))?;
    let is_active = **session.active_leaf_id() == *id;
    Ok((!is_active).then(|| SessionOp::ActivateLeaf { id: id.into() }))
}

/// Undoes or redoes the steps of a turn. Returns the label of the last one.
fn repeat(
    steps: usize,
    mut step: impl FnMut() -> Result<String, HistoryError>,
) -> Result<String, ctx_project::ProjectError> {
    let mut label = step()?;
    for _ in 1..steps {
        label = step()?;
    }
    Ok(label)
}

/// Makes the operation of a step on messages, and its name in the log.
fn operation(file: &SessionFile, step: ConversationStep) -> Result<(String, SessionOp, String), Refusal> {
    let session = &file.session;
    let there = |id: &str| {
        let node = session.node(id).filter(|node| node.parent_id.is_some());
        node.ok_or_else(|| Refusal::not_found(phrase!("no message `{id}`", id)))
    };
    Ok(match step {
        ConversationStep::Edit { id, text } => {
            there(&id)?;
            let edit = Box::new(NodeEdit::content(Content::Text(text.into())));
            (format!("edit {id}"), SessionOp::Edit { id: id.as_str().into(), edit }, id)
        }
        ConversationStep::Branch { id, text } => {
            let node = there(&id)?;
            let parent = node.parent_id.clone().unwrap_or_default();
            let other = Node::new(node.role.unwrap_or_default(), text);
            let (new, op) = appended(parent, Node { attachments: node.attachments.clone(), ..other })?;
            (format!("branch from {id}"), op, new)
        }
        ConversationStep::Append { role, text } => {
            let role = Role::parse(&role)
                .ok_or_else(|| Refusal::malformed(phrase!("unknown role `{role}`", role)))?;
            let (new, op) = appended(session.active_leaf_id().clone(), Node::new(role, text))?;
            ("add a message".to_owned(), op, new)
        }
        ConversationStep::Activate { id } => {
            there(&id)?;
            let leaf = session.leaf_below(&id).cloned().unwrap_or_else(|| id.as_str().into());
            (format!("show the branch of {id}"), SessionOp::ActivateLeaf { id: leaf }, id)
        }
        ConversationStep::Toggle { id, enabled } => {
            there(&id)?;
            let word = if enabled { "enable" } else { "disable" };
            (format!("{word} {id}"), SessionOp::Toggle { id: id.as_str().into(), enabled }, id)
        }
        ConversationStep::Remove { id } => {
            let parent = there(&id)?.parent_id.clone().unwrap_or_default();
            (format!("delete {id}"), SessionOp::Remove { id: id.as_str().into() }, parent.to_string())
        }
        ConversationStep::Regenerate { .. } | ConversationStep::Undo | ConversationStep::Redo => {
            return Err(Refusal::malformed(phrase!("not a message operation")));
        }
    })
}

fn appended(parent: NodeId, node: Node) -> Result<(String, SessionOp), Refusal> {
    let id = random::<9>()
        .map_err(|_| Refusal::new(503, codes::BUSY, phrase!("cannot get random bytes from the system")))?;
    // Never one that a command line would take for an option.
    let id = format!("m{id}");
    let node = Box::new(node.with_id(id.as_str()));
    Ok((id, SessionOp::Append { parent, node }))
}

/// Takes a step on a summary, as `ctx compress` does.
fn of_summary(
    server: &Server,
    call: &Call,
    file: SessionFile,
    (id, step): (&str, &ConversationStep),
) -> Result<StepTaken, Refusal> {
    let mut summary = SummaryFile::find(file, id, Counter::estimate(), now())?;
    let step: Option<SummaryStep> = match step {
        ConversationStep::Toggle { enabled, .. } => summary.switch(SummaryPart::All, *enabled)?,
        ConversationStep::Edit { text, .. } => Some(summary.edit(text)?),
        _ => Some(summary.delete()?),
    };
    let Some(step) = step else {
        return Err(Refusal::unusable(phrase!("the summary already has this state")));
    };
    summary.take(&step)?;
    let (label, id) = (step.label, id.to_owned());
    written(server, call, summary.file, (label, Some(id)))
}

/// Writes a summary again from the sentences of its messages.
fn regenerate(
    server: &Server,
    call: &Call,
    file: SessionFile,
    (id, agent): (&str, Option<&str>),
) -> Result<StepTaken, Refusal> {
    let mut summary = SummaryFile::find(file, id, Counter::estimate(), now())?;
    let config = server.config(&mut server.sources())?;
    let config = settings_for(server, &config, agent)?.config;
    let plan = summary.plan(&config)?;
    let by = SummarizerOptions::new(SummarizerChoice::Extractive);
    let writer = SummaryWriter::of(&by, &config, &ctx_project::Config::default())?;
    let draft = pollster::block_on(writer.write(plan, Counter::estimate()))
        .map_err(|failure| Refusal::unusable(failure.phrase()))?;
    let (step, notice) = summary.rewrite(&draft).map_err(|stale| Refusal::unusable(stale.phrase()))?;
    summary.take(&step)?;
    let told = call.language.say(&notice.phrase());
    written(server, call, summary.file, (told, Some(id.to_owned())))
}

fn written(
    server: &Server,
    call: &Call,
    mut file: SessionFile,
    (label, about): (String, Option<String>),
) -> Result<StepTaken, Refusal> {
    file.save(&Target::InPlace, &FilesRead::default())?;
    let hash = super::told(server, call.part("f"), file);
    Ok(StepTaken { hash, told: label, id: about, view: None })
}

/// Writes a list of messages as a session beside it, which can be changed; returns the id of the new file.
pub(crate) fn make_session(server: &Server, call: &Call) -> Result<String, Refusal> {
    server.refuse_read_only()?;
    let _writing = server.talks.begin();
    let below = server.desk.path(call.part("f"))?;
    let path = super::path(server, call.part("f"))?;
    let file = SessionFile::open(&path, &Target::Nowhere, &mut Sources::default())?;
    let stem = below.rsplit_once('.').map_or(below.as_str(), |(stem, _)| stem);
    let to = format!("{stem}.session.json");
    server.desk.folder.refuse_elsewhere(&to)?;
    let bytes = files::pretty_json(&file.to_json());
    files::write(&[(server.desk.folder.full(&to), &bytes)], Existing::Keep, &FilesRead::default())?;
    server.look();
    server.desk.id(&to).ok_or_else(|| Refusal::not_found(phrase!("no such file")))
}
