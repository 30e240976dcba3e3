//! Asking the model, and what becomes of its answer: stored, and its calls carried out.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use ctx_engine::Ports;
use ctx_pipeline::Cancel;
use ctx_types::session::{Change, NodeEdit, NodeId, SessionOp};
use ctx_types::{Content, Message, Text, ToolCall};
use ctx_wire::{Delta, Finish, Reply};
use futures_util::StreamExt as _;

use crate::model::Progress;
use crate::spill::Spilled;
use crate::step_label::StepLabel;
use crate::tools::{Calling, Ran, Tool, ToolError, ToolHost, ToolLimits};
use crate::turn::outcome::{Stop, TurnError, TurnFailure};
use crate::turn::record::stored;
use crate::turn::request::{RequestBody, Target};
use crate::turn::{Running, TurnEvent};

/// What the model is told of a tool that says nothing.
const NO_OUTPUT: &str = "(no output)";

impl Running<'_, '_> {
    /// Asks the model; a request that is too large for it is made smaller and sent again, once in a turn.
    pub(super) async fn ask(&mut self, round: usize) -> Result<Reply, Stop> {
        loop {
            let RequestBody { bytes: body, parts, .. } = self.encode();
            let tokens = self.tokens();
            self.emit(TurnEvent::Sending { round, bytes: body.len(), parts, tokens });
            let (watch, mut ids) = (&mut *self.watch, CallIds::beside(&self.messages));
            let mut heard = |progress| turn_event(ids.tell_apart(progress)).into_iter().for_each(&mut *watch);
            let asked = self.chat.model.ask(body.into(), &mut heard, self.cancel).await;
            match asked {
                Ok(mut reply) => {
                    ids.give(&mut reply.tool_calls);
                    self.learn().await;
                    self.emit(TurnEvent::Replied { usage: reply.usage });
                    return Ok(reply);
                }
                Err(failure) => self.relieve(failure)?,
            }
        }
    }

    pub(super) fn encode(&mut self) -> RequestBody {
        let model = self.chat.agent.model_name(&self.request.turn).unwrap_or_default();
        let target = Target { dialect: self.chat.model.dialect(), model, options: self.options };
        // Ours come first; those of the shape are in its own hands.
        let own = self.request.turn.tools.get(..self.tools.len()).unwrap_or_default();
        let mut body = self.chat.shape.encode(&target, &self.messages, own);
        self.found(std::mem::take(&mut body.diagnostics));
        body
    }

    /// Stores an answer and carries out its calls; says whether there were any.
    pub(super) async fn take(&mut self, mut reply: Reply) -> Result<bool, Stop> {
        self.found(std::mem::take(&mut reply.diagnostics));
        self.end.provider_usage = self.end.provider_usage.and(reply.usage.unwrap_or_default());
        if reply.is_blank() && !self.chat.accepts_blank {
            let is_refused = reply.finish == Finish::Refused;
            return Err(if is_refused { TurnFailure::Filtered } else { TurnFailure::Blank }.into());
        }
        let (id, message) = self.store_reply(&reply).await?;
        self.end_record().await.map_err(|error| Stop::store(error, ""))?;
        self.end.text = message.text().as_ref().into();
        self.end.answer = Some(id.clone());
        let calls = message.tool_calls.clone();
        self.end.calls.clone_from(&calls);
        self.push(message).await?;
        if calls.is_empty() || self.chat.leaves_calls {
            return Ok(false);
        }
        self.carry_out(&id, &calls).await?;
        Ok(true)
    }

    async fn store_reply(&mut self, reply: &Reply) -> Result<(NodeId, Message), Stop> {
        let unstored = |error| Stop::store(error, &reply.text);
        if let Some(id) = self.continued.take() {
            let message = self.rewrite(&id, &reply.text, &reply.tool_calls).await.map_err(Stop::Store)?;
            // The beginning that was sent gives way to the whole.
            let prefix = self.messages.iter().rposition(|message| message.is_continuation_prefix);
            if let Some(prefix) = prefix {
                self.messages.remove(prefix);
                self.loop_start -= usize::from(prefix < self.loop_start);
            }
            return Ok((id, message));
        }
        let node = self.request.tags.reply(reply);
        let (id, message) = self.recorder.add(node).await.map_err(unstored)?;
        self.stored(&id, &message);
        Ok((id, message))
    }

    /// Adds words to the answer that is being continued, if there is one; says whether there is.
    pub(super) async fn extend(&mut self, text: &Text) -> Result<bool, TurnError> {
        if text.is_empty() {
            return Ok(false);
        }
        let Some(id) = self.continued.take() else { return Ok(false) };
        self.rewrite(&id, text, &[]).await?;
        self.end.answer = Some(id);
        Ok(true)
    }

    async fn rewrite(&mut self, id: &NodeId, text: &Text, calls: &[ToolCall]) -> Result<Message, TurnError> {
        let before = self.recorder.session().node(id).map(|node| node.to_message(id));
        let before = before.as_ref().map(Message::text).unwrap_or_default();
        let whole: Text = format!("{before}{}", text.as_str()).into();
        let mut edit = NodeEdit::content(Content::Text(whole));
        if !calls.is_empty() {
            edit.tool_calls = Change::Set(calls.iter().map(stored).collect());
        }
        let op = SessionOp::Edit { id: id.clone(), edit: Box::new(edit) };
        let applied = self.recorder.apply(StepLabel::CONTINUE, op).await;
        applied.map_err(|source| TurnError { source, unstored: text.clone() })?;
        let message = self.recorder.session().node(id).map(|node| node.to_message(id));
        let message = message.map(|message| message.with(|message| message.is_continuation_prefix = false));
        message.ok_or_else(|| TurnError {
            source: ctx_types::session::SessionError::UnknownNode { id: id.clone() }.into(),
            unstored: text.clone(),
        })
    }

    /// Carries out calls; each has exactly one result in the conversation when this returns, also if they were
    /// stopped.
    async fn carry_out(&mut self, owner: &NodeId, calls: &[ToolCall]) -> Result<(), Stop> {
        let visible = std::mem::take(&mut self.tools);
        let calling = match &self.chat.tools {
            Some(access) => Calling {
                host: access.host,
                visible: &visible,
                approval: access.approval,
                limits: access.limits,
                cancel: self.cancel,
            },
            None => Calling {
                host: &NoTools,
                visible: &[],
                approval: None,
                limits: ToolLimits::default(),
                cancel: self.cancel,
            },
        };
        for call in calls {
            let arguments = call.arguments.as_str().to_owned();
            self.emit(TurnEvent::ToolStarted { id: call.id.clone(), name: call.name.clone(), arguments });
        }
        let mut results = std::pin::pin!(calling.all(calls));
        for call in calls {
            let Some(ran) = results.next().await else { break };
            self.store_result(owner, call, ran).await?;
        }
        self.tools.clone_from(&visible);
        if self.cancel.is_cancelled() { Err(Stop::Aborted(Text::default())) } else { Ok(()) }
    }

    async fn store_result(&mut self, owner: &NodeId, call: &ToolCall, ran: Ran) -> Result<(), Stop> {
        let Ran { text, is_error, took } = ran;
        let text = self.chat.model.redact(text);
        let text = match (is_error, text.trim().is_empty()) {
            (true, _) => format!("error: {text}"),
            (false, true) => NO_OUTPUT.to_owned(),
            (false, false) => text,
        };
        let bytes = text.len();
        let Spilled { text, path } = self.spill(owner, call, text).await;
        let node = self.request.tags.result(call, &text, is_error, took);
        let added = self.recorder.add(node).await.map_err(|error| {
            // A file of which no message tells would stay for ever.
            if let Some(path) = path {
                std::fs::remove_file(path).unwrap_or_default();
            }
            Stop::store(error, "")
        });
        let (id, message) = added?;
        let name = call.name.clone();
        self.emit(TurnEvent::ToolFinished { id: call.id.clone(), name, is_error, took, bytes });
        self.stored(&id, &message);
        self.push(message).await
    }

    /// Puts a large result into a file, and a preview in its place.
    async fn spill(&mut self, owner: &NodeId, call: &ToolCall, text: String) -> Spilled {
        let spill = self.chat.tools.as_ref().and_then(|access| access.spill);
        let conversation = self.recorder.conversation_id().filter(|_| self.recorder.is_kept());
        let whole = |text| Spilled { text, path: None };
        let (Some(spill), Some(conversation)) = (spill, conversation) else { return whole(text) };
        if spill.keeps(&text) {
            return whole(text);
        }
        let (spill, conversation) = (spill.clone(), conversation.to_owned());
        // Ids of calls come from the model and may come again; those of messages do not.
        let name = format!("{owner}.{}", call.id);
        let kept = text.clone();
        let work = tokio::task::spawn_blocking(move || spill.spill(&conversation, &name, &text));
        work.await.unwrap_or_else(|_| whole(kept))
    }

    pub(super) fn stored(&mut self, id: &NodeId, message: &Message) {
        if self.recorder.stores() {
            self.emit(TurnEvent::Stored { id: id.clone(), role: message.role });
        }
    }

    /// Appends a message to what is sent next.
    async fn push(&mut self, message: Message) -> Result<(), Stop> {
        let ports = Ports::default().with(|ports| ports.attachments = self.chat.attachments);
        let (session, turn) = (self.recorder.session(), &self.request.turn);
        let appended = self.chat.agent.append(session, turn, vec![message], ports).await?;
        self.messages.extend(appended.messages);
        self.found(appended.diagnostics);
        Ok(())
    }
}

/// Gives the calls of an answer ids that no earlier call has, from when they begin; some servers count from 0 in every
/// answer.
struct CallIds {
    taken: BTreeSet<String>,
    /// The ids of calls that have begun, by their place.
    begun: BTreeMap<usize, String>,
}

impl CallIds {
    fn beside(messages: &[Message]) -> Self {
        let earlier = messages.iter().flat_map(|message| &message.tool_calls);
        Self { taken: earlier.map(|call| call.id.to_string()).collect(), begun: BTreeMap::new() }
    }

    /// Tells of a call that begins under its own id.
    fn tell_apart(&mut self, progress: Progress) -> Progress {
        match progress {
            Progress::Delta(Delta::Call { index, id, name }) => {
                let id = self.free(&id);
                self.begun.insert(index, id.clone());
                Progress::Delta(Delta::Call { index, id, name })
            }
            other => other,
        }
    }

    /// Gives all calls of an answer their ids.
    fn give(mut self, calls: &mut [ToolCall]) {
        for (index, call) in calls.iter_mut().enumerate() {
            let id = self.begun.remove(&index).unwrap_or_else(|| self.free(&call.id));
            call.id = id.into();
        }
    }

    /// Takes an id, with a number behind it if it is taken.
    fn free(&mut self, id: &str) -> String {
        let numbered = (2_usize..).map(|number| format!("{id}_{number}"));
        let mut names = std::iter::once(id.to_owned()).chain(numbered);
        let free = names.find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }
}

fn turn_event(progress: Progress) -> Option<TurnEvent> {
    match progress {
        Progress::Delta(delta) => Some(TurnEvent::Delta(delta)),
        Progress::Retry { attempt, wait, reason } => Some(TurnEvent::Retry { attempt, wait, reason }),
        Progress::Event(_) | Progress::Whole(_) | Progress::Response { .. } => None,
    }
}

/// Where there are no tools, a model may still call some.
struct NoTools;

#[async_trait]
impl ToolHost for NoTools {
    fn tools(&self) -> Vec<Tool> {
        Vec::new()
    }

    async fn call(&self, _: &ToolCall, _: &Cancel) -> Result<String, ToolError> {
        Err(ToolError("no tools are available".to_owned()))
    }
}
