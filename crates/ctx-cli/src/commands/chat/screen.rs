//! What is seen of a turn: the answer on standard output as it comes, all else on standard error.

use std::io::IsTerminal as _;

use ctx_chat::{TurnEnd, TurnEvent, TurnOutcome, UsageLevel};
use ctx_project::error::Result;
use ctx_types::report::PlannedBreak;
use ctx_types::{Phrase, count_of, phrase};
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
                    show::note(self.setup.language, &line);
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
            TurnOutcome::Failed(failure) => {
                show::turn_failure(self.setup.language, failure);
            }
            TurnOutcome::Aborted => {
                show::note(self.setup.language, &phrase!("stopped; the partial reply is kept"));
            }
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
fn line(event: &TurnEvent) -> Option<Phrase> {
    Some(match event {
        TurnEvent::Usage { usage, level: UsageLevel::Warning } => phrase!(
            "the context is {percent}% full: {used} of {limit} tokens",
            percent = format!("{:.0}", usage.usage_percent * 100.0),
            used = usage.used_tokens,
            limit = usage.total_budget
        ),
        TurnEvent::Summarizing(trigger) => {
            phrase!("summarizing older messages: {trigger}", trigger = trigger.phrase())
        }
        TurnEvent::Summarized(notice) => notice.phrase(),
        TurnEvent::NotSummarized(reason) => phrase!("no summary: {reason}", reason),
        TurnEvent::Compressed(report) => phrase!(
            "request compressed: {before} → {after} tokens",
            before = report.input_tokens,
            after = report.output_tokens
        ),
        TurnEvent::PlannedBreak(PlannedBreak { reason, tokens }) => phrase!(
            "new prefix: {reason}; {tokens} tokens are read again",
            reason = reason.clone(),
            tokens = *tokens
        ),
        TurnEvent::NotCompressed(reason) => {
            phrase!("cannot compress the request: {reason}", reason)
        }
        TurnEvent::Overflowed => {
            phrase!("the request was too large for the model; retrying with a smaller request")
        }
        TurnEvent::Retry { wait, reason, .. } => {
            phrase!(
                "retrying in {seconds} s: {reason}",
                seconds = format!("{:.1}", wait.as_secs_f32()),
                reason
            )
        }
        TurnEvent::ToolStarted { name, arguments, .. } => phrase!("→ {name} {arguments}", name, arguments),
        TurnEvent::ToolFinished { name, is_error, took, bytes, .. } => {
            let (bytes, took) = (count_of!(*bytes, "byte"), took.as_millis().to_string());
            if *is_error {
                phrase!("← {name} failed: {bytes} in {took} ms", name, bytes, took)
            } else {
                phrase!("← {name} done: {bytes} in {took} ms", name, bytes, took)
            }
        }
        _ => return None,
    })
}
