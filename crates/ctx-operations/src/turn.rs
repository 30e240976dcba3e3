//! One turn: the context that an agent makes of a conversation.

use std::collections::BTreeMap;

use ctx_engine::internal::MessageTrace;
use ctx_engine::{Context, Dialect, Options, Ports, Request, Template};
use ctx_types::ports::{Asset, AssetStore, AttachmentPorts, Deadline, PortError, PortErrorKind, PortFuture};
use ctx_types::{Attachment, CachePolicy, GenerationKind, PrefixMode, TurnInput};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::ending::Ending;
use crate::error::OperationError;
use crate::given::{options, unpack};
use crate::messages::tool_of;

/// What the request body names as its model where nothing else does.
const UNNAMED_MODEL: &str = "unspecified";

/// What may differ between two turns; all of it optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct TurnOptions {
    input: Option<String>,
    expand_input: bool,
    model: Option<String>,
    context_tokens: Option<i64>,
    reserve: Option<u32>,
    kind: Option<String>,
    prefix: Option<String>,
    at: Option<String>,
    tz: Option<String>,
    seed: u64,
    profile_name: Option<String>,
    tools: Vec<Value>,
    parameters: Map<String, Value>,
    cache_marks: Option<String>,
    preview: bool,
    format: Option<String>,
    template: Option<Value>,
    files: BTreeMap<String, String>,
    message: Option<String>,
}

/// What comes of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Snapshot,
    Body(Dialect),
}

impl Agent {
    /// Assembles the context of a turn.
    ///
    /// Options, each optional: `input` (what the user is about to send), `expandInput` (its macros too), `model`,
    /// `contextTokens`, `reserve`, `kind` (`normal`, `continue`, `impersonate`, `quiet`), `prefix` (`moving`,
    /// `append-only`, `auto`), `at` (RFC 3339; macros of time are off without it), `tz`, `seed`, `profileName`, `tools`, `cacheMarks` (`off`, `stable`), `preview` (effects are
    /// dropped), `files` (attached files by path, in base64), `format`: `json`, `snapshot`, or the dialect of a
    /// request body, with `parameters` and `template`.
    ///
    /// The result has `messages`, `report` and `effects` as `ctx assemble --format json` prints them; with another format
    /// `text`, or `body` with `bodyFindings`, beside them. Once the `deadline` is over, it ends with the code
    /// `cancelled`.
    pub fn assemble(
        &self,
        conversation: &Conversation,
        given: Map<String, Value>,
        deadline: Option<&dyn Deadline>,
    ) -> Result<Value, OperationError> {
        let (turn, context) = self.context(conversation, options(given)?, false, deadline)?;
        let mut result = context.to_json();
        match turn.format()? {
            Format::Json => {}
            Format::Snapshot => result["text"] = json!(context.to_snapshot()),
            Format::Body(_) => {
                let template = turn.template.as_ref().map(template).transpose()?;
                let named =
                    TurnInput::default().with(|input| input.model = turn.model.as_deref().map(Into::into));
                let model = self.compiled.model_name(&named).unwrap_or(UNNAMED_MODEL);
                let request = Request { model, tools: &turn.tools, parameters: &turn.parameters };
                let options = Options { template: template.as_ref(), ..context.options() };
                let encoded = context.encode_with(&request, &options);
                result["body"] = encoded.to_value();
                result["bodyFindings"] = json!(encoded.diagnostics);
            }
        }
        Ok(result)
    }

    /// Explains the context of a turn: its report, or with `message` (a number or a source such as `history:n3`) the
    /// life of that message. Other options are those of [`assemble`](Self::assemble).
    pub fn explain(
        &self,
        conversation: &Conversation,
        given: Map<String, Value>,
        deadline: Option<&dyn Deadline>,
    ) -> Result<Value, OperationError> {
        let given: TurnOptions = options(given)?;
        let wanted = given.message.clone();
        let (_, context) = self.context(conversation, given, wanted.is_some(), deadline)?;
        let Some(wanted) = wanted else { return Ok(json!(context.report)) };
        let traces = MessageTrace::read(&context, &conversation.session);
        let life = traces.map(|traces| traces.find(&wanted)).transpose();
        Ok(json!(life.map_err(|unknown| OperationError::usage(unknown.phrase()))?))
    }

    fn context(
        &self,
        conversation: &Conversation,
        given: TurnOptions,
        is_traced: bool,
        deadline: Option<&dyn Deadline>,
    ) -> Result<(TurnOptions, Context), OperationError> {
        let mut turn = given.input()?;
        turn.model = self.compiled.model_name(&turn).map(Into::into);
        if given.expand_input {
            turn.input = Some(self.compiled.prepare_input(&conversation.session, &turn).text);
        }
        let files = Files::of(&given.files)?;
        let ending = deadline.map(Ending::of);
        let ports = Ports::default().with(|ports| {
            ports.memory = Some(&conversation.memory);
            ports.is_traced = is_traced;
            ports.cancel = ending.as_ref().map(|ending| &ending.cancel);
            ports.deadline = ending.as_ref().map(|ending| ending as &dyn Deadline);
            if !files.0.is_empty() {
                ports.attachments = AttachmentPorts { assets: Some(&files), ..AttachmentPorts::default() };
            }
        });
        let assembly = self.compiled.assemble_with(&conversation.session, &turn, ports);
        let mut context = pollster::block_on(assembly)?;
        let found = self.lead_back(std::mem::take(&mut context.report.diagnostics));
        context.report.diagnostics = [self.found(), &conversation.found, &found].concat();
        Ok((given, context))
    }
}

impl TurnOptions {
    fn format(&self) -> Result<Format, OperationError> {
        Ok(match self.format.as_deref().unwrap_or("json") {
            "json" => Format::Json,
            "snapshot" => Format::Snapshot,
            name => Format::Body(dialect(name)?),
        })
    }

    fn input(&self) -> Result<TurnInput, OperationError> {
        let at = self.at.as_deref().map(moment).transpose()?;
        let zone = self.tz.as_deref().map(zone).transpose()?;
        let kind = match self.kind.as_deref() {
            None => GenerationKind::Normal,
            Some(name) => *named(name, &GenerationKind::ALL, |kind| kind.as_str(), "kind")?,
        };
        let prefix = match self.prefix.as_deref() {
            None => None,
            Some(name) => Some(*named(name, &PrefixMode::ALL, |mode| mode.as_str(), "prefix")?),
        };
        let marks = match self.cache_marks.as_deref() {
            None => CachePolicy::Off,
            Some(name) => *named(name, &CachePolicy::ALL, |marks| marks.as_str(), "cacheMarks")?,
        };
        let dialect = match self.format()? {
            Format::Body(dialect) => Some(dialect.name().into()),
            _ => None,
        };
        Ok(TurnInput::default().with(|turn| {
            turn.at_millis = at;
            turn.zone = zone.map(Into::into);
            turn.seed = self.seed;
            turn.input = self.input.as_deref().map(Into::into);
            turn.kind = kind;
            turn.prefix = prefix;
            turn.model = self.model.as_deref().map(Into::into);
            turn.dialect = dialect;
            turn.profile = self.profile_name.as_deref().map(Into::into);
            turn.context_tokens = self.context_tokens;
            turn.reserve = self.reserve;
            turn.tools = self.tools.iter().map(tool_of).collect();
            turn.cache_marks = marks;
            turn.preview = self.preview;
        }))
    }
}

/// Reads a time in RFC 3339, as milliseconds since 1970.
pub(crate) fn moment(text: &str) -> Result<i64, OperationError> {
    let read = text.parse::<jiff::Timestamp>();
    let told = "`at` is not an RFC 3339 time such as 2026-01-31T12:00:00Z";
    read.map(jiff::Timestamp::as_millisecond).map_err(|_| OperationError::usage(told))
}

/// Checks the name of a time zone.
pub(crate) fn zone(name: &str) -> Result<&str, OperationError> {
    let told = "`tz` is not a time zone; use a name such as Asia/Shanghai or UTC";
    jiff::tz::TimeZone::get(name).map(|_| name).map_err(|_| OperationError::usage(told))
}

/// Reads the name of a dialect.
pub(crate) fn dialect(name: &str) -> Result<Dialect, OperationError> {
    named(name, &Dialect::ALL, |dialect| dialect.name(), "API dialect").copied()
}

/// Finds what has a name; the error lists all names.
fn named<'a, T>(
    name: &str,
    all: &'a [T],
    spell: impl Fn(&T) -> &'static str,
    what: &str,
) -> Result<&'a T, OperationError> {
    let names = || all.iter().map(&spell).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|one| spell(one) == name);
    found.ok_or_else(|| OperationError::usage(format!("unknown {what} `{name}`; use one of {}", names())))
}

/// Reads a template of text completions: a built-in one by its name, else what it says.
pub(crate) fn template(value: &Value) -> Result<Template, OperationError> {
    match value {
        Value::String(name) => Template::builtin(name).ok_or_else(|| {
            let names: Vec<&str> = Template::names().collect();
            OperationError::usage(format!("unknown template `{name}`; use one of {}", names.join(", ")))
        }),
        value => Ok(Template::read(value).0),
    }
}

/// Attached files in memory.
#[derive(Debug, Default)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    fn of(packed: &BTreeMap<String, String>) -> Result<Self, OperationError> {
        let file = |(path, packed): (&String, &String)| {
            let at = |error| OperationError {
                pointer: Some(format!("/files/{}", ctx_types::internal::pointer_step(path))),
                ..error
            };
            Ok((path.clone(), unpack(packed).map_err(at)?))
        };
        packed.iter().map(file).collect::<Result<_, _>>().map(Self)
    }

    fn find(&self, file: &Attachment) -> Result<Asset, PortError> {
        let found = file.path.as_deref().and_then(|path| self.0.get(path));
        found
            .map(|bytes| Asset::new(bytes.clone()))
            .ok_or_else(|| PortError::new(PortErrorKind::NotFound, ctx_types::phrase!("no such file")))
    }
}

impl AssetStore for Files {
    fn load<'a>(&'a self, file: &'a Attachment, _: u64) -> PortFuture<'a, Result<Asset, PortError>> {
        Box::pin(std::future::ready(self.find(file)))
    }

    fn cached(&self, file: &Attachment, _: u64) -> Option<Result<Asset, PortError>> {
        Some(self.find(file))
    }
}
