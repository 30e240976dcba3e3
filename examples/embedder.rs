//! Recalls old messages by meaning, with vectors, in addition to words.
//!
//! A real embedder calls a model. This one counts the words of three subjects.
//!
//! `cargo run -p examples --bin embedder`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ctx_engine::prelude::{
    Agent, Compile, Embedder, Engine, Node, PortError, PortFuture, Ports, Role, Session, Switches, Text,
    TurnInput,
};

/// Words of one subject each.
const SUBJECTS: [&[&str]; 3] = [
    &["pet", "dog", "terrier", "cat"],
    &["sea", "pier", "ferry", "boat"],
    &["meal", "soup", "bread", "cake"],
];

/// An embedder. A real one sends the texts to a model.
struct Toy;

impl Embedder for Toy {
    fn embed<'a>(&'a self, texts: &'a [Text]) -> PortFuture<'a, Result<Vec<Vec<f32>>, PortError>> {
        let vector = |text: &Text| {
            let text = text.as_str().to_lowercase();
            let is_about = |words: &&[&str]| words.iter().any(|word| text.contains(word));
            SUBJECTS.iter().map(|words| if is_about(words) { 1.0 } else { 0.0 }).collect()
        };
        println!("  computing the vectors of {} texts", texts.len());
        Box::pin(std::future::ready(Ok(texts.iter().map(vector).collect())))
    }
}

fn main() -> anyhow::Result<()> {
    let said = |n: usize| match n {
        3 => Node::new(Role::User, "My terrier Rex sleeps all day."),
        _ if n.is_multiple_of(2) => Node::new(Role::Assistant, "I see."),
        _ => Node::new(Role::User, format!("The ferry came to the pier at {}:30.", n % 24)),
    };
    let (session, _) = Session::linear("coast", (0..100).map(said));
    let enable = vec!["recall".to_owned()];
    let with =
        Compile::default().with(|compile| compile.switches = Switches { enable, ..Switches::default() });
    let compiled = Engine::new().compile(&Agent::default(), &with);

    // The conversation exceeds the budget, and does not contain the word `pet`.
    let turn = TurnInput::default().with(|turn| {
        turn.context_tokens = Some(300);
        turn.input = Some("Which pet do I have?".into());
    });
    for ports in [Ports::default(), Ports::default().with(|ports| ports.embedder = Some(&Toy))] {
        println!("{}", if ports.embedder.is_some() { "with vectors:" } else { "with words only:" });
        let context = pollster::block_on(compiled.assemble_with(&session, &turn, ports))?;
        let recalled = context.messages.iter().map(|message| message.text().into_owned());
        let recalled = recalled.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        let lines: Vec<String> = recalled.filter(|line| line.contains("Rex")).collect();
        println!(
            "  {}",
            if lines.is_empty() { "nothing is recalled".to_owned() } else { lines.join("\n  ") }
        );
    }
    Ok(())
}
