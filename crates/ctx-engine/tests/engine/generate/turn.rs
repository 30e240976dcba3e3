use ctx_engine::{
    AssembleError, Compile, CompiledAgent, Context, Engine, Switches, read_agent, read_conversation,
};
use ctx_types::TurnInput;
use ctx_types::session::Session;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::json;

use super::{Case, case};

#[derive(Clone, Debug)]
pub(crate) struct Turn {
    case: Case,
    budget: i64,
    retained: u32,
    switches: Switches,
}

const FORMATTERS: [&str; 5] = [
    "merge-injections",
    "merge-system-to-head",
    "merge-consecutive-roles",
    "convert-system-to-user",
    "ensure-alternating-roles",
];

const OTHERS: [&str; 3] = ["session-loader", "injection-assembler", "token-limiter"];

prop_compose! {
    pub(crate) fn turn()(
        case in case(),
        budget in prop_oneof![9 => 1_i64..160, 1 => select(&[0, -1, 4_000_000_000, i64::MAX, i64::MIN][..])],
        retained in select(&[0_u32, 0, 3, 9][..]),
        on in subsequence(&FORMATTERS[..], 0..=5),
        off in prop_oneof![2 => Just(Vec::new()), 1 => subsequence(&OTHERS[..], 1..=3)],
    ) -> Turn {
        let formatters = FORMATTERS.iter().map(|id| (*id).to_owned());
        let (enable, mut disable): (Vec<String>, Vec<String>) = formatters.partition(|id| on.contains(&id.as_str()));
        disable.extend(off.into_iter().map(str::to_owned));
        Turn { case, budget, retained, switches: Switches { enable, disable } }
    }
}

impl Turn {
    pub(crate) fn compile(&self, engine: &Engine) -> CompiledAgent {
        let mut file = self.case.agent.clone();
        let config = json!({ "retainedCharacters": self.retained });
        file["parameters"] = json!({ "processors": [{ "id": "token-limiter", "config": config }] });
        let agent = read_agent(file.to_string().as_bytes(), "").unwrap();
        engine.compile(
            &agent.value,
            &Compile::default().with(|compile| compile.switches = self.switches.clone()),
        )
    }

    pub(crate) fn input(&self) -> TurnInput {
        TurnInput::default().with(|turn| {
            turn.input = self.case.input.map(Into::into);
            turn.kind = self.case.kind;
            turn.model = self.case.model.map(Into::into);
            turn.context_tokens = Some(self.budget);
            turn.reserve = Some(0);
        })
    }

    pub(crate) fn with_text_in_place_of(mut self, text: &str, other: &str) -> Self {
        let agent = self.case.agent.to_string().replace(text, other);
        self.case.agent = serde_json::from_str(&agent).unwrap();
        self
    }

    pub(crate) fn with_default_formatters(mut self) -> Self {
        self.switches = Switches::default();
        self
    }

    pub(crate) fn run(&self, engine: &Engine, turn: &TurnInput) -> Result<Context, AssembleError> {
        self.compile(engine).assemble_blocking(&self.session(), turn)
    }

    pub(crate) fn session(&self) -> Session {
        let session = self.case.session.to_string();
        read_conversation(session.as_bytes(), "").unwrap().value
    }
}
