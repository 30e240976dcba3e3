//! Interactive chat in a terminal.

use ctx_language::Language;
use std::io::IsTerminal as _;

use ctx_chat::{
    ChatLog, Conversation, Mode, StepLabel, StoreError, StoreLease, TurnEvent, TurnOutcome, TurnRequest,
    compress_conversation, preview_turn,
};
use ctx_compress::mask::MaskSelection;
use ctx_engine::Ports;
use ctx_pipeline::Cancel;
use ctx_types::session::{NodeId, Session, SessionOp};
use ctx_types::{GenerationKind, Phrase, Role, phrase};

use crate::commands::chat::greeting;
use crate::commands::chat::lines::{Lines, TerminalMode, is_interactive};
use crate::commands::chat::once::{self, TurnLog};
use crate::commands::chat::screen::Screen;
use crate::commands::chat::setup::Setup;
use crate::commands::chat::slash::{self, HELP, Slash};
use crate::commands::chat::tools::Asking;
use crate::commands::chat::tree;
use crate::exit::Exit;
use crate::{lang, show};
use ctx_project::chat::{Greeting, now};
use ctx_project::error::Result;
use ctx_project::files;

/// Returns the message for a missing conversation.
fn nothing_said() -> Phrase {
    phrase!("the conversation has no messages yet")
}

/// Runs the chat until the user ends it or the input ends.
pub(super) async fn run(language: Language, setup: &mut Setup, greeting: Option<usize>) -> Result<Exit> {
    let (lines, mode) = (Lines::start(), TerminalMode::save());
    let conversation = setup.open().await?;
    let mut talk = Talk {
        setup,
        conversation,
        lease: None,
        asking: Asking::new(language, lines.clone()),
        lines,
        last: Exit::Success,
    };
    if is_interactive() {
        talk.introduce().await;
    }
    talk.greet(greeting).await?;
    while let Some(line) = talk.line("> ").await {
        talk.lines.remember(&line);
        let slash = slash::parse(&line);
        let is_change = match &slash {
            None => !line.trim().is_empty(),
            Some(Ok(command)) => command.is_change(),
            Some(Err(_)) => false,
        };
        let lease = if is_change { talk.setup.lease(&mut talk.conversation).await } else { Ok(Some(None)) };
        talk.lease = match lease {
            Ok(Some(lease)) => lease,
            Ok(None) => continue,
            Err(error @ StoreError::Held { .. }) => {
                show::note(language, &error.phrase());
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        match slash {
            None if line.trim().is_empty() => {}
            None => talk.say(talk.setup.typed(slash::message(&line), talk.conversation.as_ref())).await?,
            Some(Ok(Slash::Quit)) => break,
            Some(Ok(command)) => talk.command(command).await?,
            Some(Err(wrong)) => show::note(language, &wrong),
        }
        // Other processes can now run a turn.
        talk.lease = None;
    }
    drop(mode);
    if is_interactive() {
        talk.show_resume_command();
    }
    Ok(if talk.setup.stops.is_ended() {
        Exit::Stopped
    } else if std::io::stdin().is_terminal() {
        // A user at a terminal saw the failure and ended the chat. A script needs the exit code.
        Exit::Success
    } else {
        talk.last
    })
}

/// A running chat.
struct Talk<'a> {
    setup: &'a mut Setup,
    conversation: Option<Conversation>,
    /// The lease of the current command.
    lease: Option<StoreLease>,
    lines: Lines,
    asking: Asking,
    /// Exit code of the last turn.
    last: Exit,
}

impl Talk<'_> {
    /// Reads a line. Returns `None` at the end of the input or after an interrupt.
    async fn line(&self, prompt: &str) -> Option<String> {
        tokio::select! {
            line = self.lines.next(prompt) => line,
            () = self.setup.stops.next() => None,
        }
    }

    /// Prints the agent, the model and the conversation, and reports the diagnostics of the next request. Adds the user's
    /// messages to the history of the line editor.
    async fn introduce(&self) {
        let setup = &*self.setup;
        let or_none = |text: Option<&str>| text.filter(|text| !text.is_empty()).unwrap_or("-").to_owned();
        let agent = or_none(setup.chat.agent.agent().name.as_deref());
        let model = or_none(Some(setup.chat.model()));
        let id = self.conversation.as_ref().map_or(setup.name(), Conversation::id);
        show::remark(
            setup.language,
            &phrase!(
                "agent {agent}, model {model}, conversation `{id}`; type `/help` for the commands",
                agent,
                model,
                id
            ),
        );
        for (_, node) in self.session().map(tree::messages).unwrap_or_default() {
            if let (Some(Role::User), Some(content)) = (node.role, &node.content) {
                self.lines.remember(&content.text());
            }
        }
        let request = setup.chat.request("Hello");
        let preview = preview_turn(&setup.chat.for_turns(None), self.session(), None, request).await;
        let events = preview.map(|preview| preview.events).unwrap_or_default().into_iter();
        let found = events.filter_map(|event| match event {
            TurnEvent::Found(found) => Some(found),
            _ => None,
        });
        setup.tell(&found.collect::<Vec<_>>());
    }

    /// Prints the command that continues the conversation.
    fn show_resume_command(&self) {
        let Some(conversation) = &self.conversation else { return };
        let id = files::shell_text(conversation.id());
        let command = format!("{} --conversation={id}", self.setup.command);
        show::remark(
            self.setup.language,
            &phrase!("to continue this conversation, run `{command}`", command),
        );
    }

    /// Starts a new conversation with a greeting of the agent, if there is one.
    async fn greet(&mut self, wanted: Option<usize>) -> Result<()> {
        if self.conversation.is_some() {
            return Ok(());
        }
        let greetings = self.setup.chat.greetings();
        let number = match (wanted, greetings.len()) {
            (Some(number), count) => greeting::check_number(number, count)?,
            (None, 0) => return Ok(()),
            (None, 1) => 1,
            (None, _) => self.choose(&greetings).await,
        };
        let Some(chosen) = number.checked_sub(1).and_then(|index| greetings.into_iter().nth(index)) else {
            return Ok(());
        };
        let Some(_lease) = self.setup.lease(&mut self.conversation).await? else { return Ok(()) };
        if self.conversation.is_some() {
            return Ok(());
        }
        self.setup.begin(&mut self.conversation).await?;
        if let (Some((store, _)), Some(conversation)) = (&self.setup.chat.store, &mut self.conversation) {
            show::result(&format!("{}\n", chosen.text))?;
            self.setup.stops.stored(conversation.append(store, chosen.into_node(), Some(now()))).await?;
        }
        Ok(())
    }

    async fn choose(&self, greetings: &[Greeting]) -> usize {
        for (index, greeting) in greetings.iter().enumerate() {
            let line = format!("{:>4}  {}", index + 1, greeting.title());
            show::note(self.setup.language, &Phrase::verbatim(line));
        }
        let prompt = lang::word(self.setup.language, "choose a greeting (0 for none):") + " ";
        loop {
            let answer = self.line(&prompt).await.unwrap_or_default();
            let number = answer.trim().parse().unwrap_or(1);
            match greeting::check_number(number, greetings.len()) {
                Ok(number) => return number,
                Err(error) => show::note(self.setup.language, &error.phrase()),
            }
        }
    }

    /// Runs a turn and prints it.
    async fn say(&mut self, request: TurnRequest) -> Result<()> {
        self.setup.begin(&mut self.conversation).await?;
        let mut screen = Screen::new(self.setup, true);
        let asking = Some(&self.asking);
        let log = TurnLog { conversation: &mut self.conversation, lease: self.lease.as_ref() };
        let end = once::turn(self.setup, asking, log, request, &mut screen).await?;
        screen.end(&end)?;
        // The chat goes on after an interrupted reply.
        self.last = match end.outcome {
            TurnOutcome::Aborted => Exit::Success,
            _ => once::exit(&end),
        };
        if let Some(usage) = end.usage.filter(|_| std::io::stderr().is_terminal()) {
            let bar = show::usage_bar(usage.used_tokens, usage.total_budget);
            show::note(self.setup.language, &Phrase::verbatim(bar));
        }
        self.setup.chat.forget_data();
        Ok(())
    }

    async fn command(&mut self, command: Slash) -> Result<()> {
        match command {
            Slash::Help => {
                for (usage, what) in HELP {
                    let line = format!("{usage:<14} {}", lang::word(self.setup.language, what));
                    show::note(self.setup.language, &Phrase::verbatim(line));
                }
                Ok(())
            }
            Slash::Quit => Ok(()),
            Slash::Undo => self.undo().await,
            Slash::Redo => self.redo().await,
            Slash::Edit(text) => self.edit(&text).await,
            Slash::Branch(number) => self.branch(number).await,
            Slash::Switch(number) => self.switch(number).await,
            Slash::Regenerate => self.regenerate().await,
            Slash::Retry => self.retry().await,
            Slash::Continue => self.go_on().await,
            Slash::Compress => self.compress().await,
            Slash::Context => self.context().await,
            Slash::Tools => self.tools(),
            Slash::Mode(mode) => {
                self.mode(mode);
                Ok(())
            }
        }
    }

    /// Returns the conversation and its store. If there is none, prints a message.
    fn kept(&mut self) -> Option<(&mut Setup, &mut Conversation)> {
        if self.conversation.is_none() {
            show::note(self.setup.language, &nothing_said());
        }
        Some((self.setup, self.conversation.as_mut()?))
    }

    fn session(&self) -> Option<&Session> {
        self.conversation.as_ref().map(Conversation::session)
    }

    async fn undo(&mut self) -> Result<()> {
        let Some((setup, conversation)) = self.kept() else { return Ok(()) };
        let steps = StepLabel::count_undo(conversation.history());
        let Some((store, _)) = &setup.chat.store else { return Ok(()) };
        for _ in 0..steps {
            if !is_done(setup.language, setup.stops.stored(conversation.undo(store, Some(now()))).await)? {
                break;
            }
        }
        if steps == 0 {
            show::note(self.setup.language, &phrase!("nothing to undo"));
        }
        self.show_end();
        Ok(())
    }

    async fn redo(&mut self) -> Result<()> {
        let Some((setup, conversation)) = self.kept() else { return Ok(()) };
        let steps = StepLabel::count_redo(conversation.history());
        let Some((store, _)) = &setup.chat.store else { return Ok(()) };
        for _ in 0..steps {
            if !is_done(setup.language, setup.stops.stored(conversation.redo(store, Some(now()))).await)? {
                break;
            }
        }
        if steps == 0 {
            show::note(self.setup.language, &phrase!("nothing to redo"));
        }
        self.show_end();
        Ok(())
    }

    /// Prints the current message of the conversation.
    fn show_end(&self) {
        let Some(session) = self.session() else { return };
        match session.node(session.active_leaf_id()).filter(|_| session.active_leaf_id() != session.root_id())
        {
            Some(node) => {
                let message = tree::outline(self.setup.language, node);
                show::note(self.setup.language, &phrase!("moved to: {message}", message));
            }
            None => show::note(self.setup.language, &phrase!("moved to the start")),
        }
    }

    /// Makes a message the active leaf.
    async fn go_to(&mut self, id: NodeId) -> Result<()> {
        let Some((setup, conversation)) = self.kept() else { return Ok(()) };
        let Some((store, _)) = &setup.chat.store else { return Ok(()) };
        if id != *conversation.session().active_leaf_id() {
            let op = SessionOp::ActivateLeaf { id };
            setup.stops.stored(conversation.apply(store, tree::SWITCH, op, Some(now()))).await?;
        }
        let found = setup.stops.stored(conversation.recover(store, Some(now()))).await?;
        setup.tell(&found);
        Ok(())
    }

    async fn edit(&mut self, text: &str) -> Result<()> {
        let above = self.session().and_then(|session| tree::parent(session, &tree::last_user(session)?));
        let Some(above) = above else {
            show::note(self.setup.language, &phrase!("you have not sent a message to edit"));
            return Ok(());
        };
        self.go_to(above).await?;
        self.say(self.setup.typed(text, self.conversation.as_ref())).await
    }

    async fn branch(&mut self, number: Option<usize>) -> Result<()> {
        let Some(session) = self.session() else {
            show::note(self.setup.language, &nothing_said());
            return Ok(());
        };
        let messages = tree::messages(session);
        let Some(number) = number else { return show::result(&tree::list(self.setup.language, session)) };
        let Some(id) = number.checked_sub(1).and_then(|index| messages.get(index)).map(|(id, _)| id.clone())
        else {
            show::note(self.setup.language, &phrase!("no message {number}", number));
            return Ok(());
        };
        self.go_to(id).await?;
        self.show_end();
        Ok(())
    }

    async fn switch(&mut self, number: Option<usize>) -> Result<()> {
        let Some(session) = self.session() else {
            show::note(self.setup.language, &nothing_said());
            return Ok(());
        };
        let Some(number) = number else {
            return show::result(&tree::list_branches(self.setup.language, session));
        };
        let Some(id) = number.checked_sub(1).and_then(|index| tree::branches(session).into_iter().nth(index))
        else {
            show::note(self.setup.language, &phrase!("no branch {number}", number));
            return Ok(());
        };
        self.go_to(id).await?;
        self.show_end();
        Ok(())
    }

    async fn regenerate(&mut self) -> Result<()> {
        let Some(id) = self.session().and_then(tree::last_user) else {
            show::note(self.setup.language, &phrase!("you have not sent a message to reply to"));
            return Ok(());
        };
        self.go_to(id).await?;
        self.say(self.setup.chat.request("")).await
    }

    async fn retry(&mut self) -> Result<()> {
        let Some(session) = self.session().filter(|session| tree::ends_in_error(session)) else {
            show::note(
                self.setup.language,
                &phrase!("nothing to retry; use `/regenerate` for another reply"),
            );
            return Ok(());
        };
        if let Some(above) = tree::parent(session, session.active_leaf_id()) {
            self.go_to(above).await?;
        }
        self.say(self.setup.chat.request("")).await
    }

    /// Continues the last reply. After a failure, asks the model to continue with a user message.
    async fn go_on(&mut self) -> Result<()> {
        let Some(session) = self.session() else {
            show::note(self.setup.language, &nothing_said());
            return Ok(());
        };
        let mut request = self.setup.chat.request("");
        if tree::ends_in_error(session) {
            request = self.setup.chat.request("continue");
        } else if tree::ends_in_answer(session) {
            request.turn = request.turn.with(|turn| turn.kind = GenerationKind::Continue);
        }
        self.say(request).await
    }

    async fn compress(&mut self) -> Result<()> {
        let Some((setup, conversation)) = self.kept() else { return Ok(()) };
        let Some((store, _)) = &setup.chat.store else { return Ok(()) };
        let (chat, cancel) = (setup.chat.for_turns(None), Cancel::default());
        let log = ChatLog { store, conversation, memory: None, lease: None };
        let turn = setup.chat.request("").turn;
        let work = compress_conversation(&chat, log, &turn, &MaskSelection::All, &cancel);
        match setup.stops.stoppable(work, &cancel).await? {
            Ok(notice) => show::note(self.setup.language, &notice.phrase()),
            Err(reason) => show::note(self.setup.language, &phrase!("no summary: {reason}", reason)),
        }
        Ok(())
    }

    fn tools(&self) -> Result<()> {
        let tools = self.setup.chat.tools();
        if tools.is_empty() {
            show::note(self.setup.language, &phrase!("no tools; add some with `--tools-dir`"));
        }
        let what = |tool: &ctx_chat::Tool| tool.definition.description.clone().unwrap_or_default();
        for tool in &tools {
            show::result(&format!("{:<12} {}\n", tool.name(), what(tool).as_str()))?;
        }
        Ok(())
    }

    fn mode(&mut self, mode: Option<Mode>) {
        if let Some(mode) = mode {
            self.setup.chat.set_mode(mode);
        }
        show::note(
            self.setup.language,
            &phrase!("the mode is `{mode}`", mode = self.setup.chat.mode().to_string()),
        );
    }

    async fn context(&mut self) -> Result<()> {
        let empty = Session::new("none");
        let session = self.session().unwrap_or(&empty);
        let turn = self.setup.chat.request("").turn.with(|turn| turn.preview = true);
        let ports = Ports::default().with(|ports| ports.memory = Some(&self.setup.chat.memory));
        match self.setup.chat.agent.assemble_with(session, &turn, ports).await {
            Ok(context) => {
                let prefix = context.report.prefix.as_ref();
                let prefix = prefix.map(|prefix| show::repeated_part(self.setup.language, prefix));
                let messages = show::context(self.setup.language, &context, false);
                show::result(&[Some(messages), prefix].into_iter().flatten().collect::<Vec<_>>().join("\n"))
            }
            Err(error) => {
                show::note(self.setup.language, &error.phrase());
                Ok(())
            }
        }
    }
}

/// Returns whether a step succeeded, and prints the reason if not. A canceled step ends the chat, because the store
/// may or may not have it.
fn is_done(language: Language, step: Result<(), StoreError>) -> Result<bool, StoreError> {
    match step {
        Err(StoreError::GivenUp) => Err(StoreError::GivenUp),
        Err(error) => {
            show::note(language, &error.phrase());
            Ok(false)
        }
        Ok(()) => Ok(true),
    }
}
