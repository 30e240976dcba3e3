//! One turn for scripts: the answer on standard output, or the request that would be sent.

use anyhow::{Error, Result};
use ctx_chat::{
    Approval, ChatLog, Conversation, StoreError, TurnEnd, TurnFailure, TurnOutcome, preview_turn, run_turn,
    within,
};
use ctx_language::Language;
use ctx_pipeline::Cancel;
use ctx_types::phrase;
use serde_json::{Value, json};

use crate::commands::chat::lines::Lines;
use crate::commands::chat::screen::Screen;
use crate::commands::chat::setup::Setup;
use crate::commands::chat::tools::Asking;
use crate::exit::Exit;
use crate::lang::Told;
use crate::show;

/// Carries out one turn and prints the answer.
pub(super) async fn run(language: Language, setup: &Setup, text: &str, as_json: bool) -> Result<Exit> {
    let mut conversation = setup.open().await?;
    setup.begin(&mut conversation).await?;
    let mut screen = Screen::new(setup, !as_json);
    let asking = Asking::new(language, Lines::start());
    let request = setup.typed(text, conversation.as_ref());
    let end = turn(setup, Some(&asking), &mut conversation, request, &mut screen).await?;
    match as_json {
        true => show::json(&to_json(&end, conversation.as_ref()))?,
        false => screen.end(&end)?,
    }
    Ok(exit(&end))
}

/// Carries out a turn; Ctrl-C stops it.
pub(super) async fn turn(
    setup: &Setup,
    asking: Option<&Asking>,
    conversation: &mut Option<Conversation>,
    request: ctx_chat::TurnRequest,
    screen: &mut Screen<'_>,
) -> Result<TurnEnd> {
    let approval = asking.map(|asking| asking as &dyn Approval);
    let (chat, cancel) = (setup.chat.for_turns(approval), Cancel::default());
    let log = setup
        .chat
        .store
        .as_ref()
        .zip(conversation.as_mut())
        .map(|((store, _), conversation)| ChatLog { store, conversation, memory: Some(&setup.chat.memory) });
    let mut watch = |event| screen.show(event);
    let result = stoppable(run_turn(&chat, log, request, &mut watch, &cancel), &cancel).await?;
    result.map_err(|error| {
        if error.unstored.is_empty() {
            return error.source.into();
        }
        let text = format!("\n{}\n", error.unstored.as_str());
        Error::new(error.source).context(Told(phrase!("this could not be stored:{text}", text)))
    })
}

/// Waits for work that ends soon after it is cancelled; Ctrl-C cancels it.
pub(super) async fn stoppable<T>(work: impl Future<Output = T>, cancel: &Cancel) -> Result<T> {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            result = &mut work => return Ok(result),
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                cancel.cancel();
            }
        }
    }
}

/// Waits for the store outside of a turn; after Ctrl-C not much longer.
pub(super) async fn stored<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let cancel = Cancel::default();
    // Who cannot hear Ctrl-C is ended by it.
    stoppable(within(&cancel, work), &cancel).await.unwrap_or(Err(StoreError::GivenUp))
}

/// Prints the body of the request that a turn would send.
pub(super) async fn preview(language: Language, setup: &Setup, text: &str) -> Result<Exit> {
    let conversation = setup.open().await?;
    let session = conversation.as_ref().map(Conversation::session);
    let request = setup.typed(text, conversation.as_ref());
    match preview_turn(&setup.chat.for_turns(None), session, None, request).await {
        Ok(preview) => {
            let mut screen = Screen::new(setup, false);
            preview.events.into_iter().for_each(|event| screen.show(event));
            show::bytes(&preview.body)?;
            Ok(Exit::Success)
        }
        Err(failure) => {
            show::failure(language, &Told(failure.phrase()).into());
            Ok(exit_of(&failure))
        }
    }
}

/// The exit code of a turn.
pub(super) fn exit(end: &TurnEnd) -> Exit {
    match &end.outcome {
        TurnOutcome::Answered => Exit::Success,
        TurnOutcome::Aborted => Exit::Stopped,
        TurnOutcome::Failed(failure) => exit_of(failure),
        _ => Exit::Findings,
    }
}

fn exit_of(failure: &TurnFailure) -> Exit {
    match failure {
        TurnFailure::Model(_) | TurnFailure::Blank => Exit::Provider,
        failure if failure.code() == "CONTEXT_TOO_LARGE" => Exit::Impossible,
        _ => Exit::Findings,
    }
}

fn to_json(end: &TurnEnd, conversation: Option<&Conversation>) -> Value {
    let (outcome, failure) = match &end.outcome {
        TurnOutcome::Answered => ("answered", None),
        TurnOutcome::Aborted => ("aborted", None),
        TurnOutcome::Failed(failure) => ("failed", Some(failure)),
        _ => ("unknown", None),
    };
    json!({
        "outcome": outcome,
        "error": failure.map(|failure| json!({ "code": failure.code(), "message": failure.to_string() })),
        "text": end.text,
        "conversation": conversation.map(Conversation::id),
        "message": end.answer,
        "rounds": end.rounds,
        "usage": end.usage,
        "providerUsage": {
            "input": end.provider_usage.input,
            "cached": end.provider_usage.cached,
            "output": end.provider_usage.output,
        },
    })
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[test]
    fn a_store_is_not_waited_for_long_after_ctrl_c() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut waiting = std::pin::pin!(stored(std::future::pending::<Result<(), StoreError>>()));
            tokio::select! {
                biased;
                _ = &mut waiting => {}
                // It listens now.
                () = std::future::ready(()) => kill_process(getpid(), Signal::INT).unwrap(),
            }
            assert!(matches!(waiting.await, Err(StoreError::GivenUp)));
        });
    }
}
