use ctx_pipeline::internal::Run;
use ctx_types::session::Session;
use ctx_types::{Diagnostic, Message, TurnInput};

use crate::assembly::{AssembleError, Assembly, Ports};
use crate::compiled_agent::CompiledAgent;

/// Processed messages to append to a context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppendedMessages {
    /// Messages in order.
    pub messages: Vec<Message>,
    /// Diagnostics of the processors.
    pub diagnostics: Vec<Diagnostic>,
}

impl CompiledAgent {
    /// Runs tool-loop messages through the processors that handle each message separately.
    ///
    /// Append the result to the context of the turn. The cost depends only on the new messages.
    ///
    /// ```
    /// use ctx_engine::{Compile, Engine, Ports};
    /// use ctx_types::{Agent, Message, Role, Source, TurnInput};
    /// use ctx_types::session::Session;
    ///
    /// let compiled = Engine::new().compile(&Agent::default(), &Compile::default());
    /// let result = Message::new(Role::Tool, "42", Source::history("n3", Role::Tool));
    /// let (session, turn) = (Session::new("s1"), TurnInput::default());
    /// let appended = compiled.append(&session, &turn, vec![result], Ports::default());
    /// let appended = pollster::block_on(appended)?;
    /// assert_eq!(appended.messages[0].text(), "42");
    /// # Ok::<(), ctx_engine::AssembleError>(())
    /// ```
    pub async fn append(
        &self,
        session: &Session,
        turn: &TurnInput,
        messages: Vec<Message>,
        ports: Ports<'_>,
    ) -> Result<AppendedMessages, AssembleError> {
        let assembly = Assembly::new(self, session, turn, ports)?;
        let mut run = Run::default();
        run.draft.set_messages(messages);
        assembly.run_appended(&mut run).await?;
        Ok(AppendedMessages { messages: run.draft.take_messages(), diagnostics: run.diagnostics })
    }
}
