use ctx_types::internal::excerpt;
use ctx_types::{Trust, phrase};

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::{Definition, Form};
use crate::head::COMMENT;
use crate::space_set::SpaceSet;

pub(super) fn definitions() -> Vec<Definition> {
    let mut all = control();
    all.extend([
        Definition::new("space", |call| repeated(call, " "))
            .arity(0, 1)
            .describe("One or more spaces.", "{{space::4}}"),
        Definition::new("newline", |call| repeated(call, "\n"))
            .arity(0, 1)
            .describe("One or more line breaks.", "{{newline::2}}"),
        Definition::always("noop", |_| Value::EMPTY).describe("Empty.", "{{noop}}"),
        Definition::always("trim", trim).arity(0, 1).echoes().describe(
            "Empty; removes the surrounding line breaks. With an argument or a block, the trimmed text.",
            "{{trim}}",
        ),
        Definition::always("reverse", |call| call.argument(0).chars().rev().collect::<String>().into())
            .arity(1, 1)
            .describe("The argument in reverse.", "{{reverse::abc}}"),
        Definition::always("input", |call| call.env().input.clone().into())
            .trust(Trust::User)
            .volatile()
            .describe("Pending input of the user.", "{{input}}"),
        Definition::always("outlet", outlet)
            .arity(1, 1)
            .volatile()
            .describe("Texts of the worldbook entries of an outlet.", "{{outlet::rules}}"),
        Definition::always("banned", |call| {
            if call.argument(0).trim_matches('"').is_empty() {
                call.warn(codes::BAD_ARGUMENT, phrase!("the word is empty"));
            }
            Value::EMPTY
        })
        .arity(1, 1)
        .describe("Empty; a host can ban the word.", "{{banned \"word\"}}"),
    ]);
    all
}

fn control() -> Vec<Definition> {
    let nothing = |_: &mut Call<'_>| Value::EMPTY;
    vec![
        Definition::always("if", nothing).arity(2, 2).form(Form::Condition).describe(
            "The second argument or the block if the first argument is true, otherwise the text after \
             `{{else}}`. An empty text, `0`, `false` and `off` are false; `!` negates. The bare name \
             of a macro or variable (`.name`, `$name`) inserts its value. Only the chosen text is expanded.",
            "{{if description}}yes{{else}}no{{/if}}",
        ),
        Definition::always("else", nothing)
            .form(Form::Alternative)
            .describe("Separates the two texts of `if`; elsewhere empty.", "{{if::1::yes{{else}}no}}"),
        Definition::always(COMMENT, nothing)
            .arity(0, 1)
            .form(Form::Comment)
            .describe("Comment; empty, and macros in it are not expanded.", "{{// to do}}"),
    ]
}

fn repeated(call: &mut Call<'_>, what: &'static str) -> Result<Value, Failure> {
    if call.argument_count() == 0 {
        return Ok(what.into());
    }
    let written = call.argument(0);
    let is_number = written.bytes().all(|byte| byte.is_ascii_digit());
    let count: Option<usize> = written.parse().ok().filter(|_| is_number);
    let count = count.ok_or_else(|| {
        Failure::from_message(phrase!("`{written}` is not a valid count", written = excerpt(written)))
    })?;
    call.check_output(count.saturating_mul(what.len()))?;
    Ok(what.repeat(count).into())
}

fn trim(call: &mut Call<'_>) -> Value {
    match call.argument_count() {
        0 => Value::Trim(SpaceSet::LineBreaks),
        _ => ctx_types::space::trim(call.argument(0)).to_owned().into(),
    }
}

fn outlet(call: &mut Call<'_>) -> Value {
    let name = call.argument_that_is_not_empty("the name of the outlet");
    let known = call.env().outlets.get_key_value(name);
    if let Some((name, _)) = known {
        call.state.give_outlet(name);
    }
    known.map(|(_, text)| text.clone()).into()
}
