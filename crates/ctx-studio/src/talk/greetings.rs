//! Greetings of an agent: listed for a choice, and the first messages of a new conversation.

use ctx_chat::StoreError;
use ctx_project::ProjectError;
use ctx_project::chat::Greeting;
use ctx_types::session::{Session, SessionOp};

use super::path::start;
use super::turns::setup;
use crate::api_preview::TurnSettings;
use crate::api_talk::{GreetingView, GreetingsRequest, GreetingsView};
use crate::api_turn::BeginTurn;
use crate::call::{Call, Refusal};
use crate::server::Server;

/// Maximum length of a listed greeting, in bytes.
const MAX_HEAD: usize = 400;

/// Maximum number of greetings of a conversation.
const MAX_GREETINGS: usize = 200;

/// Lists the greetings of an agent.
pub(crate) fn list(server: &Server, call: &Call) -> Result<GreetingsView, Refusal> {
    let greetings = read(server, &call.json()?)?;
    let view = |greeting: &Greeting| GreetingView {
        title: start(greeting.title(), MAX_HEAD).to_owned(),
        head: start(greeting.text.trim(), MAX_HEAD).to_owned(),
    };
    Ok(GreetingsView { greetings: greetings.iter().map(view).collect() })
}

/// Adds the greetings of an agent to an empty conversation, each as a branch. Activates one.
pub(super) fn begin(
    server: &Server,
    greets: &GreetingsRequest,
    active: usize,
    session: &mut Session,
) -> Result<(), Refusal> {
    let root = session.root_id().clone();
    let greetings = read(server, greets)?;
    let active = active.min(greetings.len().saturating_sub(1));
    let nodes = greetings.into_iter().enumerate().map(|(index, greeting)| {
        let node = Box::new(greeting.into_node().with_id(id(index)));
        SessionOp::Append { parent: root.clone(), node }
    });
    let mut ops: Vec<SessionOp> = nodes.collect();
    if !ops.is_empty() {
        ops.push(SessionOp::ActivateLeaf { id: id(active).into() });
    }
    for op in ops {
        session.apply(&op).map_err(StoreError::from).map_err(ProjectError::from)?;
    }
    Ok(())
}

/// Returns the id of a greeting. The store continues this numbering.
fn id(index: usize) -> String {
    format!("n{}", index + 1)
}

fn read(server: &Server, greets: &GreetingsRequest) -> Result<Vec<Greeting>, Refusal> {
    let with = BeginTurn {
        base: String::new(),
        agent: Some(greets.agent.clone()),
        profile: greets.profile.clone(),
        worldbooks: Vec::new(),
        turn: TurnSettings::default(),
        answer_to: None,
        attachments: Vec::new(),
        dry_run: true,
    };
    let mut greetings = setup(server, &with)?.greetings();
    greetings.truncate(MAX_GREETINGS);
    Ok(greetings)
}
