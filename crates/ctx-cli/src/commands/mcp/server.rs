//! The tools and resources of the server.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ctx_compress::recall::RecallQuery;
use ctx_compress::request::Meter;
use ctx_language::Language;
use ctx_project::compress::messages;
use ctx_project::error::{ProjectError, Result};
use ctx_project::inputs::{self, InputFile};
use ctx_project::request_log;
use ctx_project::transcript_folders::{self, current_transcript};
use ctx_project::transcripts::{self, LogLosses, is_reminder};
use ctx_project::{Sources, files, unusable};
use ctx_tokens::internal::tools_cost;
use ctx_tokens::{Counter, ModelTable};
use ctx_traffic::{LogAnalysis, RequestOutline};
use ctx_types::ports::ToolDefinition;
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Message, phrase};
use ctx_wire::read_tools;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::allowed_paths::AllowedPaths;
use super::report::{Report, ReportData, Reports};
use crate::commands::{compress, recall};
use crate::show;

/// Time limit of a tool.
const MAX_TIME: Duration = Duration::from_secs(120);

/// Number of tools that work at the same time.
const MAX_WORK: usize = 2;

/// Maximum number of transcripts to search in a folder, the newest first.
const MAX_TRANSCRIPTS: usize = 50;

/// Maximum total size of the transcripts to search in a folder, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Text for the system prompt of the agent.
const INSTRUCTIONS: &str = "\
After a compaction, earlier messages of this conversation are only summarized. If a detail such as a path, id, number or \
name is missing, call `recall` with words to search for before you ask the user or guess.";

/// Serves one client.
#[derive(Clone, Debug)]
pub(super) struct McpServer {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    /// The folder in which the agent works.
    folder: PathBuf,
    allowed: AllowedPaths,
    work: Arc<Semaphore>,
    reports: Mutex<Reports>,
}

/// Arguments of `recall`.
#[derive(Debug, Deserialize, JsonSchema)]
struct RecallInput {
    /// Words to search for.
    query: String,
    /// Conversation, transcript, or folder of transcripts. Default: the current session of Claude Code, or the newest
    /// transcript of Codex in this folder.
    path: Option<String>,
    /// Maximum tokens of the result. Default: 1000.
    budget: Option<u64>,
    /// Page of the result, from 1.
    page: Option<usize>,
}

/// Arguments of `explain_request`.
#[derive(Debug, Deserialize, JsonSchema)]
struct ExplainInput {
    /// Request body (JSON), log of requests (JSONL), or transcript.
    path: String,
    /// Number of the request in a log, from 1.
    request: Option<u64>,
    /// Page of the result, from 1.
    page: Option<usize>,
}

/// Arguments of `diff_requests`.
#[derive(Debug, Deserialize, JsonSchema)]
struct DiffInput {
    /// Earlier request body, or a log whose requests are compared with each other.
    path: String,
    /// Later request body.
    other: Option<String>,
    /// Page of the result, from 1.
    page: Option<usize>,
}

/// Arguments of `what_was_lost`.
#[derive(Debug, Deserialize, JsonSchema)]
struct LossInput {
    /// Transcript or log. Default: the current session of Claude Code, or the newest transcript of Codex in this folder.
    path: Option<String>,
    /// Page of the result, from 1.
    page: Option<usize>,
}

/// Arguments of `count_tokens`.
#[derive(Debug, Deserialize, JsonSchema)]
struct CountInput {
    /// Text to count.
    text: Option<String>,
    /// Text, conversation, or request body to count.
    path: Option<String>,
    /// Model. Default: the model of the request, or an estimate.
    model: Option<String>,
}

#[tool_router]
impl McpServer {
    pub(super) fn new(folder: PathBuf, allowed: AllowedPaths) -> Self {
        let (work, reports) = (Arc::new(Semaphore::new(MAX_WORK)), Mutex::default());
        Self { state: Arc::new(State { folder, allowed, work, reports }) }
    }

    #[tool(
        description = "Search this conversation, including messages before a compaction, or other transcripts. \
                       Returns the matching lines.",
        annotations(title = "Recall", read_only_hint = true)
    )]
    async fn recall(&self, Parameters(input): Parameters<RecallInput>) -> CallToolResult {
        self.perform(input.page, move |state| state.recall(&input)).await
    }

    #[tool(
        description = "List the parts of an LLM request: tools, system prompt, and messages with their tokens.",
        annotations(title = "Explain a request", read_only_hint = true)
    )]
    async fn explain_request(&self, Parameters(input): Parameters<ExplainInput>) -> CallToolResult {
        self.perform(input.page, move |state| state.explain(&input)).await
    }

    #[tool(
        description = "Show the first difference of two request bodies, or the prompt cache misses of a log with \
                       their causes and cost.",
        annotations(title = "Compare requests", read_only_hint = true)
    )]
    async fn diff_requests(&self, Parameters(input): Parameters<DiffInput>) -> CallToolResult {
        self.perform(input.page, move |state| state.diff(&input)).await
    }

    #[tool(
        description = "List the numbers, ids, paths, URLs, quotes, and names that compactions removed from a \
                       conversation, the most used first.",
        annotations(title = "Lost facts", read_only_hint = true)
    )]
    async fn what_was_lost(&self, Parameters(input): Parameters<LossInput>) -> CallToolResult {
        self.perform(input.page, move |state| state.losses(&input)).await
    }

    #[tool(
        description = "Count the tokens of a text, conversation, or request body.",
        annotations(title = "Count tokens", read_only_hint = true)
    )]
    async fn count_tokens(&self, Parameters(input): Parameters<CountInput>) -> CallToolResult {
        self.perform(None, move |state| state.count(&input)).await
    }
}

#[tool_handler]
impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.state.reports.lock().unwrap_or_else(PoisonError::into_inner).resources();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let json = self.state.reports.lock().unwrap_or_else(PoisonError::into_inner).read(&request.uri);
        let json = json.ok_or_else(|| {
            ErrorData::resource_not_found(format!("no report `{}`; call the tool again", request.uri), None)
        })?;
        let contents = ResourceContents::text(json, request.uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

impl McpServer {
    /// Makes a report on another thread. A failure is a result for the agent.
    async fn perform(
        &self,
        page: Option<usize>,
        work: impl FnOnce(&State) -> Result<Report> + Send + 'static,
    ) -> CallToolResult {
        let failed = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
        let state = Arc::clone(&self.state);
        let working = async {
            let permit = Arc::clone(&state.work).acquire_owned().await;
            let work = move || {
                // Held to the end of the work, also after a timeout.
                let _permit = permit;
                work(&state)
            };
            tokio::task::spawn_blocking(work).await
        };
        match tokio::time::timeout(MAX_TIME, working).await {
            Ok(Ok(Ok(report))) => {
                let mut reports = self.state.reports.lock().unwrap_or_else(PoisonError::into_inner);
                reports.result(&report, page.unwrap_or(1))
            }
            Ok(Ok(Err(error))) => failed(error.phrase().to_string()),
            Ok(Err(panic)) => failed(format!("a bug in ctx: {panic}")),
            Err(_) => failed(format!("no result in {} seconds; name a smaller file", MAX_TIME.as_secs())),
        }
    }
}

impl State {
    /// Returns the given path, or the transcript of the current conversation.
    fn transcript(&self, path: Option<&str>) -> Result<PathBuf> {
        if let Some(path) = path {
            return self.allowed.resolve(path);
        }
        let session = std::env::var("CLAUDE_CODE_SESSION_ID").ok();
        current_transcript(&self.folder, session.as_deref()).ok_or_else(|| {
            unusable!("no transcript of Claude Code or Codex for this folder; name a file in `path`")
        })
    }

    fn recall(&self, input: &RecallInput) -> Result<Report> {
        let path = self.transcript(input.path.as_deref())?;
        let session = read_conversations(&path)?;
        let budget = input.budget.unwrap_or(RecallQuery::DEFAULT_BUDGET);
        let query = RecallQuery { text: &input.query, budget, with_branches: false };
        let (answer, _) = query.search(&session, &Meter::estimate());
        let text = recall::format_answer(Language::En, &answer, budget);
        Ok(Report { text, data: ReportData::Text })
    }

    fn explain(&self, input: &ExplainInput) -> Result<Report> {
        let path = self.allowed.resolve(&input.path)?;
        let models = ModelTable::builtin();
        let line = if request_log::is_log(&path) {
            let number = input.request.ok_or_else(|| {
                let name = &*input.path;
                ProjectError::Usage(phrase!(
                    "`{name}` is a log; set `request` to the number of a request",
                    name
                ))
            })?;
            request_log::read_request(&path, number, models.clone())?
        } else {
            request_log::body(&Sources::default().read(&path, &input.path)?, &input.path)
        };
        let outline = line.and_then(|line| RequestOutline::read(&models, &line));
        let name = &*input.path;
        let number = input.request.unwrap_or(1).to_string();
        let outline = outline.ok_or_else(|| unusable!("`{name}` has no request {number}", name, number))?;
        let text = show::requests::outline(Language::En, &outline);
        let title = format!("request: {}", input.path);
        Ok(Report { text, data: ReportData::Resource { title, json: json!(outline) } })
    }

    fn diff(&self, input: &DiffInput) -> Result<Report> {
        let (path, models) = (self.allowed.resolve(&input.path)?, ModelTable::builtin());
        let Some(other) = &input.other else {
            let report = request_log::analyze(&path, models, &mut |_| {})?;
            if report.requests.is_empty() {
                return Err(unusable!("`{name}` has no requests", name = &*input.path));
            }
            let text = show::requests::log(Language::En, &report, false);
            let title = format!("requests: {}", input.path);
            return Ok(Report { text, data: ReportData::Resource { title, json: json!(report) } });
        };
        let read = |path: &Path| Sources::default().read(path, &files::name(path));
        let [first, second] = [read(&path)?, read(&self.allowed.resolve(other)?)?];
        let [first, second] = [&first, &second].map(|bytes| String::from_utf8_lossy(bytes));
        let comparison = LogAnalysis::compare(models, &first, &second)
            .ok_or_else(|| unusable!("one of the two files is not a request body"))?;
        let text = show::requests::pair(Language::En, &comparison);
        let title = format!("{} and {other}", input.path);
        Ok(Report { text, data: ReportData::Resource { title, json: json!(comparison) } })
    }

    fn losses(&self, input: &LossInput) -> Result<Report> {
        let path = self.transcript(input.path.as_deref())?;
        let losses = LogLosses::read(&path, &Meter::estimate())?.losses;
        let text = compress::loss::text(Language::En, &losses);
        let title = format!("losses: {}", files::name(&path));
        Ok(Report { text, data: ReportData::Resource { title, json: json!({ "compactions": losses }) } })
    }

    fn count(&self, input: &CountInput) -> Result<Report> {
        let models = ModelTable::builtin();
        let given = match (&input.text, &input.path) {
            (Some(text), None) => CountedInput::Text(text.clone()),
            (None, Some(path)) => CountedInput::read(&self.allowed.resolve(path)?)?,
            _ => return Err(ProjectError::Usage(phrase!("set either `text` or `path`"))),
        };
        let model = input.model.as_deref().or(match &given {
            CountedInput::Messages { model, .. } => model.as_deref(),
            CountedInput::Text(_) | CountedInput::Request(_) => None,
        });
        let facts = models.lookup(model.unwrap_or_default()).0;
        let counter = Counter::for_model(&facts).0;
        let meter = Meter::lent(&facts, &counter);
        let tokens = match &given {
            CountedInput::Text(text) => meter.text(text),
            CountedInput::Messages { messages, tools, .. } => {
                meter.messages(messages) + u64::from(tools_cost(tools, &facts, &counter))
            }
            CountedInput::Request(outline) => outline.tokens,
        };
        let encoding = counter.kind().name();
        let way = if counter.is_exact() { "exact" } else { "estimated" };
        let values = json!({ "tokens": tokens, "encoding": encoding, "isExact": counter.is_exact() });
        Ok(Report {
            text: format!("{tokens} tokens, {way} ({encoding})\n"),
            data: ReportData::Values(values),
        })
    }
}

/// Content to count.
enum CountedInput {
    Text(String),
    Messages { messages: Vec<Message>, tools: Vec<ToolDefinition>, model: Option<String> },
    Request(Box<RequestOutline>),
}

impl CountedInput {
    fn read(path: &Path) -> Result<Self> {
        let name = files::name(path);
        let bytes = Sources::default().read(path, &name)?;
        let body = request_log::body(&bytes, &name);
        let file = InputFile { bytes: Some(bytes.clone()), ..path.into() };
        let Ok(read) = inputs::conversation(&file, &mut Sources::default()) else {
            let outline = body.and_then(|body| RequestOutline::read(&ModelTable::builtin(), &body));
            let text = || Self::Text(String::from_utf8_lossy(&bytes).into_owned());
            return Ok(outline.map_or_else(text, |outline| Self::Request(Box::new(outline))));
        };
        let body = body.and_then(|body| serde_json::from_str::<Value>(&body).ok());
        let tools = body.as_ref().and_then(|body| body.get("tools")?.as_array()).into_iter().flatten();
        let model = body.as_ref().and_then(|body| body.get("model")?.as_str().map(str::to_owned));
        Ok(Self::Messages {
            messages: messages(&read.value),
            tools: tools.flat_map(read_tools).collect(),
            model,
        })
    }
}

/// Reads a conversation, or the newest transcripts of a folder as one conversation.
fn read_conversations(path: &Path) -> Result<Session> {
    let read = |path: &Path| -> Result<Session> {
        if let Some(transcript) = transcripts::open(path)? {
            return Ok(transcript.session);
        }
        Ok(inputs::conversation(&InputFile::from(path), &mut Sources::default())?.value)
    };
    if !path.is_dir() {
        let nodes = searchable(&read(path)?, "");
        return Ok(Session::linear("conversation", nodes).0);
    }
    let mut size = 0;
    let is_small = |path: &PathBuf| {
        size += path.metadata().map_or(0, |file| file.len());
        size <= MAX_BYTES
    };
    let newest = transcript_folders::transcripts(path).into_iter().take(MAX_TRANSCRIPTS);
    let mut newest: Vec<PathBuf> = newest.map(|(_, path)| path).take_while(is_small).collect();
    newest.reverse();
    let mut nodes: Vec<Node> = Vec::new();
    for path in &newest {
        // A folder may also have other files.
        let Ok(session) = read(path) else { continue };
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        nodes.append(&mut searchable(&session, &format!("{name}/")));
    }
    if nodes.is_empty() {
        return Err(unusable!("{path} has no transcripts", path = files::name(path)));
    }
    Ok(Session::linear("transcripts", nodes).0)
}

/// Returns the messages of a conversation that can answer a question: without reminders of the agent, and without
/// searches and their results. A search would find its own words first.
fn searchable(session: &Session, prefix: &str) -> Vec<Node> {
    let mut path: Vec<(&NodeId, &Node)> = session.ancestors(session.active_leaf_id()).collect();
    path.reverse();
    let mut searches = HashSet::new();
    let is_searchable = |(id, node): &(&NodeId, &Node)| {
        let message = node.to_message(id);
        let calls = message.tool_calls.iter().filter(|call| is_recall(&call.name));
        let known = searches.len();
        searches.extend(calls.map(|call| call.id.clone()));
        let is_result = message.tool_call_id.as_ref().is_some_and(|id| searches.contains(id));
        known == searches.len() && !is_result && !is_reminder(&message)
    };
    let found: Vec<_> = path.into_iter().filter(is_searchable).collect();
    found.into_iter().map(|(id, node)| node.clone().with_id(NodeId::from(format!("{prefix}{id}")))).collect()
}

/// Returns whether a tool is `recall` of this server, as agents name it.
fn is_recall(name: &str) -> bool {
    name == "recall" || name.starts_with("mcp__") && name.contains("ctx") && name.ends_with("__recall")
}
