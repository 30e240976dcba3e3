//! Operations on texts and messages: macros, worldbooks, compression, counting.

use std::sync::Arc;

use ctx_compress::recall::RecallQuery;
use ctx_compress::request::{
    CompressionPipeline, Meter, PassOutcome, Protection, RequestConfig, STRATEGIES, strategy,
};
use ctx_engine::Engine;
use ctx_macros::{Dialect, Registry, Template};
use ctx_tokens::{Counter, ModelFacts, internal::message_cost};
use ctx_types::ports::TokenCounter as _;
use ctx_types::{Diagnostic, Source, SourceKind, Text, Trust};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agent::add_models;
use crate::conversation::Conversation;
use crate::error::OperationError;
use crate::given::{finish, need, need_text, optional, options};
use crate::list::parts;
use crate::macro_env::{EnvFile, ExpansionJson, definition_json};
use crate::messages::{message_to_json, sent_messages};
use crate::scan::{Probe, SeenEntry};
use crate::turn::{moment, zone};

/// The name of the text in findings.
const TEXT: &str = "the text";

/// The operation `macros.expand`; gives what `ctx macros expand --json` prints.
pub(crate) fn expand(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Given {
        environment: Map<String, Value>,
        dialect: Option<String>,
        at: Option<String>,
        tz: Option<String>,
        seed: Option<u64>,
    }
    let text = Text::from(need_text(&mut input, "text")?);
    let given: Given = options(input)?;
    let EnvFile { mut env, mut state, diagnostics } = EnvFile::read(&Value::Object(given.environment));
    env.at_millis = given.at.as_deref().map(moment).transpose()?.or(env.at_millis);
    if let Some(name) = &given.tz {
        env.zone = Some(zone(name)?.into());
    }
    env.seed = given.seed.unwrap_or(env.seed);
    let template = Template::parse(&text, macro_dialect(given.dialect.as_deref())?, &Registry::builtin());
    let origin = Source::new(SourceKind::Input, Trust::Preset);
    let expansion = template.expand(&env, &mut state, &origin);
    let found = [&diagnostics, template.diagnostics(), &expansion.diagnostics].concat();
    let found: Vec<Diagnostic> = found.into_iter().map(|one| one.in_document(TEXT)).collect();
    Ok(json!(ExpansionJson::new(&expansion, origin, &found, &state)))
}

fn macro_dialect(name: Option<&str>) -> Result<Dialect, OperationError> {
    let Some(name) = name else { return Ok(Dialect::default()) };
    Dialect::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
        OperationError::usage(format!("unknown macro syntax `{name}`; use one of {}", names.join(", ")))
    })
}

/// The operation `macros.list`.
pub(crate) fn macros(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let name: Option<String> = crate::given::optional(&mut input, "dialect")?;
    crate::given::finish(&input)?;
    let wanted = name.as_deref().map(|name| macro_dialect(Some(name))).transpose()?;
    let registry = Registry::builtin();
    let is_meant = |known: &&ctx_macros::Definition| wanted.is_none_or(|dialect| known.is_in(dialect));
    Ok(registry.iter().filter(is_meant).map(definition_json).collect())
}

/// The operation `worldbook.scan`.
pub(crate) fn scan(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let probe = Probe::default();
    let (agent, conversation) = parts(probe.engine(), &mut input)?;
    let made = agent.assemble(&conversation, input, None);
    let Some(seen) = probe.take() else {
        made?;
        return Ok(json!({ "entries": [], "active": 0, "tokens": 0, "findings": agent.findings() }));
    };
    let entry = |line: SeenEntry<'_>| {
        let SeenEntry { member, state, active, .. } = line;
        let mut value = json!({
            "id": member.id,
            "book": member.book,
            "title": member.entry.title,
            "state": state,
            "why": seen.why(&line),
            "place": member.entry.destination.to_string(),
        });
        if let Some((activation, tokens)) = active {
            value["pass"] = json!(activation.pass);
            value["tokens"] = json!(tokens);
            value["content"] = json!(activation.content.as_str());
        }
        value
    };
    let scan = &seen.scan.scan;
    Ok(json!({
        "entries": seen.entries().map(entry).collect::<Vec<_>>(),
        "active": scan.activations.len(),
        "budget": scan.budget,
        "tokens": seen.active_tokens(),
        "state": scan.state.write(),
        "findings": agent.findings(),
    }))
}

/// The operation `compress`; gives what `ctx compress run --json` prints, or with `plan` what `ctx compress plan` does.
pub(crate) fn compress(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Given {
        budget: u64,
        #[serde(default)]
        strategy: Option<String>,
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        loop_start: Option<usize>,
        #[serde(default)]
        plan: bool,
    }
    let conversation = Conversation::of_given(&need(&mut input, "conversation")?)?;
    let given: Given = options(input)?;
    let name = given.strategy.as_deref().unwrap_or(STRATEGIES[0]);
    let strategy =
        strategy(name).ok_or_else(|| OperationError::usage(format!("unknown strategy `{name}`")))?;
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(given.budget))
        .with_strategy(strategy)
        .with_meter(meter(given.model.as_deref()));
    let messages = sent_messages(&conversation.session);
    let protection = match given.loop_start {
        Some(start) if start > messages.len() => {
            return Err(OperationError::usage("`loopStart` is past the end of the context"));
        }
        Some(start) => Protection::CurrentLoop(start),
        None => Protection::LastUserMessage,
    };
    if given.plan {
        return Ok(pipeline.plan(&messages, protection).to_json());
    }
    let compression = pipeline.compress(&messages, protection);
    if let PassOutcome::Infeasible(overflow) = &compression.report.outcome {
        return Err(OperationError::new("infeasible", overflow.phrase()));
    }
    let fitted: Vec<Value> = compression.messages.iter().map(message_to_json).collect();
    let mut result = json!({ "messages": fitted, "report": compression.report });
    if given.loop_start.is_some() {
        result["loopStart"] = json!(compression.new_loop_start);
    }
    Ok(result)
}

/// The operation `recall`; gives what `ctx recall --json` prints, and what was not searched as findings.
pub(crate) fn recall(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Given {
        budget: Option<u64>,
        model: Option<String>,
        branches: bool,
    }
    let conversation = Conversation::of_given(&need(&mut input, "conversation")?)?;
    let text = need_text(&mut input, "query")?;
    let given: Given = options(input)?;
    let query = RecallQuery {
        text: &text,
        budget: given.budget.unwrap_or(RecallQuery::DEFAULT_BUDGET),
        with_branches: given.branches,
    };
    let (answer, findings) = query.search(&conversation.session, &meter(given.model.as_deref()));
    let mut result = answer.to_json();
    result["findings"] = json!(findings);
    Ok(result)
}

/// What counts tokens as a model does; estimates them without one.
fn meter(model: Option<&str>) -> Meter<'static> {
    let Some(model) = model else { return Meter::estimate() };
    let (facts, _) = Engine::new().models.lookup(model);
    let (counter, _) = Counter::for_model(&facts);
    Meter::for_model(Arc::new(facts), Arc::new(counter))
}

/// The operation `count`.
pub(crate) fn count(input: Map<String, Value>) -> Result<Value, OperationError> {
    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Given {
        text: Option<String>,
        conversation: Option<Value>,
        model: Option<String>,
    }
    let given: Given = options(input)?;
    let (facts, _) = Engine::new().models.lookup(given.model.as_deref().unwrap_or_default());
    let (counter, _) = Counter::for_model(&facts);
    let mut result = match (&given.text, &given.conversation) {
        (Some(text), None) => json!({ "kind": "text", "tokens": counter.count(text), "bytes": text.len() }),
        (None, Some(conversation)) => of_messages(&Conversation::of_given(conversation)?, &facts, counter),
        _ => return Err(OperationError::usage("set either `text` or `conversation`")),
    };
    result["model"] = json!(given.model);
    result["encoding"] = json!(counter.kind().name());
    result["isExact"] = json!(counter.is_exact());
    Ok(result)
}

/// The operation `model`.
pub(crate) fn model(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let name = need_text(&mut input, "model")?;
    let models: Option<Value> = optional(&mut input, "models")?;
    finish(&input)?;
    let mut engine = Engine::new();
    let odd = models.map(|document| add_models(&mut engine, &document)).transpose()?;
    let (facts, unknown) = engine.models.lookup(&name);
    let found: Vec<Diagnostic> = odd.into_iter().flat_map(|(_, odd)| odd).chain(unknown).collect();
    Ok(json!({
        "model": name,
        "encoding": facts.encoding.name(),
        "isExact": facts.is_exact,
        "contextWindow": facts.context_window,
        "maxOutput": facts.max_output,
        "findings": found,
    }))
}

fn of_messages(conversation: &Conversation, facts: &ModelFacts, counter: Counter) -> Value {
    let messages = sent_messages(&conversation.session);
    let costs: Vec<u32> =
        messages.iter().map(|message| message_cost(message, facts, &counter).total()).collect();
    let total: u64 = costs.iter().map(|tokens| u64::from(*tokens)).sum();
    let message = |(message, tokens): (&ctx_types::Message, &u32)| json!({ "role": message.role, "source": message.source, "tokens": tokens });
    json!({ "kind": "conversation", "tokens": total, "messages": messages.iter().zip(&costs).map(message).collect::<Vec<_>>() })
}
