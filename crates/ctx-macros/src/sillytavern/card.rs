use std::borrow::Cow;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Text, Trust, phrase, space};

use crate::call::{Call, Failure, Value, remove_carriage_returns};
use crate::codes;
use crate::definition::Definition;
use crate::derived_texts::TextForm;
use crate::env::Env;

pub(super) fn definitions() -> Vec<Definition> {
    let mut all = fields();
    all.extend([
        Definition::always("persona", |call| call.card_text(call.env().persona.as_ref()))
            .trust(Trust::User)
            .describe("Text of the user profile.", "{{persona}}"),
        Definition::new("charFirstMessage", greeting).alias("greeting").arity(0, 1).describe(
            "First greeting of the card, or the greeting with a number; 0 is the first.",
            "{{charFirstMessage::1}}",
        ),
        Definition::always("mesExamples", examples).describe(
            "Example dialogues of the card, each block after a line with `<START>`.",
            "{{mesExamples}}",
        ),
        Definition::new("original", original)
            .describe("The text that this one replaces; empty after the first call.", "{{original}}"),
    ]);
    all
}

fn fields() -> Vec<Definition> {
    vec![
        field("charDescription", |env| env.description.as_ref(), "Description of the agent.")
            .alias("description"),
        field("charPersonality", |env| env.personality.as_ref(), "Personality of the agent.")
            .alias("personality"),
        field("charScenario", |env| env.scenario.as_ref(), "Scenario of the agent.").alias("scenario"),
        field("charPrompt", |env| env.card.system_prompt.as_ref(), "System prompt of the card."),
        field(
            "charInstruction",
            |env| env.card.post_history.as_ref(),
            "Post-history instructions of the card.",
        ),
        field(
            "mesExamplesRaw",
            |env| env.card.examples.as_ref(),
            "Example dialogues of the card, unchanged.",
        ),
        field("charDepthPrompt", |env| env.card.depth_prompt.as_ref(), "Depth note of the card."),
        field("charCreatorNotes", |env| env.card.creator_notes.as_ref(), "Creator's notes of the card.")
            .alias("creatorNotes"),
        field("charVersion", |env| env.card.version.as_ref(), "Version of the card.")
            .alias("version")
            .alias("char_version"),
    ]
}

fn field(name: &'static str, read: fn(&Env) -> Option<&Text>, description: &str) -> Definition {
    let expand = move |call: &mut Call<'_>| call.card_text(read(call.env()));
    Definition::always(name, expand).describe(description, format!("{{{{{name}}}}}"))
}

fn original(call: &mut Call<'_>) -> Result<Value, Failure> {
    if call.env().original.is_none() {
        let message = phrase!("no original text to insert");
        return Err(Failure::new(Diagnostic::warning(codes::NOT_PROVIDED, message)));
    }
    Ok(call.original.take().into())
}

fn greeting(call: &mut Call<'_>) -> Result<Value, Failure> {
    let card = &call.env().card;
    let text = match call.argument(0) {
        "" | "0" => card.first_message.as_ref(),
        number => {
            let index: Option<usize> = number.parse().ok();
            let index = index.ok_or_else(|| not_a_number(number))?;
            let known = index.checked_sub(1).and_then(|index| card.greetings.get(index));
            if known.is_none() {
                call.warn(
                    codes::BAD_ARGUMENT,
                    phrase!("the card has no greeting {number}", number = excerpt(number)),
                );
            }
            known
        }
    };
    Ok(call.card_text(text))
}

fn not_a_number(text: &str) -> Failure {
    Failure::from_message(phrase!("`{text}` is not a greeting number", text = excerpt(text)))
}

fn examples(call: &mut Call<'_>) -> Value {
    call.derived_text(call.env().card.examples.as_ref(), TextForm::Examples, |text| {
        let blocks = blocks(space::trim(text)).into_iter();
        let written: String = blocks.flat_map(|block| [START, "\n", block, "\n"]).collect();
        // The final line break is part of the format.
        Cow::Owned(remove_carriage_returns(&written).into_owned())
    })
}

/// Case-insensitive.
const START: &str = "<START>";

/// Text before the first `<START>` is a block too.
fn blocks(text: &str) -> Vec<&str> {
    let mut starts = memchr::memchr_iter(b'<', text.as_bytes())
        .filter(|at| text.get(*at..at + START.len()).is_some_and(|found| found.eq_ignore_ascii_case(START)));
    let mut blocks = Vec::new();
    let mut from = 0;
    if text.starts_with(START) {
        from = START.len();
        starts.next();
    }
    for at in starts {
        blocks.push(space::trim(text.get(from..at).unwrap_or_default()));
        from = at + START.len();
    }
    let last = space::trim(text.get(from..).unwrap_or_default());
    if !(blocks.is_empty() && last.is_empty()) {
        blocks.push(last);
    }
    blocks
}
