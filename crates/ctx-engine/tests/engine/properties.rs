//! Properties of all agents and conversations, from files to messages.

use crate::generate;

use std::sync::LazyLock;

use ctx_engine::{
    Compile, CompiledAgent, Context, Engine, Switches, read_agent, read_conversation, read_profile,
};
use ctx_preset_import::Document;
use ctx_types::session::Session;
use ctx_types::{Agent, Diagnostic, GenerationKind, Message, Persist, Reader, Role, TurnInput};
use generate::{Case, case, outlined_junk};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

impl Case {
    fn agent(&self) -> Agent {
        let bytes = self.agent.to_string();
        read_agent(bytes.as_bytes(), "").unwrap().value
    }

    fn session(&self) -> Session {
        read_conversation(self.session.to_string().as_bytes(), "").unwrap().value
    }

    fn turn(&self) -> TurnInput {
        TurnInput::default().with(|turn| {
            turn.input = self.input.map(Into::into);
            turn.kind = self.kind;
            turn.model = self.model.map(Into::into);
            turn.at_millis = Some(0);
        })
    }

    /// Assembles with fresh data and without formatters, which would join messages.
    fn run(&self) -> Context {
        assemble(&compile(&self.agent()), &self.session(), &self.turn())
    }

    fn conversation(&self) -> Vec<Message> {
        assemble(&compile(&Agent::default()), &self.session(), &self.turn()).messages
    }
}

fn compile(agent: &Agent) -> CompiledAgent {
    let formatters = ["merge-system-to-head", "merge-consecutive-roles"];
    let disable = formatters.map(str::to_owned).to_vec();
    let switches = Switches { disable, ..Switches::default() };
    ENGINE.compile(agent, &Compile::default().with(|compile| compile.switches = switches))
}

fn assemble(compiled: &CompiledAgent, session: &Session, turn: &TurnInput) -> Context {
    compiled.assemble_blocking(session, turn).unwrap()
}

fn name(message: &Message) -> (String, String) {
    (message.source.to_string(), message.text().into_owned())
}

fn feed(bytes: &[u8], name: &str) {
    let agent = read_agent(bytes, name).map(|agent| agent.value);
    let session = read_conversation(bytes, name).map(|session| session.value);
    let profile = read_profile(bytes, name).map(|profile| profile.value).ok();
    if let Ok(agent) = &agent {
        assert_eq!(
            Agent::read(agent.write(), &mut Reader::new()),
            *agent,
            "a saved agent is read back unchanged"
        );
    }
    if let Ok(session) = &session {
        let again = Session::read(session.write(), &mut Reader::new());
        assert_eq!(again, *session, "a saved session is read back unchanged");
    }
    let compiled = ENGINE
        .compile(&agent.unwrap_or_default(), &Compile::default().with(|compile| compile.profile = profile));
    let session = session.unwrap_or_else(|_| Session::new("empty"));
    for kind in [GenerationKind::Normal, GenerationKind::Continue] {
        let turn = TurnInput::default().with(|turn| turn.kind = kind);
        // The file's settings may contain a budget that is too small.
        if let Ok(context) = compiled.assemble_blocking(&session, &turn) {
            context.to_json();
            context.to_snapshot();
        }
    }
}

fn resolves(document: &Value, diagnostic: &Diagnostic) -> bool {
    let Some(pointer) = &diagnostic.location.pointer else { return false };
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    document.pointer(pointer).is_some() || document.pointer(parent).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keeps_history_complete_and_in_order(case in case()) {
        let context = case.run();
        let found: Vec<_> =
            context.messages.iter().filter(|message| message.source.kind.is_history()).map(name).collect();
        let expected: Vec<_> = case.conversation().iter().map(name).collect();
        let omitted = context.report.decisions.iter().any(|decision| decision.reason.to_string().contains("`omit`"));
        if omitted {
            prop_assert_eq!(found, []);
        } else {
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn does_not_expand_history_texts(case in case()) {
        let context = case.run();
        for message in context.messages.iter().filter(|message| message.source.kind.is_history()) {
            let text = message.text();
            prop_assert!(message.written.is_empty());
            prop_assert_eq!(message.role == Role::Assistant && !text.is_empty(), text.starts_with("answer"));
            prop_assert_eq!(text.starts_with("question"), text.ends_with("{{setvar::a::2}}"));
        }
    }

    #[test]
    fn points_diagnostics_into_junk_document(junk in outlined_junk()) {
        let bytes = junk.to_string();
        let agent = read_agent(bytes.as_bytes(), "");
        let session = read_conversation(bytes.as_bytes(), "");
        let Ok(document) = Document::read(bytes.as_bytes(), "") else {
            // YAML rejects control characters in a quoted text.
            prop_assert!(agent.is_err() && session.is_err(), "every reader rejects an unreadable document");
            return Ok(());
        };
        let document = document.value;
        if let Ok(agent) = &agent {
            let unified = agent.value.write();
            let compiled = ENGINE.compile(&agent.value, &Compile::default());
            for diagnostic in compiled.diagnostics() {
                prop_assert!(resolves(&unified, diagnostic), "{}", diagnostic);
            }
        }
        let found = agent.map_or_else(|_| Vec::new(), |agent| agent.diagnostics);
        let found = found.into_iter().chain(session.map_or_else(|_| Vec::new(), |session| session.diagnostics));
        for diagnostic in found {
            prop_assert!(resolves(&document, &diagnostic), "{}", diagnostic);
        }
    }

    #[test]
    fn reads_junk_without_panic(junk in outlined_junk()) {
        feed(junk.to_string().as_bytes(), "");
    }

    #[test]
    fn reads_bytes_without_panic(bytes in vec(any::<u8>(), 0..64), text in "[-{}\\[\\]:,\"'&*!#|> \\na-c0\u{feff}\u{0}]{0,40}") {
        feed(&bytes, "a.json");
        feed(text.as_bytes(), "a.yaml");
        feed(text.as_bytes(), "a.txt");
    }
}
