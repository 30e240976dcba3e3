//! Turns: a model answers in a conversation, on a thread of its own, by the code of `ctx chat`.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ctx_chat::{
    Approval, ChatLog, Conversation, ConversationStore, Delta, SqliteStore, StepLabel, StoreError,
    StoreLease, TurnEvent, TurnOutcome, TurnRequest, Verdict, preview_turn, run_turn,
};
use ctx_language::Language;
use ctx_pipeline::Cancel;
use ctx_project::chat::{ChatOptions, ChatSetup, ToolOptions, now};
use ctx_project::error::Result as ProjectResult;
use ctx_project::session_file::SessionFile;
use ctx_project::session_store::SessionStore;
use ctx_project::{EndpointOptions, ProjectError, store};
use ctx_types::session::SessionOp;
use ctx_types::{Phrase, StoredAttachment, ToolCall, phrase};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::{attached, open, path, steps};
use crate::access::lock;
use crate::api::NoticeKind;
use crate::api_turn::{BeginTurn, CallVerdict, PendingCall, SummaryOf, SummaryWork, TurnBegun, TurnView};
use crate::call::{Call, Refusal};
use crate::codes;
use crate::preview::{full, options};
use crate::server::Server;

/// How many turns run at once.
const MAX_RUNNING: usize = 8;

/// How often windows are told of a stream: some twenty times a second.
const PAUSE: Duration = Duration::from_millis(50);

/// Time limit for acquiring a lease.
const TURN_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a call waits until somebody agrees.
const ASK_TIME: Duration = Duration::from_secs(600);

/// How often a model may be asked in one turn.
const MAX_ROUNDS: usize = 20;

/// The latest turn of each conversation.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<BTreeMap<String, Arc<Running>>>);

/// A turn that runs, or the last one.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: String,
    number: usize,
    pub(super) language: Language,
    pub(super) cancel: Cancel,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    is_running: bool,
    text: String,
    notes: Vec<String>,
    call: Option<(PendingCall, oneshot::Sender<Verdict>)>,
    failure: Option<String>,
    /// Where it is no answer but a summary.
    summary: Option<SummaryWork>,
    /// Whether windows were not told of the newest words yet.
    is_untold: bool,
}

impl Turns {
    /// Refuses a step while a model answers.
    pub(crate) fn refuse_running(&self, id: &str) -> Result<(), Refusal> {
        let running = lock(&self.0).get(id).filter(|turn| turn.is_running()).cloned();
        let Some(running) = running else { return Ok(()) };
        let message = if lock(&running.state).summary.is_some() {
            phrase!("a summary of this conversation is in progress; cancel it first")
        } else {
            phrase!("a reply in this conversation is in progress; stop it first")
        };
        Err(Refusal::new(409, codes::BUSY, message))
    }

    /// Notes that a model begins to write an answer, or a summary.
    pub(super) fn begin(
        &self,
        id: &str,
        language: Language,
        summary: Option<SummaryOf>,
    ) -> Result<Arc<Running>, Refusal> {
        let mut turns = lock(&self.0);
        if turns.values().filter(|turn| turn.is_running()).count() >= MAX_RUNNING {
            let message = phrase!("too many replies are in progress; wait, or stop a reply");
            return Err(Refusal::new(503, codes::BUSY, message));
        }
        let number = turns.get(id).map_or(1, |turn| turn.number + 1);
        let state = State {
            is_running: true,
            text: String::new(),
            notes: Vec::new(),
            call: None,
            failure: None,
            summary: summary.map(|of| SummaryWork { of, request: 1, requests: 1, taken: None }),
            is_untold: false,
        };
        let (id, cancel, state) = (id.to_owned(), Cancel::default(), Mutex::new(state));
        let turn = Arc::new(Running { id: id.clone(), number, language, cancel, state });
        turns.insert(id, turn.clone());
        Ok(turn)
    }

    /// Shows the latest turn of a conversation, to a window that has the words of a turn up to a byte.
    pub(crate) fn view(&self, id: &str, turn: Option<usize>, from: Option<usize>) -> TurnView {
        let Some(running) = lock(&self.0).get(id).cloned() else { return TurnView::default() };
        let state = lock(&running.state);
        let from = from.filter(|from| turn == Some(running.number) && state.text.is_char_boundary(*from));
        let from = from.unwrap_or_default();
        TurnView {
            turn: running.number,
            is_running: state.is_running,
            from,
            text: state.text.get(from..).unwrap_or_default().to_owned(),
            length: state.text.len(),
            notes: state.notes.clone(),
            call: state.call.as_ref().map(|(call, _)| call.clone()),
            failure: state.failure.clone(),
            summary: state.summary.clone(),
        }
    }

    /// Stops a turn; what came of the answer is kept.
    pub(crate) fn stop(&self, id: &str) {
        if let Some(turn) = lock(&self.0).get(id) {
            turn.cancel.cancel();
        }
    }

    pub(crate) fn stop_all(&self) {
        lock(&self.0).values().for_each(|turn| turn.cancel.cancel());
    }
}

/// Begins a turn, or tells what it would send.
pub(crate) fn begin(server: &Arc<Server>, call: &Call) -> Result<TurnBegun, Refusal> {
    let asked: BeginTurn = call.json()?;
    let id = call.part("f");
    let writing = server.talks.begin();
    let mut file = open(server, id, &asked.base)?;
    let mut setup = setup(server, &asked)?;
    setup.look_in(attached::folder(server, id)?);
    let attachments = attached::stored(server, id, &asked.attachments)?;
    let switch = match &asked.answer_to {
        Some(message) => steps::switch_to(&file.session, message)?,
        None => None,
    };
    if let Some(op) = switch.as_ref().filter(|_| asked.dry_run) {
        file.apply(StepLabel::SWITCH_BRANCH, now(), op).map_err(ProjectError::from)?;
    }
    let said = Said { text: asked.turn.input.unwrap_or_default(), attachments, switch };
    if asked.dry_run {
        return would_send(&setup, &file, said);
    }
    let log = match (file.to_conversation(), server.stored.store()) {
        (Some(conversation), Some(store)) => Log::Store(store, Box::new(conversation)),
        _ => Log::File(path(server, id)?),
    };
    let turn = server.turns.begin(id, call.language, None)?;
    let titled = server.stored.add_title(id, &file.session, &said.text);
    if let Err(refusal) = titled.and_then(|()| attached::sent(server, id, &asked.attachments)) {
        turn.end(server, None);
        return Err(refusal);
    }
    drop(writing);
    go_on(server, &turn, move |server, running| {
        store::wait(run(server, running, &setup, (log, said))).unwrap_or_else(|error| Err(error.phrase()))
    })
}

/// Carries work out on a thread of its own, whose failure windows are told.
pub(super) fn go_on(
    server: &Arc<Server>,
    turn: &Arc<Running>,
    work: impl FnOnce(&Arc<Server>, &Arc<Running>) -> Result<(), Phrase> + Send + 'static,
) -> Result<TurnBegun, Refusal> {
    let (served, running) = (server.clone(), turn.clone());
    let run = move || {
        // A turn that never ended would keep the conversation busy.
        let done = catch_unwind(AssertUnwindSafe(|| work(&served, &running)));
        let done = done.unwrap_or_else(|_| Err(phrase!("internal error; please report it")));
        running.end(&served, done.err());
    };
    std::thread::Builder::new().name("turn".to_owned()).spawn(run).map_err(|error| {
        let error = error.to_string();
        let why = phrase!("cannot start the turn: {error}", error);
        turn.end(server, Some(why.clone()));
        Refusal::unusable(why)
    })?;
    server.notices.tell_passing(NoticeKind::Turn, &turn.id);
    Ok(TurnBegun { turn: Some(turn.number), body: None })
}

/// Reads what the turn is carried out with: the files as they are edited, as a preview does.
pub(super) fn setup(server: &Server, asked: &BeginTurn) -> Result<ChatSetup, Refusal> {
    let mut sources = server.sources();
    let mut config = server.config(&mut sources)?;
    let mut turn = options(&asked.turn)?;
    turn.input = None;
    // The moment of the preview stands still; an answer is given now.
    turn.at = None;
    let mut file = |key: &str, id: &Option<String>| match id.as_deref() {
        None => Ok(None),
        Some("") => {
            config = std::mem::take(&mut config).without(key);
            Ok(None)
        }
        Some(id) => full(server, id).map(Some),
    };
    turn.agent = file("agent", &asked.agent)?;
    turn.profile = file("profile", &asked.profile)?;
    turn.worldbooks = asked.worldbooks.iter().map(|id| full(server, id)).collect::<Result<_, _>>()?;
    let options = ChatOptions {
        turn,
        endpoint: EndpointOptions::default(),
        sends: !asked.dry_run,
        store: None,
        tools: ToolOptions::default(),
        mode: None,
        data: Vec::new(),
        expands_input: false,
        max_rounds: MAX_ROUNDS,
        streams: true,
    };
    Ok(ChatSetup::read_on(server.engine.clone(), options, config, &mut sources)?.0)
}

/// The message of the user, its files, and the switch to another branch.
struct Said {
    text: String,
    attachments: Vec<StoredAttachment>,
    switch: Option<SessionOp>,
}

fn would_send(setup: &ChatSetup, file: &SessionFile, said: Said) -> Result<TurnBegun, Refusal> {
    let work = async {
        let request = TurnRequest { attachments: said.attachments, ..setup.typed(&said.text, None).0 };
        preview_turn(&setup.for_turns(None), Some(&file.session), None, request).await
    };
    let preview = store::wait(work)?.map_err(|failure| Refusal::unusable(failure.phrase()))?;
    Ok(TurnBegun { turn: None, body: Some(String::from_utf8_lossy(&preview.body).into_owned()) })
}

/// Where a turn takes its steps.
enum Log {
    File(PathBuf),
    Store(SqliteStore, Box<Conversation>),
}

/// A conversation for a turn.
struct TurnConversation {
    store: Box<dyn ConversationStore>,
    conversation: Conversation,
    /// Keeps other processes from running a turn.
    lease: Option<StoreLease>,
}

impl Log {
    /// Acquires the lease of the conversation and loads it. Switches the branch, then adds a result to each tool call
    /// without a result.
    async fn open(self, id: &str, switch: Option<SessionOp>) -> ProjectResult<TurnConversation> {
        let mut opened = match self {
            Self::File(path) => {
                let store = SessionStore::open(&path, id)?;
                let conversation = Conversation::load(&store, id).await?;
                TurnConversation { store: Box::new(store), conversation, lease: None }
            }
            Self::Store(store, known) => {
                let (name, mut known) = (known.id().to_owned(), Some(*known));
                let lease = Conversation::hold(&store, &name, &mut known, TURN_TIMEOUT).await?;
                let conversation = known.ok_or(StoreError::NotFound { id: name })?;
                TurnConversation { store: Box::new(store), conversation, lease: Some(lease) }
            }
        };
        let TurnConversation { store, conversation, .. } = &mut opened;
        if let Some(op) = switch {
            conversation.apply(&**store, StepLabel::SWITCH_BRANCH, op, Some(now())).await?;
        }
        conversation.recover(&**store, Some(now())).await?;
        Ok(opened)
    }
}

/// Carries out a turn.
async fn run(
    server: &Server,
    turn: &Arc<Running>,
    setup: &ChatSetup,
    (log, said): (Log, Said),
) -> Result<(), Phrase> {
    let Said { text, attachments, switch } = said;
    let is_switched = switch.is_some();
    let opened = tokio::select! {
        biased;
        opened = log.open(&turn.id, switch) => opened,
        () = turn.cancel.cancelled() => return Ok(()),
    };
    let TurnConversation { store, mut conversation, lease } = opened.map_err(|error| error.phrase())?;
    if is_switched {
        server.look();
    }
    let (request, found) = setup.typed(&text, Some(conversation.session()));
    let request = TurnRequest { attachments, ..request };
    for found in found {
        turn.note(server, TurnEvent::Found(found));
    }
    let asking = Asking { server, turn };
    let chat = setup.for_turns(Some(&asking));
    let log = ChatLog {
        store: &*store,
        conversation: &mut conversation,
        memory: Some(&setup.memory),
        lease: lease.as_ref(),
    };
    let mut watch = |event| turn.note(server, event);
    let mut going = std::pin::pin!(run_turn(&chat, Some(log), request, &mut watch, &turn.cancel));
    let end = loop {
        tokio::select! {
            end = &mut going => break end,
            () = sleep(PAUSE) => turn.tell_words(server),
        }
    };
    match end.map_err(|error| error.source.phrase())?.outcome {
        TurnOutcome::Failed(failure) => Err(failure.phrase()),
        _ => Ok(()),
    }
}

impl Running {
    fn is_running(&self) -> bool {
        lock(&self.state).is_running
    }

    /// Tells windows of words that they were not told of yet.
    fn tell_words(&self, server: &Server) {
        if std::mem::take(&mut lock(&self.state).is_untold) {
            server.notices.tell_passing(NoticeKind::Turn, &self.id);
        }
    }

    /// Notes what happened, and tells windows; of words only now and then.
    fn note(&self, server: &Server, event: TurnEvent) {
        let say = |phrase: &Phrase| Some(self.language.say(phrase));
        let is_stored = matches!(event, TurnEvent::Stored { .. });
        let note = match event {
            TurnEvent::Delta(Delta::Text(text)) => {
                let mut state = lock(&self.state);
                state.text.push_str(&text);
                state.is_untold = true;
                return;
            }
            TurnEvent::Delta(_) => return,
            TurnEvent::Summarized(notice) => say(&notice.phrase()),
            TurnEvent::NotSummarized(why) | TurnEvent::NotCompressed(why) => say(&why),
            TurnEvent::Retry { reason, .. } => say(&reason),
            TurnEvent::Found(found) => say(&found.message),
            TurnEvent::ToolStarted { name, arguments, .. } => Some(format!("{name} {arguments}")),
            _ => None,
        };
        {
            let mut state = lock(&self.state);
            state.notes.extend(note);
            state.is_untold = false;
            if is_stored {
                // It stands in the conversation now.
                state.text.clear();
            }
        }
        if is_stored {
            server.look();
        }
        server.notices.tell_passing(NoticeKind::Turn, &self.id);
    }

    /// Notes something about a summary, and tells windows.
    pub(super) fn note_summary(&self, server: &Server, change: impl FnOnce(&mut SummaryWork)) {
        lock(&self.state).summary.as_mut().map(change);
        server.notices.tell_passing(NoticeKind::Turn, &self.id);
    }

    /// Notes what happened, for people.
    pub(super) fn say(&self, phrase: &Phrase) {
        lock(&self.state).notes.push(self.language.say(phrase));
    }

    fn end(&self, server: &Server, failed: Option<Phrase>) {
        {
            let mut state = lock(&self.state);
            state.is_running = false;
            state.call = None;
            state.failure = failed.map(|phrase| self.language.say(&phrase));
        }
        server.look();
        server.notices.tell_passing(NoticeKind::Turn, &self.id);
    }
}

/// Asks whoever looks at the page.
struct Asking<'a> {
    server: &'a Server,
    turn: &'a Running,
}

#[async_trait]
impl Approval for Asking<'_> {
    async fn approve(&self, call: &ToolCall) -> Verdict {
        let (sender, answer) = oneshot::channel();
        let pending = PendingCall {
            id: call.id.to_string(),
            name: call.name.to_string(),
            arguments: call.arguments.to_string(),
        };
        lock(&self.turn.state).call = Some((pending, sender));
        self.server.notices.tell_passing(NoticeKind::Turn, &self.turn.id);
        let verdict = timeout(ASK_TIME, answer).await;
        lock(&self.turn.state).call = None;
        match verdict {
            Ok(Ok(verdict)) => verdict,
            _ => Verdict::Refused("the approval timed out".to_owned()),
        }
    }
}

/// Agrees to a call that waits, or refuses it.
pub(crate) fn verdict(server: &Server, call: &Call) -> Result<(), Refusal> {
    let CallVerdict { id, allow, reason } = call.json()?;
    server.refuse_read_only()?;
    let gone = || Refusal::not_found(phrase!("this tool call is no longer pending"));
    let running = lock(&server.turns.0).get(call.part("f")).cloned().ok_or_else(gone)?;
    let waiting = {
        let mut state = lock(&running.state);
        let is_asked = state.call.as_ref().is_some_and(|(call, _)| call.id == id);
        state.call.take_if(|_| is_asked)
    };
    let (_, sender) = waiting.ok_or_else(gone)?;
    let verdict = if allow {
        Verdict::Allowed
    } else {
        Verdict::Refused(reason.unwrap_or_else(|| "no reason given".to_owned()))
    };
    sender.send(verdict).map_err(|_| gone())
}

#[cfg(test)]
mod tests {
    use ctx_types::Role;
    use ctx_types::session::Node;

    use super::*;

    #[test]
    fn continues_from_turn_of_another_process() {
        let work = async {
            let store = SqliteStore::in_memory().unwrap();
            let mut other = Conversation::create(&store, "c", None).await.unwrap();
            let seen = Box::new(other.clone());
            let (lease, _) = store.hold("c", None, Duration::ZERO).await.unwrap().unwrap();
            let opening = Log::Store(store.clone(), seen).open("f", None);
            let ending = async {
                other.append(&store, Node::new(Role::User, "Hello"), None).await.unwrap();
                drop(lease);
            };
            let (opened, ()) = tokio::join!(biased; opening, ending);
            let opened = opened.unwrap();
            assert_eq!(opened.conversation.session(), other.session());
            // The next turn waits for this one.
            assert!(store.hold("c", None, Duration::ZERO).await.unwrap().is_none());
        };
        store::wait(work).unwrap();
    }

    #[test]
    fn switches_branch_only_with_the_lease() {
        let work = async {
            let store = SqliteStore::in_memory().unwrap();
            let mut other = Conversation::create(&store, "c", None).await.unwrap();
            let question = other.append(&store, Node::new(Role::User, "Hello"), None).await.unwrap();
            let reply = other.append(&store, Node::new(Role::Assistant, "Hi"), None).await.unwrap();
            let (lease, _) = store.hold("c", None, Duration::ZERO).await.unwrap().unwrap();
            let open = || {
                let switch = SessionOp::ActivateLeaf { id: question.clone() };
                Log::Store(store.clone(), Box::new(other.clone())).open("f", Some(switch))
            };
            assert!(timeout(Duration::from_millis(50), open()).await.is_err());
            let stored = Conversation::load(&store, "c").await.unwrap();
            assert_eq!(*stored.session().active_leaf_id(), reply);
            drop(lease);
            let opened = open().await.unwrap();
            assert_eq!(*opened.conversation.session().active_leaf_id(), question);
        };
        store::wait(work).unwrap();
    }
}
