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
use crate::exit::Exit;
use crate::show::{self, Sources};

/// A summary with the report on it.
type OfSummary = (NodeId, QualityReport);

/// Reports on summaries, and on a pass if a budget is given.
pub(super) fn run(arguments: &ReportArguments) -> Result<Exit> {
    inputs::check_stdin([&arguments.session].into_iter().chain(&arguments.counting.models))?;
    let mut sources = Sources::default();
    let conversation = inputs::conversation(&InputFile::from(&arguments.session), &mut sources)?;
    sources.show(&conversation.diagnostics);
    let of_summaries = of_summaries(&conversation.value, arguments.node.as_deref())?;
    let of_pass = match arguments.budget {
        Some(budget) => Some(of_pass(&conversation.value, budget, arguments)?),
        None => None,
    };
    let name = crate::files::name(&arguments.session);
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
fn of_pass(session: &Session, budget: u64, arguments: &ReportArguments) -> Result<QualityReport> {
    let pipeline = pipeline(budget, &arguments.strategy, &arguments.counting, &arguments.config)?;
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
        write!(text, "{}summary `{id}`: {report}", if text.is_empty() { "" } else { "\n" })?;
    }
    if let Some(report) = of_pass {
        write!(text, "{}pass: {report}", if text.is_empty() { "" } else { "\n" })?;
    }
    if text.is_empty() {
        text.push_str("there is no summary; `--budget N` reports on a pass\n");
    }
    Ok(text)
}
