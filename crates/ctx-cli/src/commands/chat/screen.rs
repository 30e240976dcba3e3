//! What is seen of a turn: the answer on standard output as it comes, all else on standard error.

use std::io::IsTerminal as _;

use anyhow::Result;
use ctx_chat::{TurnEnd, TurnEvent, TurnOutcome, UsageLevel};
use ctx_wire::Delta;

use crate::commands::chat::setup::Setup;
use crate::show;

/// What is seen of a turn.
pub(super) struct Screen<'a> {
    setup: &'a Setup,
    /// Whether the answer is printed at all.
    prints: bool,
    /// Whether it is printed as it comes: where somebody watches.
    streams: bool,
    /// Whether a line of standard output is not ended yet.
    is_open: bool,
}

impl<'a> Screen<'a> {
    pub(super) fn new(setup: &'a Setup, prints: bool) -> Self {
        Self { setup, prints, streams: prints && std::io::stdout().is_terminal(), is_open: false }
    }

    /// Shows an event.
    pub(super) fn show(&mut self, event: TurnEvent) {
        match event {
            TurnEvent::Delta(Delta::Text(text)) if self.streams => {
                self.is_open = !text.ends_with('\n');
                show::piece(&text);
            }
            TurnEvent::Found(finding) => self.setup.tell(&[finding]),
            event => {
                if let Some(line) = line(&event) {
                    self.close();
                    show::note(&line);
                }
            }
        }
    }

    /// Prints the answer where it was not printed as it came, and what went wrong.
    pub(super) fn end(&mut self, end: &TurnEnd) -> Result<()> {
        self.close();
        if self.prints && !self.streams && !end.text.is_empty() {
            let text = end.text.as_str();
            show::result(&format!("{text}{}", if text.ends_with('\n') { "" } else { "\n" }))?;
        }
        match &end.outcome {
            TurnOutcome::Failed(failure) => show::failure(&anyhow::anyhow!("{failure}")),
            TurnOutcome::Aborted => show::note("stopped; what came is kept"),
            _ => {}
        }
        Ok(())
    }

    /// Ends the line of the answer, so that something else can be shown.
    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            show::piece("\n");
        }
    }
}

/// An event as a line for people, if it is worth one.
fn line(event: &TurnEvent) -> Option<String> {
    Some(match event {
        TurnEvent::Usage { usage, level: UsageLevel::Warning } => {
            let percent = usage.usage_percent * 100.0;
            format!(
                "{percent:.0} % of the context are used: {} of {} tokens",
                usage.used_tokens, usage.total_budget
            )
        }
        TurnEvent::Summarizing(trigger) => format!("summarising older messages: {trigger}"),
        TurnEvent::Summarized(notice) => notice.to_string(),
        TurnEvent::NotSummarized(reason) => format!("no summary: {reason}"),
        TurnEvent::Compressed(report) => {
            format!("the request was made smaller: {} → {} tokens", report.input_tokens, report.output_tokens)
        }
        TurnEvent::NotCompressed(reason) => format!("the request is large and stays so: {reason}"),
        TurnEvent::Overflowed => {
            "the request was too large for the model; it is sent again, smaller".to_owned()
        }
        TurnEvent::Retry { wait, reason, .. } => format!("again in {:.1} s: {reason}", wait.as_secs_f32()),
        TurnEvent::ToolStarted { name, arguments, .. } => format!("→ {name} {arguments}"),
        TurnEvent::ToolFinished { name, is_error, took, bytes, .. } => {
            let how = if *is_error { "failed" } else { "done" };
            format!("← {name} {how}: {bytes} bytes in {} ms", took.as_millis())
        }
        _ => return None,
    })
}
