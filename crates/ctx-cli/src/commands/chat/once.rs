//! A single turn for scripts. Prints the reply or the request to standard output.

use ctx_chat::{
    Approval, ChatLog, Conversation, StoreLease, TurnEnd, TurnFailure, TurnOutcome, preview_turn, run_turn,
};
use ctx_language::Language;
use ctx_pipeline::Cancel;
use ctx_project::error::Result;
use ctx_project::unusable;
use serde_json::{Value, json};

use crate::commands::chat::lines::Lines;
use crate::commands::chat::screen::Screen;
use crate::commands::chat::setup::Setup;
use crate::commands::chat::tools::Asking;
use crate::exit::Exit;
use crate::show;

/// Runs one turn and prints the reply.
pub(super) async fn run(language: Language, setup: &Setup, text: &str, as_json: bool) -> Result<Exit> {
    let mut conversation = setup.open().await?;
    let Some(lease) = setup.lease(&mut conversation).await? else { return Ok(Exit::Stopped) };
    setup.begin(&mut conversation).await?;
    let mut screen = Screen::new(setup, !as_json);
    let asking = Asking::new(language, Lines::start());
    let request = setup.typed(text, conversation.as_ref());
    let log = TurnLog { conversation: &mut conversation, lease: lease.as_ref() };
    let end = turn(setup, Some(&asking), log, request, &mut screen).await?;
    if as_json {
        show::json(&to_json(&end, conversation.as_ref()))?;
    } else {
        screen.end(&end)?;
    }
    Ok(exit(&end))
}

/// The conversation of a turn, and its lease.
pub(super) struct TurnLog<'a> {
    pub(super) conversation: &'a mut Option<Conversation>,
    pub(super) lease: Option<&'a StoreLease>,
}

/// Runs a turn. An interrupt stops it.
pub(super) async fn turn(
    setup: &Setup,
    asking: Option<&Asking>,
    TurnLog { conversation, lease }: TurnLog<'_>,
    request: ctx_chat::TurnRequest,
    screen: &mut Screen<'_>,
) -> Result<TurnEnd> {
    let approval = asking.map(|asking| asking as &dyn Approval);
    let (chat, cancel) = (setup.chat.for_turns(approval), Cancel::default());
    let log = setup.chat.store.as_ref().zip(conversation.as_mut()).map(|((store, _), conversation)| {
        ChatLog { store, conversation, memory: Some(&setup.chat.memory), lease }
    });
    let mut watch = |event| screen.show(event);
    let turn = run_turn(&chat, log, request, &mut watch, &cancel);
    let result = setup.stops.stoppable(turn, &cancel).await;
    result.map_err(|error| {
        if error.unstored.is_empty() {
            return error.source.into();
        }
        let text = format!("\n{}\n", error.unstored.as_str());
        unusable!("cannot store this text:{text}: {error}", text, error = error.source.phrase())
    })
}

/// Prints the request body of a turn without sending it.
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
            show::turn_failure(language, &failure);
            Ok(exit_of(&failure))
        }
    }
}

/// Returns the exit code of a turn.
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
        TurnFailure::Model(_) | TurnFailure::Blank | TurnFailure::Filtered => Exit::Provider,
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
        "prefix": end.report.as_ref().and_then(|report| report.prefix.as_ref()),
        "providerUsage": {
            "input": end.provider_usage.input,
            "cached": end.provider_usage.cached,
            "output": end.provider_usage.output,
        },
    })
}
