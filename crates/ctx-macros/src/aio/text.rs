use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;
use crate::number;
use crate::space_set::SpaceSet;
use ctx_types::phrase;

const MAX_COPIES: f64 = 1_000.0;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("newline", |_| "\n".into()).describe("Line feed.", "{{newline}}"),
        Definition::always("trim", |_| Value::Trim(SpaceSet::WhiteSpace))
            .describe("Empty; removes the surrounding white space.", "{{trim}}"),
        Definition::new("repeat", repeat)
            .arity(2, 2)
            .describe("A text repeated up to 1,000 times.", "{{repeat::ha::3}}"),
    ]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer in range")]
fn repeat(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (text, count) = (call.argument(0), call.argument(1));
    let is_count = |count: &f64| count.fract() == 0.0 && (0.0..=MAX_COPIES).contains(count);
    let read = number::read(count).filter(|_| !count.is_empty());
    let Some(count) = read.filter(is_count) else {
        let message = phrase!(
            "`{count}` is not a count from 0 to {limit}",
            count = ctx_types::internal::excerpt(count),
            limit = MAX_COPIES
        );
        return Err(Failure::error(codes::BAD_ARGUMENT, message));
    };
    let count = count as usize;
    call.check_output(text.len().saturating_mul(count))?;
    Ok(text.repeat(count).into())
}
