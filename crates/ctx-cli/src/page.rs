//! A context as one web page: no network, no scripts, and whatever strangers wrote escaped.
//!
//! The page allows nothing but its own style sheet, by a policy that names its hash, and draws bars with attributes of
//! SVG. All texts go through the template engine, which escapes them. Equal contexts give equal bytes.

mod bars;
mod decisions;
mod difference;
mod kinds;
mod messages;
mod stages;
mod text;

use base64::Engine as _;
use ctx_engine::Context;
use ctx_engine::internal::MessageTrace;
use ctx_language::Language;
use ctx_types::internal::thousands;
use ctx_types::report::Unstable;
use ctx_types::{Diagnostic, Severity, count_of, phrase};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::lang;
use crate::page::bars::Bar;
use crate::page::text::{Room, shown};
use crate::show;
use ctx_project::Sources;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// How many findings are shown before the rest is counted.
const MAX_FINDINGS: usize = 500;

/// What the page is about, beside the context.
pub(crate) struct About<'a> {
    /// The name of the agent, if it has one.
    pub(crate) agent: Option<&'a str>,
    /// What describes the turn: names and values, in order.
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// Everything that the template writes.
#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    /// The tag of the language of the run.
    language: &'static str,
    policy: String,
    title: String,
    facts: Vec<(&'static str, String)>,
    figures: Vec<Figure>,
    budget: Budget,
    kinds: Vec<kinds::Legend>,
    /// How many messages there are.
    count: usize,
    messages: messages::List<'a>,
    cache: Option<Cache>,
    stages: Vec<stages::Stage>,
    decisions: Vec<decisions::Group>,
    findings: Vec<Finding>,
    more_findings: Option<String>,
    notes: Vec<String>,
}

/// A figure that is read at a glance.
#[derive(Serialize)]
struct Figure {
    value: String,
    label: String,
    link: &'static str,
}

/// How the budget came about, and what uses it.
#[derive(Serialize)]
struct Budget {
    bar: Bar,
    lines: Vec<(String, String)>,
    sum: Option<String>,
    note: String,
}

/// Where the part of the request ends that the next turn sends again.
#[derive(Serialize)]
struct Cache {
    /// Before which message.
    at: usize,
    line: String,
    reason: Option<String>,
}

#[derive(Serialize)]
struct Finding {
    severity: &'static str,
    code: String,
    message: String,
    place: String,
    help: Option<String>,
}

/// Writes the page of a context that was assembled with a trace.
pub(crate) fn page(
    language: Language,
    context: &Context,
    traces: &MessageTrace<'_>,
    about: About<'_>,
    sources: &Sources,
) -> String {
    let mut room = Room::default();
    let tokens = context.tokens();
    let messages = messages::list(language, context, traces, &tokens, &mut room);
    let findings = &context.report.diagnostics;
    let page = Page {
        style: STYLE,
        language: language.tag(),
        policy: policy(),
        title: title(language, about.agent),
        facts: about.facts.into_iter().map(|(name, value)| (name, shown(&value))).collect(),
        figures: figures(language, context, &tokens),
        budget: budget(language, context, &tokens),
        kinds: kinds::legend(context),
        count: context.messages.len(),
        messages,
        cache: cache(language, context, &tokens),
        stages: stages::list(language, context, traces),
        decisions: decisions::groups(language, context),
        findings: self::findings(language, findings, sources),
        more_findings: findings.len().checked_sub(MAX_FINDINGS).filter(|more| *more > 0).map(|more| {
            let more = count_of!(more, "more diagnostic");
            lang::say(language, &phrase!("and {more}; use ctx explain --json to list all", more))
        }),
        notes: room.notes(language),
    };
    render(language, page)
}

fn render(language: Language, page: Page<'_>) -> String {
    let mut environment = Environment::new();
    environment.add_filter("said", move |english: &str| lang::page(language, english).into_owned());
    environment.add_filter("phrased", move |value: Value, what: &str| phrased(language, &value, what));
    environment.add_filter("bracketed", move |text: Value| show::bracketed(language, &text.to_string()));
    environment.add_global("colon", show::colon(language));
    environment.add_filter("marked", |text: &str| Value::from_safe_string(text::marked(text)));
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the syntax is valid"));
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // The ending has everything escaped.
    environment.add_template("page.html", TEMPLATE).expect("the template is valid");
    let template = environment.get_template("page.html").expect("the template was added");
    template.render(Serde(page)).expect("the page has all values of the template")
}

/// Writes a text of the template that holds a value.
fn phrased(language: Language, value: &Value, what: &str) -> Result<String, minijinja::Error> {
    let number = value.to_string();
    let phrase = match what {
        "Message" => phrase!("Message {number}", number),
        "message" => phrase!("message {number}", number),
        "Text of message" => phrase!("Text of message {number}", number),
        "as" => phrase!("as {speaker}", speaker = number),
        "more" => phrase!("and {more} more; use `--json` to list all", more = number),
        "messages" => count_of!(value.as_usize().unwrap_or_default(), "message"),
        _ => return Err(minijinja::Error::new(ErrorKind::InvalidOperation, what.to_owned())),
    };
    Ok(lang::say(language, &phrase))
}

/// Allows the style sheet and nothing else: no script, no picture, no request.
fn policy() -> String {
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
}

fn title(language: Language, agent: Option<&str>) -> String {
    let title = match agent {
        Some(agent) => phrase!("Context of {agent}", agent = shown(agent)),
        None => phrase!("Context"),
    };
    lang::say(language, &title)
}

fn figures(language: Language, context: &Context, tokens: &[u32]) -> Vec<Figure> {
    let used: u64 = tokens.iter().copied().map(u64::from).sum();
    let report = &context.report;
    let is_left_out = |decision: &&ctx_types::report::Decision| decisions::is_left_out(decision.outcome);
    let omitted: usize = report.decisions.iter().filter(is_left_out).map(|decision| decision.count).sum();
    let stable = report.stable.as_ref().map_or(0, |stable| stable.messages);
    let kept: u64 = tokens.iter().take(stable).copied().map(u64::from).sum();
    let percent = (kept * 100).checked_div(used).unwrap_or(0);
    let is_worth = |finding: &&Diagnostic| finding.severity != Severity::Info;
    let found = report.diagnostics.iter().filter(is_worth).count();
    let available = report.usage.as_ref().and_then(|usage| usage.available);
    let of = available.map(|available| phrase!("of {limit} tokens", limit = thousands(available.into())));
    let of = match of {
        Some(of) => lang::say(language, &of),
        None => lang::page(language, "tokens").into_owned(),
    };
    let figure =
        |value: String, label: &str, link| Figure { value, label: lang::page(language, label).into(), link };
    let count = context.messages.len();
    vec![
        figure(thousands(count as u64), if count == 1 { "message" } else { "messages" }, "#messages"),
        Figure { value: thousands(used), label: of, link: "#budget" },
        figure(thousands(omitted as u64), "not sent", "#decisions"),
        figure(format!("{percent} %"), "cacheable", "#cache"),
        figure(thousands(found as u64), if found == 1 { "diagnostic" } else { "diagnostics" }, "#findings"),
    ]
}

fn budget(language: Language, context: &Context, tokens: &[u32]) -> Budget {
    let used: u64 = tokens.iter().copied().map(u64::from).sum();
    let usage = context.report.usage.as_ref();
    let available = usage.and_then(|usage| usage.available);
    let exact = match usage {
        Some(usage) if usage.is_exact => phrase!("exact count ({encoding})", encoding = usage.encoding),
        Some(usage) => phrase!("estimated count ({encoding})", encoding = usage.encoding),
        None => phrase!(""),
    };
    let lines = usage.into_iter().flat_map(|usage| &usage.budget);
    let signed = |tokens: i64| match tokens {
        0.. => thousands(tokens.unsigned_abs()),
        _ => format!("−{}", thousands(tokens.unsigned_abs())),
    };
    let note = match available {
        Some(available) => {
            let free = thousands(u64::from(available).saturating_sub(used));
            phrase!("{used} used, {free} left; {exact}", used = thousands(used), free, exact)
        }
        None => phrase!("{used} used, no limit; {exact}", used = thousands(used), exact),
    };
    let note = lang::say(language, &note);
    Budget {
        bar: bars::of_context(language, context, available.map_or(used, u64::from).max(used)),
        lines: lines.map(|line| (signed(line.tokens), shown(&lang::say(language, &line.name)))).collect(),
        sum: available.map(|available| thousands(available.into())),
        note,
    }
}

fn cache(language: Language, context: &Context, tokens: &[u32]) -> Option<Cache> {
    let stable = context.report.stable.as_ref()?;
    let kept: u64 = tokens.iter().take(stable.messages).copied().map(u64::from).sum();
    let tokens = show::tokens(kept);
    let line = match stable.messages {
        0 => phrase!("The first message may change next turn, so the prompt cache has no effect."),
        1 => {
            phrase!("The first message is unchanged next turn ({tokens}): the provider can cache it.", tokens)
        }
        count => phrase!(
            "The first {count} messages are unchanged next turn ({tokens}): the provider can cache them.",
            count,
            tokens
        ),
    };
    let line = lang::say(language, &line);
    let reason = stable.ended_by.as_ref().map(|end| shown(&told(language, end)));
    Some(Cache { at: stable.messages, line, reason })
}

fn told(language: Language, end: &Unstable) -> String {
    let (number, source, reason) = (end.message, end.source.to_string(), &end.reason);
    lang::say(language, &phrase!("Message {number} may change: {source}, {reason}.", number, source, reason))
}

fn findings(language: Language, found: &[Diagnostic], sources: &Sources) -> Vec<Finding> {
    let found = found.get(..MAX_FINDINGS.min(found.len())).unwrap_or_default();
    let places = sources.positions(found);
    let finding = |(found, place): (&Diagnostic, Option<ctx_project::sources::Position>)| Finding {
        severity: match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        },
        code: found.code.to_string(),
        message: shown(&lang::say(language, &found.message)),
        place: match place {
            Some(place) => shown(&format!("{}:{}:{}", place.file, place.line, place.column)),
            None => shown(&found.location.to_string()),
        },
        help: found.help.as_ref().map(|help| shown(&lang::say(language, help))),
    };
    found.iter().zip(places).map(finding).collect()
}
