//! `ctx compress report`: what summaries and passes kept, lost and made up.

use ctx_compress::quality::{Fact, KindCounts, QualityReport};
use ctx_compress::request::{PassOutcome, Protection};
use ctx_language::Language;
use ctx_types::session::{NodeId, Session};
use ctx_types::{Phrase, count_of, phrase};
use serde_json::{Value, json};

use crate::args::ReportArguments;
use crate::commands::compress::pipeline;
use crate::commands::recall;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_compress::recall::RecallAnswer;
use ctx_project::Sources;
use ctx_project::compress::{find_summary, messages};
use ctx_project::config::Config;
use ctx_project::error::Result;
use ctx_project::inputs::{self, InputFile};

/// A summary with the report on it.
type OfSummary = (NodeId, QualityReport);

/// The report on a pass, and what it recalled if it was for a question.
struct OfPass {
    report: QualityReport,
    recalled: Option<RecallAnswer>,
}

/// Reports on summaries, and on a pass if a budget is given.
pub(super) fn run(language: Language, arguments: &ReportArguments) -> Result<Exit> {
    inputs::check_stdin(arguments.session.iter().chain(&arguments.counting.models))?;
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.config, &mut sources)?;
    let path = super::conversation(arguments.session.as_ref(), &config, &sources)?;
    let conversation = inputs::conversation(&InputFile::from(&path), &mut sources)?;
    show::findings(language, &sources, &[config.found.clone(), conversation.diagnostics].concat());
    let of_summaries = of_summaries(&conversation.value, arguments.node.as_deref())?;
    let of_pass = match arguments.budget {
        Some(budget) => {
            Some(of_pass(language, &conversation.value, budget, (arguments, &config), &mut sources)?)
        }
        None => None,
    };
    let name = ctx_project::files::name(&path);
    let of_passes = of_pass.iter().map(|pass| &pass.report);
    let reports = of_summaries.iter().map(|(_, report)| report).chain(of_passes);
    let limits: Vec<_> = reports.flat_map(|report| report.diagnostics.clone()).collect();
    show::findings(
        language,
        &sources,
        &limits.into_iter().map(|found| found.in_document(name.as_str())).collect::<Vec<_>>(),
    );
    let text = || to_text(language, &of_summaries, of_pass.as_ref());
    show::output(arguments.json, || to_json(&of_summaries, of_pass.as_ref()), text)
}

/// Reports on one summary, or on all in the order of the tree.
fn of_summaries(session: &Session, wanted: Option<&str>) -> Result<Vec<OfSummary>> {
    let ids: Vec<NodeId> = match wanted {
        Some(wanted) => vec![find_summary(session, wanted)?],
        None => session.nodes().filter(|(_, node)| node.is_summary()).map(|(id, _)| id.clone()).collect(),
    };
    Ok(ids.into_iter().filter_map(|id| Some((id.clone(), QualityReport::of_node(session, &id)?))).collect())
}

/// Reports on what a pass would make of the messages that are sent.
fn of_pass(
    language: Language,
    session: &Session,
    budget: u64,
    (arguments, config): (&ReportArguments, &Config),
    sources: &mut Sources,
) -> Result<OfPass> {
    let pipeline = pipeline(language, budget, &arguments.strategy, (&arguments.counting, config), sources)?;
    let original = messages(session);
    let (compression, recalled) = match &arguments.input {
        Some(input) => {
            let asked = pipeline.compress_for(&original, Protection::LastUserMessage, input);
            (asked.compression, Some(asked.recalled))
        }
        None => (pipeline.compress(&original, Protection::LastUserMessage), None),
    };
    match compression.report.outcome {
        PassOutcome::Infeasible(overflow) => Err((*overflow).into()),
        _ => Ok(OfPass { report: QualityReport::of(&original, &compression.messages), recalled }),
    }
}

fn to_json(of_summaries: &[OfSummary], of_pass: Option<&OfPass>) -> Value {
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
    if let Some(pass) = of_pass {
        result["pass"] = one(None, &pass.report);
        if let Some(recalled) = &pass.recalled {
            result["pass"]["recalled"] = recalled.to_json();
        }
    }
    result
}

fn to_text(language: Language, of_summaries: &[OfSummary], of_pass: Option<&OfPass>) -> String {
    let summaries =
        of_summaries.iter().map(|(id, report)| drawn(language, &phrase!("summary `{id}`", id), report));
    let pass = of_pass.map(|pass| {
        let recalled = pass.recalled.as_ref().map(|answer| recall::listed(language, answer));
        drawn(language, &phrase!("request compression"), &pass.report) + &recalled.unwrap_or_default()
    });
    let reports: Vec<String> = summaries.chain(pass).collect();
    if reports.is_empty() {
        lang::lines(language, "no summaries; use `--budget N` for a report on request compression\n")
    } else {
        reports.join("\n")
    }
}

/// Writes a report in the language of the run: its figures, and a line for each fact.
fn drawn(language: Language, what: &Phrase, report: &QualityReport) -> String {
    let figures = figures(report);
    let mut text = lang::say(language, &phrase!("{what}: {figures}", what, figures)) + "\n";
    text += &kinds(language, &report.kinds);
    text += &facts(language, "lost", &report.lost);
    text + &facts(language, "invented", &report.invented)
}

fn figures(report: &QualityReport) -> Phrase {
    let all = count_of!(report.kept.len() + report.lost.len(), "fact");
    let all = match report.retention() {
        Some(share) => phrase!("{all} ({percent}%)", all, percent = format!("{:.1}", share * 100.0)),
        None => all,
    };
    phrase!(
        "kept {kept} of {all}, lost {lost}, invented {invented}",
        kept = report.kept.len(),
        all,
        lost = report.lost.len(),
        invented = report.invented.len()
    )
}

/// How many columns the name of a kind has.
const KIND_COLUMNS: usize = 10;

/// The titles of figures, and how many columns these have.
const FIGURES: [(&str, usize); 3] = [("kept", 6), ("lost", 6), ("invented", 9)];

/// Writes the table of kinds.
fn kinds(language: Language, kinds: &[KindCounts]) -> String {
    let row = |kind: &str, figures: [&str; 3]| {
        let figures = figures.iter().zip(FIGURES).map(|(figure, (_, columns))| show::right(figure, columns));
        let cells: Vec<String> = std::iter::once(show::left(kind, KIND_COLUMNS)).chain(figures).collect();
        format!("  {}\n", cells.join(" "))
    };
    let of_kind = |counts: &KindCounts| {
        let figures = [counts.kept, counts.lost, counts.invented].map(|count| count.to_string());
        row(&lang::word(language, counts.kind.as_str()), figures.each_ref().map(String::as_str))
    };
    if kinds.is_empty() {
        return String::new();
    }
    let titles = FIGURES.map(|(title, _)| lang::word(language, title));
    row("", titles.each_ref().map(|title| &**title)) + &kinds.iter().map(of_kind).collect::<String>()
}

/// How many facts of a list are shown before the rest is counted.
const MAX_FACTS: usize = 100;

/// Writes a list of facts, whose words are those of the conversation.
fn facts(language: Language, title: &str, facts: &[Fact]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let (shown, rest) = facts.split_at(facts.len().min(MAX_FACTS));
    let places: Vec<String> = shown.iter().map(place).collect();
    let width = show::widest(&places);
    let line = |(fact, place): (&Fact, &String)| {
        let kind = show::left(&lang::word(language, fact.kind.as_str()), KIND_COLUMNS);
        let (place, text) = (show::left(place, width), one_line(&fact.text));
        let more = fact.count.checked_sub(1).filter(|more| *more > 0);
        let more = more.map(|more| phrase!(" (and {more})", more = count_of!(more, "more place")));
        let more = more.map(|more| lang::say(language, &more)).unwrap_or_default();
        format!("  {kind}  {place}  {text}{more}\n")
    };
    let lines: String = shown.iter().zip(&places).map(line).collect();
    let more = show::omitted(language, rest.len(), |more| {
        phrase!("and {more}", more = count_of!(more, "more fact"))
    });
    let more = more.map(|more| format!("  {more}\n")).unwrap_or_default();
    format!("{}\n{lines}{more}", lang::word(language, title))
}

/// Writes where a fact stands first: the message, the call in it, and the byte.
fn place(fact: &Fact) -> String {
    let Some(place) = fact.places.first() else { return String::new() };
    let message = place.id.as_deref().map_or_else(|| format!("#{}", place.message), str::to_owned);
    let call = place.call.map(|call| format!(" call {call}")).unwrap_or_default();
    format!("{message}{call}:{}", place.start)
}

/// How much of a fact is shown, in columns.
const FACT_COLUMNS: usize = 120;

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    show::cut_line(&words.join(" "), FACT_COLUMNS)
}

#[cfg(test)]
mod tests {
    use ctx_types::{Message, Role, Source};

    use super::*;

    #[track_caller]
    fn check(original: &str, compressed: &str, expected: &str) {
        let messages = |text: &str| {
            let lines = text.lines().enumerate();
            let message =
                |(n, line)| Message::new(Role::User, line, Source::history(format!("n{n}"), Role::User));
            lines.map(message).collect::<Vec<_>>()
        };
        let report = QualityReport::of(&messages(original), &messages(compressed));
        assert_eq!(drawn(Language::En, &phrase!("request compression"), &report), expected);
    }

    #[test]
    fn shows_counts_and_lost_facts() {
        check(
            "Room 12 is booked for Ada Bell.\nShe must not be called before 9:00.",
            "Room 12.",
            "request compression: kept 0 of 2 facts (0.0%), lost 2, invented 0
               kept   lost  invented
  date            0      1         0
  name            0      1         0
lost
  name        n0:22  Ada Bell
  date        n1:30  9:00
",
        );
        check("", "", "request compression: kept 0 of 0 facts, lost 0, invented 0\n");
    }

    #[test]
    fn counts_facts_beyond_limit() {
        let orders: Vec<_> = (100..250).map(|n| format!("Order K-{n}00 is here.")).collect();
        let messages = [Message::new(Role::User, orders.join("\n"), Source::history("n0", Role::User))];
        let shown = drawn(Language::En, &phrase!("orders"), &QualityReport::of_summary(&messages, "None."));
        assert!(shown.starts_with("orders: kept 0 of 150 facts (0.0%), lost 150, invented 0\n"), "{shown}");
        assert!(shown.ends_with("\n  and 50 more facts\n"), "{shown}");
    }
}
