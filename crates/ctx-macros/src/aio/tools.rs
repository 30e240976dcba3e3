use std::sync::Arc;

use ctx_types::ports::{ToolCatalog, ToolDefinition};
use ctx_types::{Trust, phrase};

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    let definitions = [
        Definition::new("tools", tools)
            .arity(0, None)
            .describe("Tools that the model may call, or the named tools.", "{{tools::search::notes}}"),
        Definition::always("tool_usage", |call| match catalog(call) {
            Some(catalog) => catalog.usage().into(),
            None => Value::EMPTY,
        })
        .describe("The host's instructions for calling tools.", "{{tool_usage}}"),
        Definition::always("tool_context", |call| match catalog(call) {
            Some(catalog) => catalog.context(&names(call)).into(),
            None => Value::EMPTY,
        })
        .arity(0, None)
        .volatile()
        .describe("State of all or the named tools, provided by the host.", "{{tool_context::notes}}"),
    ];
    // Tools come from servers that the preset's author does not know.
    definitions.into_iter().map(|definition| definition.trust(Trust::Tool)).collect()
}

fn catalog(call: &mut Call<'_>) -> Option<Arc<dyn ToolCatalog>> {
    let catalog = call.env().ports.tools.clone();
    if catalog.is_none() {
        let name = &call.definition().name;
        call.note(codes::NOT_PROVIDED, phrase!("the host provides no tools; `{name}` is empty", name));
    }
    catalog
}

fn names<'a>(call: &Call<'a>) -> Vec<&'a str> {
    let arguments = (0..call.argument_count()).map(|index| call.argument(index));
    let names = arguments.flat_map(|argument| argument.split([',', '，'])).map(str::trim);
    names.filter(|name| !name.is_empty()).collect()
}

fn tools(call: &mut Call<'_>) -> Result<Value, Failure> {
    let Some(catalog) = catalog(call) else { return Ok(Value::EMPTY) };
    let names = names(call);
    let tools = catalog.tools();
    for name in names.iter().filter(|name| !tools.iter().any(|tool| *tool.name == ***name)) {
        call.warn(
            codes::UNKNOWN_TOOL,
            phrase!("unknown tool `{name}`", name = ctx_types::internal::excerpt(name)),
        );
    }
    let mut text = String::new();
    for tool in tools.iter().filter(|tool| names.is_empty() || names.contains(&&*tool.name)) {
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(&line(tool));
        call.check_output(text.len())?;
    }
    Ok(text.into())
}

fn line(tool: &ToolDefinition) -> String {
    let described = tool.description.as_deref().filter(|described| !described.trim().is_empty());
    let described = described.map_or_else(String::new, |described| format!(": {described}"));
    format!("- {}{described}\n  Arguments: {}", tool.name, tool.parameters)
}
