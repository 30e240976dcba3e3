//! The engine: what all agents share, and the way from an agent's file to a compiled agent.

use ctx_anchors::AnchorRegistry;
use ctx_macros::Registry as MacroRegistry;
use ctx_types::{Agent, UserProfile};

use crate::compiled::CompiledAgent;
use crate::switches::Switches;

/// What all agents of an application share: its anchors and its macros. `Send + Sync`.
///
/// ```
/// use ctx_engine::{Compile, Engine};
/// use ctx_types::{Agent, Persist, Reader, Session, TurnInput};
///
/// let file = serde_json::json!({ "name": "Ada", "presetMessages": [
///     { "role": "system", "content": "You are {{char}}." },
///     { "type": "chat_history" },
/// ] });
/// let agent = Agent::read(file, &mut Reader::new());
/// let compiled = Engine::new().compile(&agent, &Compile::default());
/// let turn = TurnInput { input: Some("Hello".into()), ..TurnInput::default() };
/// let context = compiled.assemble(&Session::new("s1"), &turn);
/// let texts: Vec<_> = context.messages.iter().map(|message| message.text()).collect();
/// assert_eq!(texts, ["You are Ada.", "Hello"]);
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    /// The anchors that presets may use.
    pub anchors: AnchorRegistry,
    /// The macros that texts may use.
    pub macros: MacroRegistry,
}

/// What an agent is compiled with.
#[derive(Clone, Debug, Default)]
pub struct Compile {
    /// The person who chats.
    pub profile: Option<UserProfile>,
    /// Processors that are switched on or off by id.
    pub switches: Switches,
}

impl Engine {
    /// Creates an engine with the built-in anchors and macros.
    pub fn new() -> Self {
        Self { anchors: AnchorRegistry::system(), macros: MacroRegistry::builtin() }
    }

    /// Compiles an agent, once for any number of turns; reports everything that is wrong with it.
    ///
    /// Diagnostics have JSON pointers into the agent's unified form. O(size of the preset).
    pub fn compile(&self, agent: &Agent, with: &Compile) -> CompiledAgent {
        CompiledAgent::new(self, agent, with)
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}
