use ctx_types::internal::excerpt;
use ctx_types::phrase;

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("random", |call| {
            let index = call.draw(call.argument_count() as u64);
            choose_argument(index, call)
        })
        .arity(1, None)
        .volatile()
        .describe("Random argument, chosen in each turn.", "{{random::red::green::blue}}"),
        Definition::always("pick", |call| {
            let index = call.draw_for_conversation(call.argument_count() as u64);
            choose_argument(index, call)
        })
        .arity(1, None)
        .describe("Random argument, the same for the whole conversation.", "{{pick::red::green::blue}}"),
        Definition::new("randomInt", random_int)
            .arity(2, 2)
            .volatile()
            .describe("Random integer from the first to the second argument.", "{{randomInt::1::6}}"),
    ]
}

fn choose_argument(index: u64, call: &mut Call<'_>) -> Value {
    if call.argument_count() == 1 {
        call.argument_that_is_not_empty("the list to choose from");
    }
    call.argument(usize::try_from(index).unwrap_or(0)).to_owned().into()
}

fn random_int(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (least, greatest) = (bound(call.argument(0))?, bound(call.argument(1))?);
    if least > greatest {
        let message = phrase!("no integer from {least} to {greatest}", least, greatest);
        return Err(Failure::error(codes::BAD_ARGUMENT, message));
    }
    let drawn = call.draw((greatest - least).unsigned_abs() + 1);
    Ok((least + i64::try_from(drawn).unwrap_or(0)).to_string().into())
}

fn bound(text: &str) -> Result<i64, Failure> {
    /// JavaScript's integers are exact up to here.
    const GREATEST: u64 = 1 << 53;
    let number = text.parse::<i64>().ok().filter(|number| number.unsigned_abs() <= GREATEST);
    number.ok_or_else(|| {
        Failure::error(
            codes::BAD_ARGUMENT,
            phrase!("`{text}` is not an integer, or out of range", text = excerpt(text)),
        )
    })
}
