//! Conversations: shown, changed, compressed.

use std::sync::Arc;

use crate::api_imports::Nothing;
use crate::api_talk::{MadeSession, StepTaken};
use crate::api_turn::StopTurn;
use crate::call::{Call, Refusal, Reply};
use crate::server::Server;
use crate::talk::{self, Asked};

pub(crate) fn view(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let known = server.talks.read(server, call.part("f"))?;
    Reply::json(&talk::view(&known, &asked(call)?, call.language))
}

/// Reads what of a path is asked for.
fn asked(call: &Call) -> Result<Asked, Refusal> {
    let open = call.query.get("open").map(String::as_str).unwrap_or_default();
    Ok(Asked {
        from: call.number("from")?,
        at: call.query.get("at").cloned(),
        about: None,
        open: open.split(',').filter(|id| !id.is_empty()).map(Into::into).collect(),
    })
}

pub(crate) fn tree(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::tree(&server.talks.read(server, call.part("f"))?.file.session))
}

pub(crate) fn step(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let asked = asked(call)?;
    let taken = talk::take(server, call)?;
    let asked = Asked { about: taken.id.clone(), ..asked };
    // The step is taken, whether or not it can be shown.
    let known = server.talks.read(server, call.part("f")).ok();
    let view = known.map(|known| talk::view(&known, &asked, call.language));
    Reply::json(&StepTaken { view, ..taken })
}

pub(crate) fn plan(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::plan(server, call)?)
}

pub(crate) fn settings(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::settings(server, call)?)
}

pub(crate) fn compress(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::compress(server, call)?)
}

pub(crate) fn summary(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let known = server.talks.read(server, call.part("f"))?;
    Reply::json(&talk::summary(&known.file.session, call.part("n"), call.language)?)
}

/// Begins a turn, or tells what it would send.
pub(crate) fn begin_turn(server: &Arc<Server>, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::begin(server, call)?)
}

/// Keeps a file that is to be sent with a message.
pub(crate) fn attach(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::attach(server, call)?)
}

pub(crate) fn discard_attached(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    talk::discard(server, call)?;
    Reply::json(&Nothing {})
}

/// Has a model write a summary.
pub(crate) fn begin_summary(server: &Arc<Server>, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::begin_summary(server, call)?)
}

pub(crate) fn turn(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&server.turns.view(call.part("f"), call.number("turn")?, call.number("from")?))
}

/// Stops a turn; what came of the answer is kept.
pub(crate) fn stop_turn(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let StopTurn {} = call.json()?;
    server.turns.stop(call.part("f"));
    turn(server, call)
}

pub(crate) fn answer_call(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    talk::verdict(server, call)?;
    turn(server, call)
}

pub(crate) fn make_session(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let id = talk::make_session(server, call)?;
    Reply::json(&MadeSession { id })
}

pub(crate) fn greetings(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::greetings(server, call)?)
}

pub(crate) fn search(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::search(server, call))
}

pub(crate) fn rename(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    talk::rename(server, call)?;
    Reply::json(&Nothing {})
}

pub(crate) fn delete(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    talk::delete(server, call)?;
    Reply::json(&Nothing {})
}

/// Begins a conversation in the store.
pub(crate) fn create(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&talk::create(server, call)?)
}
