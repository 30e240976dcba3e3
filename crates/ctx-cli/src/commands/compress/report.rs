//! `ctx compress report`: what summaries and passes kept, lost and made up.

use std::fmt::Write as _;

use anyhow::Result;
use ctx_compress::quality::QualityReport;
use ctx_compress::request::{PassOutcome, Protection};
use ctx_types::{NodeId, Session};
use serde_json::{Value, json};

use crate::args::ReportArguments;
use crate::commands::compress::{messages, pipeline, summaries};
use crate::commands::inputs::{self, InputFile};
use crate::config::Config;
use crate::exit::Exit;
use crate::lang;
use crate::show::{self, Sources};

/// A summary with the report on it.
type OfSummary = (NodeId, QualityReport);

/// Reports on summaries, and on a pass if a budget is given.
pub(super) fn run(arguments: &ReportArguments) -> Result<Exit> {
    inputs::check_stdin(arguments.session.iter().chain(&arguments.counting.models))?;
    let mut sources = Sources::default();
    let config = Config::read(&arguments.config, &mut sources)?;
    let path = super::conversation(arguments.session.as_ref(), &config, &sources)?;
    let conversation = inputs::conversation(&InputFile::from(&path), &mut sources)?;
    sources.show(&[config.found.clone(), conversation.diagnostics].concat());
    let of_summaries = of_summaries(&conversation.value, arguments.node.as_deref())?;
    let of_pass = match arguments.budget {
        Some(budget) => Some(of_pass(&conversation.value, budget, (arguments, &config), &mut sources)?),
        None => None,
    };
    let name = crate::files::name(&path);
    let reports = of_summaries.iter().map(|(_, report)| report).chain(&of_pass);
    let limits: Vec<_> = reports.flat_map(|report| report.diagnostics.clone()).collect();
    sources.show(&limits.into_iter().map(|found| found.in_document(name.as_str())).collect::<Vec<_>>());
    match arguments.json {
        true => show::json(&to_json(&of_summaries, of_pass.as_ref()))?,
        false => show::result(&to_text(&of_summaries, of_pass.as_ref())?)?,
    }
    Ok(Exit::Success)
}

/// Reports on one summary, or on all in the order of the tree.
fn of_summaries(session: &Session, wanted: Option<&str>) -> Result<Vec<OfSummary>> {
    let ids: Vec<NodeId> = match wanted {
        Some(wanted) => vec![summaries::find(session, wanted)?],
        None => session.nodes().filter(|(_, node)| node.is_summary()).map(|(id, _)| id.clone()).collect(),
    };
    Ok(ids.into_iter().filter_map(|id| Some((id.clone(), QualityReport::of_node(session, &id)?))).collect())
}

/// Reports on what a pass would make of the messages that are sent.
fn of_pass(
    session: &Session,
    budget: u64,
    (arguments, config): (&ReportArguments, &Config),
    sources: &mut Sources,
) -> Result<QualityReport> {
    let pipeline = pipeline(budget, &arguments.strategy, (&arguments.counting, config), sources)?;
    let original = messages(session);
    let compression = pipeline.compress(&original, Protection::LastUserMessage);
    match compression.report.outcome {
        PassOutcome::Infeasible(overflow) => Err((*overflow).into()),
        _ => Ok(QualityReport::of(&original, &compression.messages)),
    }
}

fn to_json(of_summaries: &[OfSummary], of_pass: Option<&QualityReport>) -> Value {
    let one = |node: Option<&NodeId>, report: &QualityReport| {
        let mut value = node.map_or_else(|| json!({}), |id| json!({ "node": id }));
        if let (Value::Object(value), Value::Object(report)) = (&mut value, json!(report)) {
            value.extend(report);
        }
        value["retention"] = json!(report.retention());
        value
    };
    let summaries: Vec<Value> = of_summaries.iter().map(|(id, report)| one(Some(id), report)).collect();
    let mut result = json!({ "summaries": summaries });
    if let Some(report) = of_pass {
        result["pass"] = one(None, report);
    }
    result
}

fn to_text(of_summaries: &[OfSummary], of_pass: Option<&QualityReport>) -> Result<String> {
    let mut text = String::new();
    for (id, report) in of_summaries {
        write!(
            text,
            "{}{}",
            if text.is_empty() { "" } else { "\n" },
            drawn(&format!("summary `{id}`"), report)
        )?;
    }
    if let Some(report) = of_pass {
        write!(text, "{}{}", if text.is_empty() { "" } else { "\n" }, drawn("pass", report))?;
    }
    if text.is_empty() {
        text.push_str(&lang::lines("there is no summary; `--budget N` reports on a pass\n"));
    }
    Ok(text)
}

/// Writes a report in the language of the run: its figures, and a line for each fact.
fn drawn(what: &str, report: &QualityReport) -> String {
    let text = report.to_string();
    let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let colon = if lang::is_english() { ": " } else { "：" };
    let mut written = format!("{}{colon}{}\n", lang::phrase(what), lang::text(head));
    // Behind the table of kinds stand the facts, whose words are those of the conversation.
    let mut is_of_fact = false;
    for line in rest.lines() {
        is_of_fact |= !line.starts_with(' ');
        written += &if is_of_fact { fact(line) } else { kind(line) };
        written.push('\n');
    }
    written
}

/// Writes a row of the table of kinds, or its titles.
fn kind(line: &str) -> String {
    if lang::is_english() || line.starts_with("  ") && !line.starts_with("   ") {
        return lang::cells(line, false).into_owned();
    }
    let titles = line.split_whitespace().zip([19, 7, 10]);
    titles.map(|(title, width)| lang::right(&lang::phrase(title), width)).collect()
}

/// Writes the line of a fact, or the title above several.
fn fact(line: &str) -> String {
    if !line.starts_with(' ') {
        return lang::phrase(line).into_owned();
    }
    let (line, opposite) = match line.strip_suffix(OPPOSITE) {
        Some(line) => (line, lang::phrase(OPPOSITE)),
        None => (line, "".into()),
    };
    let more = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (and "));
    let is_count = |more: &&str| more.ends_with(" more places") || *more == "1 more place";
    match more.filter(|(_, more)| is_count(more)) {
        Some((line, more)) => {
            format!("{}{}{opposite}", lang::cells(line, false), lang::phrase(&format!(" (and {more})")))
        }
        None if line.starts_with("  and ") => lang::lines(line).into_owned(),
        None => format!("{}{opposite}", lang::cells(line, false)),
    }
}

/// What stands behind a fact of which the opposite is said.
const OPPOSITE: &str = " (the opposite is said)";
