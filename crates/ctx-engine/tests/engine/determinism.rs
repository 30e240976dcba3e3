//! Equal inputs give equal bytes, also in another process with another hash map order.

use crate::generate;

use std::process::Command;

use ctx_engine::{Compile, Engine, Switches, read_agent, read_conversation};
use ctx_types::TurnInput;
use generate::{Case, case};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

const PROCESSES: usize = 5;

const CONTEXTS: usize = 40;

const MARK: &str = "<<<the contexts>>>";

fn contexts() -> String {
    let mut runner = TestRunner::deterministic();
    let engine = Engine::new();
    let mut written = String::new();
    for at in 0..CONTEXTS {
        let case = case().new_tree(&mut runner).unwrap().current();
        written.push_str(&context(&engine, &case, at));
        written.push('\n');
    }
    written
}

fn context(engine: &Engine, case: &Case, at: usize) -> String {
    let mut file = case.agent.clone();
    file["parameters"] = serde_json::json!({ "processors": [
        { "id": "nobody" }, { "id": "merge-consecutive-role" },
        { "id": "token-limiter", "config": { "retainedCharacters": at % 7, "x": 1, "a": 2, "m": 3 } },
    ] });
    let agent = read_agent(file.to_string().as_bytes(), "agent.json").unwrap();
    let session = read_conversation(case.session.to_string().as_bytes(), "chat.json").unwrap();
    let enable =
        ["merge-injections", "ensure-alternating-roles", "nobody-either"].map(str::to_owned).to_vec();
    let with =
        Compile::default().with(|compile| compile.switches = Switches { enable, ..Switches::default() });
    let turn = TurnInput::default().with(|turn| {
        turn.at_millis = Some(0);
        turn.seed = at as u64;
        turn.input = case.input.map(Into::into);
        turn.kind = case.kind;
        turn.model = case.model.map(Into::into);
        turn.context_tokens = Some(i64::try_from(at * 5 % 200 + 4).unwrap());
        turn.reserve = Some(0);
    });
    let compiled = engine.compile(&agent.value, &with);
    let findings = format!("{:?}{:?}{:?}", agent.diagnostics, session.diagnostics, compiled.diagnostics());
    match compiled.assemble_blocking(&session.value, &turn) {
        Ok(context) => format!("{findings}\n{}\n{}", context.to_json(), context.to_snapshot()),
        Err(error) => format!("{findings}\n{error}\n{error:?}"),
    }
}

#[test]
fn gives_equal_bytes_in_five_processes() {
    let own = contexts();
    assert!(own.contains("dropped") && own.contains("no context fits") && own.contains("\"report\""));
    let test = std::env::current_exe().unwrap();
    for _ in 1..PROCESSES {
        let child = ["--exact", "determinism::prints_contexts_of_one_process", "--nocapture"];
        let output = Command::new(&test).args(child).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let written = String::from_utf8(output.stdout).unwrap();
        assert_eq!(written.split(MARK).nth(1), Some(own.as_str()));
    }
}

/// Run by each child process; alone it only prints.
#[test]
fn prints_contexts_of_one_process() {
    println!("{MARK}{}{MARK}", contexts());
}
