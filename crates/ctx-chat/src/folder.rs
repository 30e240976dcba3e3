//! Tools that look at the files of one folder: they read, and nothing else.

mod look;
mod search;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use ctx_pipeline::Cancel;
use ctx_types::ToolCall;
use ctx_types::ports::ToolDefinition;
use serde_json::{Map, Value, json};

use crate::tools::{Tool, ToolError, ToolHost};

/// Tools with which a model reads the files of one folder: `read_file`, `list_folder` and `search_text`.
///
/// Nothing is written and nothing is run. Paths that lead out of the folder are refused, whatever they look like,
/// and so are links; how much is read and found has limits, and reaching one is told.
///
/// ```
/// use ctx_chat::{FolderTools, ToolHost};
///
/// let folder = tempfile::tempdir()?;
/// let tools = FolderTools::open(folder.path())?;
/// let names: Vec<String> = tools.tools().iter().map(|tool| tool.name().to_owned()).collect();
/// assert_eq!(names, FolderTools::NAMES);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FolderTools {
    folder: Arc<Dir>,
    asks: bool,
}

impl FolderTools {
    /// The category of these tools.
    pub const CATEGORY: &str = "files";

    /// Their names.
    pub const NAMES: [&str; 3] = ["read_file", "list_folder", "search_text"];

    /// Opens a folder.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        Ok(Self { folder: Arc::new(Dir::open_ambient_dir(path, ambient_authority())?), asks: false })
    }

    /// Has somebody agree to each call.
    #[must_use]
    pub const fn asking(mut self) -> Self {
        self.asks = true;
        self
    }

    fn tool(&self, name: &str, description: &str, properties: &Value, required: &[&str]) -> Tool {
        let parameters = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let definition = ToolDefinition {
            name: name.into(),
            description: Some(description.into()),
            parameters: Arc::new(parameters),
        };
        Tool { category: Some(Self::CATEGORY.into()), needs_approval: self.asks, ..Tool::new(definition) }
    }
}

#[async_trait]
impl ToolHost for FolderTools {
    fn tools(&self) -> Vec<Tool> {
        let path =
            json!({ "type": "string", "description": "relative to the folder; `.` is the folder itself" });
        vec![
            self.tool(
                "read_file",
                "Reads a text file of the folder.",
                &json!({
                    "path": path,
                    "first_line": { "type": "integer", "minimum": 1, "description": "where to begin; 1 by default" },
                    "lines": { "type": "integer", "minimum": 1, "description": "how many at most; 2000 by default" },
                }),
                &["path"],
            ),
            self.tool(
                "list_folder",
                "Lists the files and folders of a folder, with the sizes of files in bytes.",
                &json!({ "path": path }),
                &["path"],
            ),
            self.tool(
                "search_text",
                "Finds the lines of text files that contain a text, in all folders below one.",
                &json!({
                    "text": { "type": "string", "description": "what to find, as it is; upper and lower case differ" },
                    "path": path,
                }),
                &["text"],
            ),
        ]
    }

    async fn call(&self, call: &ToolCall, cancel: &Cancel) -> Result<String, ToolError> {
        let arguments = Arguments::read(&call.arguments)?;
        let (folder, name, cancel) = (self.folder.clone(), call.name.clone(), cancel.clone());
        let work = tokio::task::spawn_blocking(move || match &*name {
            "read_file" => look::read(&folder, &arguments),
            "list_folder" => look::list(&folder, &arguments),
            "search_text" => search::run(&folder, &arguments, &cancel),
            other => Err(ToolError(format!("unknown tool `{other}`"))),
        });
        work.await.map_err(|_| ToolError("the tool panicked".to_owned()))?
    }
}

/// The arguments of a call.
struct Arguments(Map<String, Value>);

impl Arguments {
    fn read(text: &str) -> Result<Self, ToolError> {
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| ToolError(format!("the arguments are not a JSON object: {error}")))
    }

    fn text(&self, key: &str) -> Result<&str, ToolError> {
        let text = self.0.get(key).and_then(Value::as_str);
        text.ok_or_else(|| ToolError(format!("the argument `{key}` is missing or not a string")))
    }

    /// A path; the folder itself where there is none.
    fn path(&self) -> Result<&str, ToolError> {
        if self.0.contains_key("path") { self.text("path") } else { Ok(".") }
    }

    fn number(&self, key: &str, default: usize) -> Result<usize, ToolError> {
        let Some(value) = self.0.get(key).filter(|value| !value.is_null()) else { return Ok(default) };
        let number =
            value.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0);
        number.ok_or_else(|| ToolError(format!("the argument `{key}` must be a whole number from 1")))
    }
}
