use ctx_macros::{Env, Limits, State};
use ctx_types::session::{Node, NodeId, NodeMetadata, Session};
use ctx_types::{Diagnostic, Role, Segment, Source, SourceKind, Text, Trust, TurnInput};
use serde_json::Value;

use crate::compiled_agent::CompiledAgent;

const INPUT: &str = "input";

/// The user's text after macro expansion.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedInput {
    /// Text to send and store.
    pub text: Text,
    /// Text as typed.
    pub raw: Text,
    /// Source of each byte range of the text; empty if all of it was typed.
    pub written: Vec<Segment>,
    /// Diagnostics about the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl PreparedInput {
    /// Metadata key of the typed text in a stored message.
    pub const RAW_KEY: &'static str = "rawContent";

    /// Creates the message to store. If macros changed the text, its metadata has the typed text.
    pub fn to_node(&self, id: impl Into<NodeId>) -> Node {
        let mut node = Node::new(Role::User, self.text.clone()).with_id(id);
        if self.text != self.raw {
            let mut metadata = NodeMetadata::default();
            metadata.kept.set(Self::RAW_KEY, Value::from(self.raw.as_str()));
            node.metadata = Some(Box::new(metadata));
        }
        node
    }
}

impl CompiledAgent {
    /// Expands the macros of the user's input.
    ///
    /// Conversations and inputs are otherwise data without macros. Use the result as [`TurnInput::input`] and
    /// store it: it is never expanded again, so random values and times stay the same. `{{input}}` is the
    /// typed text; the newest message is the one before it. Variables of the text are local. O(text).
    ///
    /// ```
    /// use ctx_engine::{Compile, Engine};
    /// use ctx_types::{Agent, TurnInput};
    /// use ctx_types::session::Session;
    ///
    /// let agent = Agent { name: Some("Ada".into()), ..Agent::default() };
    /// let compiled = Engine::new().compile(&agent, &Compile::default());
    /// let turn = TurnInput::new("Hello {{char}}");
    /// let prepared = compiled.prepare_input(&Session::new("s1"), &turn);
    /// assert_eq!((prepared.text.as_str(), prepared.raw.as_str()), ("Hello Ada", "Hello {{char}}"));
    /// let turn = turn.with(|turn| turn.input = Some(prepared.text));
    /// # assert!(compiled.assemble_blocking(&Session::new("s1"), &turn).is_ok());
    /// ```
    pub fn prepare_input(&self, session: &Session, turn: &TurnInput) -> PreparedInput {
        let raw = turn.input.clone().unwrap_or_default();
        let before = turn.clone().with(|turn| turn.input = None);
        let macros = &self.macros;
        let env = Env { input: Some(raw.clone()), ..macros.turn_env(self.profile(), session, &before) };
        let template = macros.parse(&raw);
        let origin = Source::new(SourceKind::Input, Trust::User);
        let expansion = template.expand(&env, &mut State::new(Limits::default()), &origin);
        let written = expansion.segments();
        let found = template.diagnostics().iter().cloned().chain(expansion.diagnostics);
        let diagnostics = found.map(|finding| finding.in_document(INPUT)).collect();
        PreparedInput { text: expansion.text, raw, written, diagnostics }
    }
}
