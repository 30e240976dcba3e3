use ctx_types::internal::excerpt;
use ctx_types::phrase;

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;

/// Dice, and sides per die.
const MOST: (u64, u64) = (100, 1_000);

pub(super) fn definitions() -> Vec<Definition> {
    vec![Definition::new("roll", roll).arity(1, 1).volatile().describe(
        "Result of rolling dice: `3d6` is three dice with six sides. For several dice, \
         the sum and each result.",
        "{{roll::2d6}}",
    )]
}

fn roll(call: &mut Call<'_>) -> Result<Value, Failure> {
    let thrown = call.argument(0);
    let Some((count, sides)) = dice(thrown) else {
        let message = phrase!(
            "invalid dice formula `{thrown}`; write one such as `3d6`, up to {dice} dice with {sides} sides",
            thrown = excerpt(thrown),
            dice = MOST.0,
            sides = MOST.1
        );
        return Err(Failure::error(codes::BAD_ARGUMENT, message));
    };
    let numbers: Vec<u64> = (0..count).map(|_| call.draw(sides) + 1).collect();
    if let [number] = *numbers {
        return Ok(number.to_string().into());
    }
    let each: Vec<String> = numbers.iter().map(u64::to_string).collect();
    Ok(format!("{} ({})", numbers.iter().sum::<u64>(), each.join(", ")).into())
}

fn dice(text: &str) -> Option<(u64, u64)> {
    let (count, sides) = text.split_once(['d', 'D'])?;
    let count = if count.is_empty() { 1 } else { parse_number(count)? };
    let sides = parse_number(sides)?;
    ((1..=MOST.0).contains(&count) && (1..=MOST.1).contains(&sides)).then_some((count, sides))
}

/// Rejects a sign.
fn parse_number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}
