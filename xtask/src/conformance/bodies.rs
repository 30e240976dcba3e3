//! The request bodies that fixtures show.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::tidy;

/// A body that some provider's type describes.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// The name of its file, without an ending.
    pub(super) name: String,
    pub(super) dialect: &'static Typed,
    pub(super) value: Value,
}

/// A dialect, and what the official package calls its requests.
#[derive(Debug)]
pub(super) struct Typed {
    /// The name in the snapshot: `=== body NAME`, or `=== openai` of older cases.
    pub(super) name: &'static str,
    import: &'static str,
    type_name: &'static str,
    /// Fields below which anything may stand, so that nobody can misspell what is there.
    pub(super) free: &'static [&'static str],
    /// Fields that the types lack: those of other providers with this API, or of other versions of the API.
    untyped: &'static [&'static str],
}

pub(super) const TYPED: &[Typed] = &[
    Typed {
        name: "openai",
        import: "import type OpenAI from \"openai\";",
        type_name: "OpenAI.Chat.ChatCompletionCreateParamsNonStreaming",
        free: &["parameters"],
        // DeepSeek, GLM and Kimi; OpenRouter; Gemini.
        untyped: &["reasoning_content", "thinking", "reasoning_details", "extra_content"],
    },
    Typed {
        name: "openai-responses",
        import: "import type OpenAI from \"openai\";",
        type_name: "OpenAI.Responses.ResponseCreateParamsNonStreaming",
        free: &["parameters"],
        untyped: &[],
    },
    Typed {
        name: "anthropic",
        import: "import type Anthropic from \"@anthropic-ai/sdk\";",
        type_name: "Anthropic.MessageCreateParamsNonStreaming",
        free: &["input", "input_schema"],
        // The package describes version 2026-10-21; version 2023-06-01 has them.
        untyped: &["temperature", "top_p", "top_k"],
    },
    Typed {
        name: "gemini",
        // The package calls its own functions with another shape; that of the address is made of the same types.
        import: "import type { Content, GenerationConfig, SafetySetting, Tool, ToolConfig } from \"@google/genai\";\n\
                 type Request = {\n  systemInstruction?: Content; contents: Content[]; tools?: Tool[];\n  \
                 toolConfig?: ToolConfig; safetySettings?: SafetySetting[]; generationConfig?: GenerationConfig;\n  \
                 cachedContent?: string;\n};",
        type_name: "Request",
        free: &["args", "response", "parametersJsonSchema"],
        untyped: &[],
    },
    Typed {
        name: "completion",
        import: "import type OpenAI from \"openai\";",
        type_name: "OpenAI.CompletionCreateParamsNonStreaming",
        free: &[],
        untyped: &[],
    },
];

impl Body {
    /// Declares the body to be what the package calls a request.
    pub(super) fn to_typescript(&self) -> String {
        let Typed { import, type_name, .. } = self.dialect;
        format!("{import}\n\nexport const body: {type_name} = {:#};\n", self.value)
    }
}

/// Reads all bodies of all fixtures, in the order of their names.
pub(super) fn of_fixtures(root: &Path) -> Result<Vec<Body>> {
    let mut bodies = Vec::new();
    for file in tidy::files(root)? {
        let Some(case) =
            file.path.strip_prefix("fixtures/").and_then(|path| path.strip_suffix("/expected.snap"))
        else {
            continue;
        };
        let text = fs::read_to_string(root.join(&file.path))
            .with_context(|| format!("cannot read `{}`", file.path))?;
        bodies.extend(of_snapshot(case, &text).with_context(|| format!("in `{}`", file.path))?);
    }
    Ok(bodies)
}

/// Reads the bodies of one snapshot.
fn of_snapshot(case: &str, text: &str) -> Result<Vec<Body>> {
    let mut bodies = Vec::new();
    let sections = text.split("\n=== ").skip(1);
    for (heading, body) in sections.filter_map(|section| section.split_once('\n')) {
        let name = heading.strip_prefix("body ").unwrap_or(heading);
        let Some(dialect) = TYPED.iter().find(|typed| typed.name == name) else { continue };
        let mut value = serde_json::from_str(body).with_context(|| format!("`{heading}` is no JSON"))?;
        remove(&mut value, dialect);
        bodies.push(Body { name: format!("{}__{name}", case.replace('/', "__")), dialect, value });
    }
    Ok(bodies)
}

/// Removes the fields that the types lack.
fn remove(value: &mut Value, dialect: &Typed) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !dialect.untyped.contains(&key.as_str()));
            let typed = fields.iter_mut().filter(|(key, _)| !dialect.free.contains(&key.as_str()));
            typed.for_each(|(_, value)| remove(value, dialect));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove(item, dialect)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_found_by_their_headings() {
        let text = "---\nsource: x\n---\n=== usage\n1\n=== body gemini\n{\"contents\":[]}\n=== findings of gemini\nx\n\
                    === openai\n{\"model\":\"m\"}\n";
        let bodies = of_snapshot("area/case", text).unwrap();
        let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
        assert_eq!(names, ["area__case__gemini", "area__case__openai"]);
        assert!(bodies[1].to_typescript().ends_with("NonStreaming = {\n  \"model\": \"m\"\n};\n"));
    }
}
