use crate::call::{Call, Value};
use crate::definition::Definition;
use crate::env::ModelValues;
use ctx_types::Text;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("model", |call| call.env().model.id.clone().into())
            .describe("Name of the model.", "{{model}}"),
        tokens("maxPrompt", prompt, "Token limit of a request without the response."),
        tokens("maxContext", |model| model.context_tokens, "Token limit of a request with its response."),
        tokens("maxResponse", |model| model.response_tokens, "Token limit of the response."),
        Definition::always("isMobile", |call| truth(call.env().is_mobile))
            .describe("`true` if the host has a small screen, otherwise `false`.", "{{isMobile}}"),
        Definition::always("lastGenerationType", |call| {
            call.env().generation.as_deref().map(Text::from).into()
        })
        .volatile()
        .describe("Generation kind: `normal`, `continue`, `quiet` and so on.", "{{lastGenerationType}}"),
        Definition::always("hasExtension", has_extension).arity(1, 1).describe(
            "`true` if an extension of the host is enabled, otherwise `false`.",
            "{{hasExtension::summarize}}",
        ),
    ]
}

fn tokens(name: &'static str, read: fn(&ModelValues) -> Option<u64>, description: &str) -> Definition {
    let expand = move |call: &mut Call<'_>| {
        let tokens = read(&call.env().model);
        call.require_host_value(tokens).map_or(Value::EMPTY, |tokens| tokens.to_string().into())
    };
    let definition = Definition::always(name, expand).alias(format!("{name}Tokens"));
    definition.describe(description, format!("{{{{{name}}}}}"))
}

fn prompt(model: &ModelValues) -> Option<u64> {
    Some(model.context_tokens?.saturating_sub(model.response_tokens.unwrap_or(0)))
}

fn has_extension(call: &mut Call<'_>) -> Value {
    let name = call.argument_that_is_not_empty("the name of the extension");
    truth(call.env().extensions.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

fn truth(is_true: bool) -> Value {
    if is_true { "true".into() } else { "false".into() }
}
