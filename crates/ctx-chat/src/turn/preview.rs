//! What a turn would send, found out by the way on which it is sent.

use ctx_engine::TurnCache;
use ctx_pipeline::Cancel;
use ctx_types::GenerationKind;
use ctx_types::session::Session;

use crate::turn::outcome::{Stop, TurnFailure};
use crate::turn::recorder::Recorder;
use crate::turn::{Chat, Running, TurnEvent, TurnRequest};

/// Finds out what a turn would send first: the same bytes that [`run_turn`](crate::run_turn) sends.
///
/// Nothing is stored and nobody is asked. Where the turn would summarise older messages first, which takes a
/// model, the preview is without the summary and says so.
///
/// Errors: the failure with which the turn would end.
pub async fn preview_turn(
    chat: &Chat<'_>,
    session: Option<&Session>,
    memory: Option<&TurnCache>,
    request: TurnRequest,
) -> Result<TurnPreview, TurnFailure> {
    let is_kept = matches!(request.turn.kind, GenerationKind::Normal | GenerationKind::Continue);
    let (mut events, cancel) = (Vec::new(), Cancel::default());
    let recorder = match session {
        Some(session) => Recorder::on_copy(session.clone(), memory, is_kept, chat.clock, &cancel),
        None => Recorder::new(None, None, is_kept, chat.clock, &cancel),
    };
    let mut watch = |event| events.push(event);
    let mut running = Running::new(chat, recorder, request, &mut watch, &cancel);
    running.request.turn.preview = true;
    let body = running.preview().await?;
    let tokens = running.tokens();
    Ok(TurnPreview { body, tokens, events })
}

/// What a turn would send.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnPreview {
    /// The bytes of the request's body.
    pub body: Vec<u8>,
    /// Tokens of the messages and tools in the body.
    pub tokens: u64,
    /// What would be told on the way.
    pub events: Vec<TurnEvent>,
}

impl Running<'_, '_> {
    async fn preview(&mut self) -> Result<Vec<u8>, TurnFailure> {
        let memory = self.recorder.memory();
        let body = async {
            self.recover().await?;
            self.prepare();
            self.store_input(memory).await?;
            self.tell_due_summary();
            let context = self.assemble(memory).await?;
            self.build(context).await?;
            self.fit()?;
            Ok(self.encode().bytes)
        };
        body.await.map_err(|stop| match stop {
            Stop::Failed(failure, _) => failure,
            Stop::Store(error) => TurnFailure::Conversation(error.source),
            // There is nobody who cancels.
            Stop::Answered | Stop::Aborted(_) => TurnFailure::Blank,
        })
    }
}
