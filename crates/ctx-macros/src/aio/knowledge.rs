use ctx_types::internal::excerpt;
use ctx_types::{Phrase, phrase};

use crate::call::{Call, Value};
use crate::codes;
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("kb", kb).arity(0, 6).describe(
            "Placeholder such as `【kb::name::5】`, which a plug-in replaces by text of a knowledge base.",
            "{{kb::recipes::5}}",
        ),
        Definition::always("kb_list", |call| match call.host_text("kb_list") {
            Some(list) => list.into(),
            None => Value::EMPTY,
        })
        .describe("Names of the knowledge bases, if the host provides them.", "{{kb_list}}"),
        Definition::always("cssvar", cssvar)
            .arity(1, 1)
            .describe("Color or another variable of the host's style sheet.", "{{cssvar::--primary-color}}"),
    ]
}

/// When `kb` queries the knowledge base.
const MODES: [&str; 4] = ["always", "gate", "turn", "static"];

fn kb(call: &mut Call<'_>) -> Value {
    check_kb(call);
    let mut arguments: Vec<&str> = (0..call.argument_count()).map(|index| call.argument(index)).collect();
    while arguments.last().is_some_and(|last| last.is_empty()) {
        arguments.pop();
    }
    let arguments: String = arguments.into_iter().flat_map(|argument| ["::", argument]).collect();
    format!("【kb{arguments}】").into()
}

/// Checks result limit, minimum score, and mode. As in AIO Hub, writes the placeholder anyway.
fn check_kb(call: &mut Call<'_>) {
    let [limit, least, mode] = [1, 2, 3].map(|index| call.argument(index));
    let checks = [
        (limit, limit.parse().is_ok_and(|limit: u32| limit > 0), "not a number of results of at least 1"),
        (least, least.parse().is_ok_and(f64::is_finite), "not a minimum score"),
        (mode, MODES.contains(&mode), "not `always`, `gate`, `turn`, or `static`"),
    ];
    for (argument, is_good, problem) in checks {
        if !(argument.is_empty() || is_good) {
            call.warn(
                codes::BAD_ARGUMENT,
                phrase!(
                    "`{argument}` is {problem}",
                    argument = excerpt(argument),
                    problem = Phrase::from(problem)
                ),
            );
        }
    }
}

fn cssvar(call: &mut Call<'_>) -> Value {
    let name = call.argument(0);
    call.host_text(name).map_or_else(|| format!("(未定义: {name})").into(), Value::Text)
}
