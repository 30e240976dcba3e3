//! Setup of a chat from the command line, with reports for the user.

use ctx_language::Language;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ctx_chat::{
    Conversation, ConversationStore as _, SqliteStore, StoreError, StoreLease, TurnRequest, redact_text,
};
use ctx_types::{Diagnostic, phrase};

use crate::args::ChatArguments;
use crate::commands::chat::stops::Stops;
use crate::{project, show};
use ctx_project::Sources;
use ctx_project::chat::{ChatOptions, ChatSetup, ToolOptions, new_id, now};
use ctx_project::config::Config;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::options::EndpointOptions;
use ctx_project::store;

/// Time limit for acquiring a lease, and the delay before the wait is reported.
const TURN_TIMEOUT: Duration = Duration::from_secs(120);
const SILENCE: Duration = Duration::from_secs(1);

/// Setup of a chat.
pub(super) struct Setup {
    pub(super) language: Language,
    pub(super) chat: ChatSetup,
    pub(super) stops: Stops,
    conversation: Option<String>,
    /// Name of an unnamed conversation.
    new: String,
    /// Whether tool calls without a result got one.
    is_recovered: AtomicBool,
    /// Whether to continue the most recently changed conversation.
    resumes: bool,
    /// Command of this chat, without its conversation.
    pub(super) command: String,
    sources: Sources,
    /// Diagnostics that were already reported.
    told: Mutex<BTreeSet<String>>,
}

impl Setup {
    /// Reads the files and settings of a chat. Opens the store if the conversation is stored.
    pub(super) fn read(language: Language, arguments: &ChatArguments, sources: &mut Sources) -> Result<Self> {
        let config = project::config(language, &arguments.setup.config, sources)?;
        let options = options(language, arguments, &config)?;
        let (chat, notes) = ChatSetup::read(options, config, sources)?;
        project::report_added_files(language, notes.added_files.as_ref());
        let setup = Self {
            language,
            chat,
            stops: Stops::default(),
            conversation: arguments.conversation.clone(),
            new: new_id(),
            is_recovered: AtomicBool::new(false),
            resumes: arguments.resume,
            command: command(),
            sources: std::mem::take(sources),
            told: Mutex::default(),
        };
        setup.tell(&notes.found);
        Ok(setup)
    }

    /// Returns the request of a turn with the user's text.
    pub(super) fn typed(&self, text: &str, conversation: Option<&Conversation>) -> TurnRequest {
        let (request, found) = self.chat.typed(text, conversation.map(Conversation::session));
        self.tell(&found);
        request
    }

    /// Opens the named conversation. Returns `None` if it does not exist or is not stored.
    pub(super) async fn open(&self) -> Result<Option<Conversation>> {
        let Some((store, _)) = &self.chat.store else { return Ok(None) };
        let id = match (&self.conversation, self.resumes) {
            (Some(id), _) => id.clone(),
            (None, true) => newest(store).await?,
            (None, false) => return Ok(None),
        };
        match self.stops.stored(Conversation::load(store, &id)).await {
            Ok(conversation) => Ok(Some(conversation)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Acquires the lease of the conversation among all processes, and updates the conversation from the store.
    ///
    /// Returns `None` after an interrupt, and `Some(None)` without a store.
    pub(super) async fn lease(
        &self,
        conversation: &mut Option<Conversation>,
    ) -> Result<Option<Option<StoreLease>>, StoreError> {
        let Some((store, _)) = &self.chat.store else { return Ok(Some(None)) };
        let id = conversation.as_ref().map_or(self.name(), Conversation::id).to_owned();
        let waiting = async {
            tokio::time::sleep(SILENCE).await;
            show::remark(
                self.language,
                &phrase!("waiting for another turn of the conversation `{id}` to end", id = &*id),
            );
            std::future::pending::<()>().await;
        };
        let lease = tokio::select! {
            biased;
            lease = Conversation::hold(store, &id, conversation, TURN_TIMEOUT) => lease?,
            () = self.stops.next() => return Ok(None),
            () = waiting => return Ok(None),
        };
        if let Some(conversation) =
            conversation.as_mut().filter(|_| !self.is_recovered.load(Ordering::Relaxed))
        {
            let found = self.stops.stored(conversation.recover(store, Some(now()))).await?;
            self.tell(&found);
        }
        self.is_recovered.store(true, Ordering::Relaxed);
        Ok(Some(Some(lease)))
    }

    /// Returns the name of a new conversation.
    pub(super) fn name(&self) -> &str {
        self.conversation.as_deref().unwrap_or(&self.new)
    }

    /// Creates the conversation if it is missing and must be stored.
    pub(super) async fn begin(&self, conversation: &mut Option<Conversation>) -> Result<()> {
        if let (Some((store, _)), None) = (&self.chat.store, &conversation) {
            let created = Conversation::create(store, self.name(), Some(now()));
            *conversation = Some(self.stops.stored(created).await?);
        }
        Ok(())
    }

    /// Reports diagnostics on standard error, each once.
    pub(super) fn tell(&self, found: &[Diagnostic]) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = found.to_vec();
        self.chat.lead_back(&mut found);
        found.retain(|finding| told.insert(finding.to_string()));
        show::findings(self.language, &self.sources, &found);
    }
}

/// Converts the arguments to options, and opens the store if the conversation is stored.
fn options(language: Language, arguments: &ChatArguments, config: &Config) -> Result<ChatOptions> {
    let keeps = arguments.once.is_none() || arguments.conversation.is_some() || arguments.resume;
    let given = arguments.store.store.as_deref();
    let store = keeps.then(|| store::open(given, config)).transpose()?;
    if let Some((store, _)) = &store {
        tell_of_waiting(language, store, &files::name(&store::path(given, config)?));
    }
    Ok(ChatOptions {
        turn: arguments.setup.options(),
        endpoint: EndpointOptions::from(&arguments.endpoint),
        sends: !arguments.dry_run,
        store,
        tools: ToolOptions { folder: arguments.tools_dir.clone(), asks: arguments.ask },
        mode: arguments.mode,
        data: arguments.data.clone(),
        expands_input: arguments.expand_input,
        max_rounds: arguments.max_rounds,
        streams: !arguments.no_stream,
    })
}

/// Returns the command line of this process, without the arguments that are for its conversation only.
fn command() -> String {
    let mut words = vec!["ctx".to_owned()];
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let argument = redact_text(&argument.to_string_lossy());
        let (option, value) = argument.split_once('=').unzip();
        match option.unwrap_or(&argument) {
            "--resume" => {}
            "--conversation" | "--greeting" | "--data" => {
                if value.is_none() {
                    arguments.next();
                }
            }
            _ => words.push(files::shell_text(&argument)),
        }
    }
    words.join(" ")
}

/// Reports when the store keeps a turn waiting.
fn tell_of_waiting(language: Language, store: &SqliteStore, name: &str) {
    let notice = phrase!("waiting for the store `{name}`: another program is writing to it", name);
    store.when_waiting(move || show::remark(language, &notice));
}

/// Returns the id of the most recently changed conversation.
async fn newest(store: &SqliteStore) -> Result<String> {
    let newest = store.list().await?.into_iter().next();
    newest
        .map(|entry| entry.id)
        .ok_or_else(|| ProjectError::Unusable(phrase!("no conversations yet; start one without `--resume`")))
}
