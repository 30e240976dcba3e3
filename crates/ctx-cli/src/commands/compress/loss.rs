//! `ctx compress report LOG`: facts that the compactions of a transcript or a request log lost.

use std::path::{Path, PathBuf};

use ctx_language::Language;
use ctx_project::counting::TokenCounting;
use ctx_project::error::Result;
use ctx_project::transcripts::LogLosses;
use ctx_project::{files, inputs};
use ctx_traffic::{CompactionLoss, LostFact};
use ctx_types::{Phrase, count_of, phrase};
use serde_json::json;

use crate::args::ReportArguments;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;

/// Maximum number of facts shown for a compaction.
const MAX_FACTS: usize = 30;

/// Returns the log that a command line names in the place of a summary.
pub(super) fn log_of(arguments: &ReportArguments) -> Option<PathBuf> {
    let path = arguments.node.as_ref().filter(|_| arguments.session.is_none()).map(PathBuf::from)?;
    path.exists().then_some(path)
}

/// Reports the lost facts of each compaction of a log.
pub(super) fn run(language: Language, path: &Path, arguments: &ReportArguments) -> Result<Exit> {
    inputs::check_stdin(&arguments.counting.models)?;
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.config, &mut sources)?;
    let mut found = config.found.clone();
    let counting = TokenCounting::of(&(&arguments.counting).into(), &config, &mut sources, &mut found)?;
    let name = files::name(path);
    let read = LogLosses::read(path, &counting.meter())?;
    found.extend(read.diagnostics.into_iter().map(|found| found.in_document(&*name)));
    show::findings(language, &sources, &found);
    let text = || self::text(language, &read.losses);
    show::output(arguments.json, || json!({ "compactions": read.losses }), text)
}

/// Formats the lost facts of all compactions.
pub(in crate::commands) fn text(language: Language, losses: &[CompactionLoss]) -> String {
    if losses.is_empty() {
        return lang::lines(language, "no compactions\n");
    }
    let reports: Vec<String> = losses.iter().map(|loss| format_loss(language, loss)).collect();
    reports.join("\n")
}

/// Formats the lost facts of a compaction.
fn format_loss(language: Language, loss: &CompactionLoss) -> String {
    let line = usize::try_from(loss.line).unwrap_or(usize::MAX);
    let (before, after) = (tokens(loss.tokens_before), tokens(loss.tokens_after));
    let place = phrase!("compaction in line {line}: about {before} became {after}", line, before, after);
    let facts = loss.kept + loss.lost.len();
    let kept = if loss.is_unknown {
        phrase!("the summary is encrypted or missing; the losses are unknown")
    } else {
        phrase!(
            "kept {kept} of {all}, lost {lost}",
            kept = loss.kept,
            all = count_of!(facts, "fact"),
            lost = loss.lost.len()
        )
    };
    let used = loss.lost.iter().filter(|fact| fact.uses > 0).count();
    let mut lines = vec![place, kept];
    if !loss.is_unknown {
        lines.push(phrase!("used again later: {used}", used));
        lines.push(match loss.kept_by_digest {
            Some(digest) => phrase!(
                "a digest of the same size keeps {digest} of {all}",
                digest,
                all = count_of!(facts, "fact")
            ),
            None => phrase!("too few tokens for a digest"),
        });
    }
    let mut text: String = lines.iter().map(|line| lang::say(language, line) + "\n").collect();
    let (shown, rest) = loss.lost.split_at(loss.lost.len().min(MAX_FACTS));
    if !shown.is_empty() {
        let titles = ["uses", "digest", "kind", "fact"].map(|title| lang::word(language, title));
        text += &row([&titles[0], &titles[1], &titles[2], &titles[3]]);
        text += &shown.iter().map(|fact| fact_row(language, fact)).collect::<String>();
    }
    let more = show::omitted(language, rest.len(), |more| {
        phrase!("and {more}", more = count_of!(more, "more fact"))
    });
    text + &more.map(|more| format!("  {more}\n")).unwrap_or_default()
}

fn tokens(count: u64) -> Phrase {
    count_of!(usize::try_from(count).unwrap_or(usize::MAX), "token")
}

fn fact_row(language: Language, fact: &LostFact) -> String {
    let kept = lang::word(language, if fact.is_in_digest { "kept" } else { "lost" });
    let words: Vec<&str> = fact.text.split_whitespace().collect();
    let text = show::cut_line(&words.join(" "), 100);
    row([&fact.uses.to_string(), &kept, &lang::word(language, fact.kind.as_str()), &text])
}

fn row([uses, digest, kind, text]: [&str; 4]) -> String {
    let (uses, digest, kind) = (show::right(uses, 5), show::left(digest, 6), show::left(kind, 10));
    format!("  {uses}  {digest}  {kind}  {text}\n")
}

#[cfg(test)]
mod tests {
    use ctx_compress::quality::FactUses;
    use ctx_compress::request::Meter;
    use ctx_traffic::compaction_loss;
    use ctx_types::{Message, Role, Source};

    use super::*;

    #[test]
    fn shows_most_used_fact_first() {
        let said = |text: &str| vec![Message::new(Role::User, text, Source::history("n1", Role::User))];
        let mut later = FactUses::default();
        later.add(&said("Was it ZX-4471?"));
        let before = said("Room 12 is for Ada Bell, and the token is ZX-4471.");
        let loss = compaction_loss(&before, &said("A room was booked."), &later, &Meter::estimate());
        let shown = format_loss(Language::En, &loss);
        let facts: Vec<&str> = shown.lines().skip_while(|line| !line.contains("fact")).collect();
        assert!(shown.starts_with("compaction in line 0: about "), "{shown}");
        assert!(shown.contains("used again later: 1\n"), "{shown}");
        assert!(
            facts.iter().position(|line| line.ends_with("ZX-4471"))
                < facts.iter().position(|line| line.ends_with("Ada Bell")),
            "{shown}"
        );
    }
}
