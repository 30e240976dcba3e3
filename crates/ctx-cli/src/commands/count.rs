//! `ctx count`: counts the tokens of a text, or of the messages of a conversation.

use ctx_language::Language;
use std::path::Path;

use ctx_engine::{Compile, Context, Engine, Format, Switches};
use ctx_preset_import::{decode, detect};
use ctx_processors::internal::ids;
use ctx_tokens::internal::{MAX_TOKENS, message_cost, tools_cost};
use ctx_tokens::{Counter, ModelFacts, ModelTable};
use ctx_traffic::{LogReport, RequestOutline};
use ctx_types::ports::{TokenCounter as _, ToolDefinition};
use ctx_types::{Diagnostic, Phrase, Text, TurnInput, count_of, phrase};
use serde_json::{Value, json};

use crate::args::CountArguments;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::Result;
use ctx_project::files;
use ctx_project::inputs::{self, InputFile};
use ctx_project::turn::{Turn, TurnFiles};
use ctx_project::{request_log, transcripts};
use ctx_wire::read_tools;

/// Counts the tokens of a file and prints the method.
pub(crate) fn run(language: Language, arguments: &CountArguments) -> Result<Exit> {
    let file = arguments.file.as_deref().unwrap_or(Path::new("-"));
    inputs::check_stdin([Some(file), arguments.models.as_deref()].into_iter().flatten())?;
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.config, &mut sources)?;
    let models = config.file("models", arguments.models.clone(), &sources)?.map(InputFile::from);
    let model = arguments.model.as_ref().or_else(|| config.model()).cloned();
    show::findings(language, &sources, &config.found);
    let name = files::name(file);
    if !files::is_stdin(file) && request_log::is_log(file) && transcripts::open(file)?.is_none() {
        let table = project::model_table(language, (&arguments.config, &arguments.models), &mut sources)?;
        let report = request_log::analyze(file, table, &mut |_| {})?;
        if !report.requests.is_empty() {
            return log(language, &report, arguments);
        }
    }
    let bytes = sources.read(file, &name)?;
    let body: Option<Value> =
        request_log::body(&bytes, &name).and_then(|body| serde_json::from_str(&body).ok());
    let text_of = |key: &str| body.as_ref()?.get(key)?.as_str().map(str::to_owned);
    let model = model.or_else(|| text_of("model"));
    let model = model.as_deref();
    let counted_for = Model { name: model, table: models };
    let is_conversation = is_conversation(&bytes, &name);
    let outline = body.as_ref().filter(|_| !is_conversation);
    let outline = outline.and_then(|body| RequestOutline::read(&ModelTable::builtin(), &body.to_string()));
    let counted = if let Some(outline) = outline {
        let json = json!({ "kind": "request", "tokens": outline.tokens, "model": &*outline.model, "encoding": outline.encoding, "isExact": outline.is_exact });
        Counted { text: show::requests::outline_total(language, &outline), json }
    } else if is_conversation {
        let tools = body.as_ref().and_then(|body| body.get("tools")?.as_array()).into_iter().flatten();
        let tools: Vec<ToolDefinition> = tools.flat_map(read_tools).collect();
        let file = InputFile { bytes: Some(bytes), ..file.into() };
        let context = as_sent(language, file, counted_for, &mut sources)?;
        conversation(language, &context, &tools, model, arguments.all)
    } else {
        text(language, &bytes, file, counted_for, &mut sources)?
    };
    show::output(arguments.json, || counted.json, || counted.text)
}

/// Counts the requests of a log: as their providers did, or by an estimate.
fn log(language: Language, report: &LogReport, arguments: &CountArguments) -> Result<Exit> {
    let requests = report.requests.iter();
    let requests = requests.map(|request| json!({ "index": request.index, "tokens": request.tokens }));
    let requests: Vec<Value> = requests.collect();
    let total = phrase!(
        "{requests}, {tokens}; `ctx diff` shows each",
        requests = count_of!(requests.len(), "request"),
        tokens = show::tokens(report.total.tokens)
    );
    let json = || json!({ "kind": "log", "tokens": report.total.tokens, "requests": requests });
    show::output(arguments.json, json, || lang::say(language, &total) + "\n")
}

/// Count for people and for programs.
struct Counted {
    text: String,
    json: Value,
}

/// Model of the tokenizer.
struct Model<'a> {
    name: Option<&'a str>,
    /// Table of models, which is tried before the built-in table.
    table: Option<InputFile>,
}

/// Counting method.
struct Way<'a> {
    model: Option<&'a str>,
    encoding: &'a str,
    is_exact: bool,
}

impl Way<'_> {
    /// Describes the method.
    fn explained(&self) -> Phrase {
        let encoding = self.encoding;
        let how = if self.is_exact {
            phrase!("exact ({encoding})", encoding)
        } else {
            phrase!("estimated ({encoding})", encoding)
        };
        match self.model {
            Some(model) => phrase!("{how}, for `{model}`", how, model),
            None => phrase!("{how}; no model set", how),
        }
    }

    /// Adds the method to a result.
    fn json(&self, mut result: Value) -> Value {
        result["model"] = json!(self.model);
        result["encoding"] = json!(self.encoding);
        result["isExact"] = json!(self.is_exact);
        result
    }
}

fn is_conversation(bytes: &[u8], name: &str) -> bool {
    transcripts::read(bytes).is_some() || detect(bytes, name).is_ok_and(Format::is_conversation)
}

fn text(
    language: Language,
    bytes: &[u8],
    file: &Path,
    model: Model<'_>,
    sources: &mut Sources,
) -> Result<Counted> {
    let text = decode(bytes).map_err(|error| sources.explain(&files::name(file), &error))?;
    if text.contains(Text::INLINE_PICTURE) {
        return text_with_pictures(language, &text, file, model, sources);
    }
    let mut engine = Engine::new();
    if let Some(file) = model.table {
        let found = inputs::add_models(&mut engine.models, &file, sources)?;
        show::findings(language, sources, &found);
    }
    let (facts, unknown) = engine.models.lookup(model.name.unwrap_or_default());
    show::findings(
        language,
        sources,
        &unknown.into_iter().filter(|_| model.name.is_some()).collect::<Vec<_>>(),
    );
    Ok(of_text(language, &text, model.name, &facts, |counter| (counter.count(&text), 0)))
}

/// Counts a text like a message: its pictures as pictures, not as base64 text.
fn text_with_pictures(
    language: Language,
    text: &str,
    file: &Path,
    model: Model<'_>,
    sources: &mut Sources,
) -> Result<Counted> {
    let conversation = json!([{ "role": "user", "content": text }]).to_string();
    let file = InputFile { bytes: Some(conversation.into_bytes()), ..file.into() };
    let name = model.name;
    let context = as_sent(language, file, model, sources)?;
    Ok(of_text(language, text, name, context.model(), |counter| {
        let costs = context.messages.iter().map(|message| message_cost(message, context.model(), counter));
        costs.fold((0, 0), |(words, media), cost| {
            (cost.text.saturating_add(words), cost.media.saturating_add(media))
        })
    }))
}

/// Describes the count of a text and its media.
fn of_text(
    language: Language,
    text: &str,
    model: Option<&str>,
    facts: &ModelFacts,
    cost: impl FnOnce(&Counter) -> (u32, u32),
) -> Counted {
    let (counter, _) = Counter::for_model(facts);
    let (words, media) = cost(&counter);
    // Only the provider knows the exact cost of a picture.
    let is_exact = counter.is_exact() && media == 0;
    let way = Way { model, encoding: counter.kind().name(), is_exact };
    let tokens = words.saturating_add(media);
    let shown = count_of!(tokens, "token");
    let shown = if way.is_exact { shown } else { phrase!("about {tokens}", tokens = shown) };
    let mut told =
        phrase!("{tokens}, {bytes} of text", tokens = shown, bytes = count_of!(text.len(), "byte"));
    let mut json = json!({ "kind": "text", "tokens": tokens, "bytes": text.len() });
    if media > 0 {
        json["media"] = json!(media);
        told = phrase!("{told}; images use {media} of the tokens", told, media);
    }
    Counted {
        text: format!("{}\n{}\n", lang::say(language, &told), lang::say(language, &way.explained())),
        json: way.json(json),
    }
}

/// Counts each message separately, and the tools of a request body.
fn conversation(
    language: Language,
    context: &Context,
    tools: &[ToolDefinition],
    model: Option<&str>,
    all: bool,
) -> Counted {
    let usage = context.report.usage.as_ref();
    let way = Way {
        model,
        encoding: usage.map_or("", |usage| &usage.encoding),
        is_exact: usage.is_some_and(|usage| usage.is_exact),
    };
    let mut tokens: u64 = context.tokens().into_iter().map(u64::from).sum();
    let mut told = vec![way.explained()];
    let mut json = json!({ "kind": "conversation", "tokens": tokens, "messages": messages(context) });
    if !tools.is_empty() {
        let counter = Counter::for_model(context.model()).0;
        let cost = u64::from(tools_cost(tools, context.model(), &counter));
        tokens = tokens.saturating_add(cost);
        (json["tokens"], json["tools"]) = (json!(tokens), json!(cost));
        let (count, all) = (count_of!(tools.len(), "tool"), show::tokens(tokens));
        told.insert(0, phrase!("{count}: {tokens}; in all {all}", count, tokens = show::tokens(cost), all));
    }
    let told: String = told.iter().map(|line| lang::say(language, line) + "\n").collect();
    Counted { text: format!("{}\n{told}", show::context(language, context, all)), json: way.json(json) }
}

/// Assembles a conversation without merging or dropping messages.
fn as_sent(language: Language, file: InputFile, model: Model<'_>, sources: &mut Sources) -> Result<Context> {
    let disable = [ids::TOKEN_LIMITER, ids::MERGE_SYSTEM_TO_HEAD, ids::MERGE_CONSECUTIVE_ROLES]
        .map(str::to_owned)
        .to_vec();
    let with =
        Compile::default().with(|compile| compile.switches = Switches { disable, ..Switches::default() });
    let files = TurnFiles { session: Some(file), models: model.table, ..TurnFiles::default() };
    // All messages are counted, even if they exceed the context window.
    let context_tokens = Some(i64::from(MAX_TOKENS));
    let model_name = model.name.map(Into::into);
    let input = TurnInput::default().with(|turn| {
        turn.model = model_name;
        turn.context_tokens = context_tokens;
        turn.preview = true;
    });
    let turn = Turn::read(&files, input, with, sources)?;
    let mut context = project::assemble(language, &turn, sources, false)?;
    if let Some(usage) = &mut context.report.usage {
        usage.available = None;
    }
    let is_meant = |found: &&Diagnostic| found.code != ctx_tokens::codes::ABOVE_WINDOW;
    let found: Vec<Diagnostic> = context.report.diagnostics.iter().filter(is_meant).cloned().collect();
    show::findings(language, sources, &found);
    Ok(context)
}

fn messages(context: &Context) -> Vec<Value> {
    let message = |(message, tokens): (&ctx_types::Message, u32)| json!({ "role": message.role, "source": message.source, "tokens": tokens });
    context.messages.iter().zip(context.tokens()).map(message).collect()
}
