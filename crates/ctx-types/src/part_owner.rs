//! The API that a content part belongs to.

use serde_json::Value;

/// API that a content part belongs to, by the part's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartOwner {
    /// Several APIs: texts and media.
    Several,
    /// Chat completions of some servers.
    Chat,
    /// OpenAI responses: an item that is not a message.
    Responses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini.
    Gemini,
    /// None that is known.
    Unknown,
}

/// Keys of Gemini's parts, which have no type. Gemini reads both spellings.
const GEMINI: [&str; 6] = [
    "executableCode",
    "executable_code",
    "codeExecutionResult",
    "code_execution_result",
    "toolCall",
    "toolResponse",
];

const MEDIA: [&str; 4] = ["inlineData", "inline_data", "fileData", "file_data"];

impl PartOwner {
    /// Reads the type of a part.
    pub fn of(part: &Value) -> Self {
        let has = |keys: &[&str]| keys.iter().any(|key| part.get(key).is_some());
        let Some(kind) = part.get("type").and_then(Value::as_str) else {
            return if has(&GEMINI) {
                Self::Gemini
            } else if has(&MEDIA) {
                Self::Several
            } else {
                Self::Unknown
            };
        };
        match kind {
            "text" | "image_url" | "input_audio" | "file" | "refusal" | "image" | "document" | "audio"
            | "video" | "input_text" | "input_image" | "input_file" | "output_text" => Self::Several,
            "thinking" | "video_url" | "audio_url" => Self::Chat,
            "compaction" if part.get("content").is_some() => Self::Anthropic,
            "search_result" | "server_tool_use" | "mcp_tool_use" | "container_upload" | "tool_reference"
            | "browser_state" | "fallback" => Self::Anthropic,
            _ if kind.ends_with("_tool_result") => Self::Anthropic,
            "item_reference"
            | "compaction"
            | "compaction_trigger"
            | "configuration_update"
            | "additional_tools"
            | "tool_search_output"
            | "program"
            | "program_output"
            | "mcp_list_tools"
            | "mcp_approval_request"
            | "mcp_approval_response" => Self::Responses,
            _ if kind.ends_with("_call") || kind.ends_with("_call_output") => Self::Responses,
            _ => Self::Unknown,
        }
    }
}
