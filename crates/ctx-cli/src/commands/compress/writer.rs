//! Who writes summaries for a command line, and how long that may take.

use anyhow::{Context as _, Result};
use ctx_compress::mask::{Extraction, MaskDraft, MaskPlan, Summarizing, SummaryFailure, extract};
use ctx_tokens::Counter;
use ctx_types::Summarizer;
use tokio::runtime::Runtime;

use crate::args::{SummarizerArguments, SummarizerChoice};
use crate::commands::compress::program::Program;
use crate::commands::compress::waiting::{Interrupts, Until};

/// Writes summaries: from the messages' own sentences, or by a program.
pub(super) struct Writer {
    program: Option<(Program, Runtime, Interrupts)>,
}

impl Writer {
    /// Takes the one that the command line names.
    pub(super) fn of(arguments: &SummarizerArguments) -> Result<Self> {
        let SummarizerChoice::Program(command) = &arguments.summarizer else {
            return Ok(Self { program: None });
        };
        let program = Program::parse(command, arguments.summarizer_window)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot wait for a program")?;
        let interrupts =
            runtime.block_on(async { Interrupts::new() }).context("cannot wait for a program")?;
        Ok(Self { program: Some((program, runtime, interrupts)) })
    }

    /// Tells whether it may take so long that a file changes meanwhile.
    pub(super) const fn takes_time(&self) -> bool {
        self.program.is_some()
    }

    /// Writes the summary of a plan. A program that fails is not stood in for.
    pub(super) fn write(&mut self, plan: MaskPlan, counter: Counter) -> Result<MaskDraft, SummaryFailure> {
        let Some((program, runtime, interrupts)) = &mut self.program else {
            let own = |from: &Extraction<'_>| extract(from, &counter);
            let with =
                Summarizing { summarizer: None, deadline: None, counter: &counter, extract: Some(&own) };
            return pollster::block_on(plan.summarize(&with));
        };
        let deadline = Until::default();
        let summarizer: &dyn Summarizer = program;
        let with = Summarizing {
            summarizer: Some(summarizer),
            deadline: Some(&deadline),
            counter: &counter,
            extract: None,
        };
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = interrupts.next() => Err(SummaryFailure::Stopped),
                draft = plan.summarize(&with) => draft,
            }
        })
    }
}
