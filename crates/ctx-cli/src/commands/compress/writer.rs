//! Who writes summaries for a command line, and how long that may take.

use anyhow::{Context as _, Result};
use ctx_compress::mask::{Extraction, MaskConfig, MaskDraft, MaskPlan, Summarizing, SummaryFailure, extract};
use ctx_tokens::Counter;
use ctx_types::{Summarizer, phrase};
use tokio::runtime::Runtime;

use crate::args::SummarizerArguments;
use crate::commands::compress::waiting::{Interrupts, Until};
use crate::lang::Told;
use ctx_project::compress;
use ctx_project::config::Config;

/// Writes summaries: from the messages' own sentences, or by somebody else who is waited for.
pub(super) struct Writer {
    other: Option<(Box<dyn Summarizer>, Runtime, Interrupts)>,
}

impl Writer {
    /// Takes the one that the command line names.
    pub(super) fn of(
        arguments: &SummarizerArguments,
        settings: &MaskConfig,
        config: &Config,
    ) -> Result<Self> {
        let Some(summarizer) = compress::summarizer(&arguments.into(), settings, config)? else {
            return Ok(Self { other: None });
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context(no_wait())?;
        let interrupts = runtime.block_on(async { Interrupts::new() }).context(no_wait())?;
        Ok(Self { other: Some((summarizer, runtime, interrupts)) })
    }

    /// Returns whether it may take so long that a file changes meanwhile.
    pub(super) const fn takes_time(&self) -> bool {
        self.other.is_some()
    }

    /// Writes the summary of a plan. Who fails is not stood in for.
    pub(super) fn write(&mut self, plan: MaskPlan, counter: Counter) -> Result<MaskDraft, SummaryFailure> {
        let Some((summarizer, runtime, interrupts)) = &mut self.other else {
            let own = |from: &Extraction<'_>| extract(from, &counter);
            let with =
                Summarizing { summarizer: None, deadline: None, counter: &counter, extract: Some(&own) };
            return pollster::block_on(plan.summarize(&with));
        };
        let deadline = Until::default();
        let with = Summarizing {
            summarizer: Some(&**summarizer),
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

fn no_wait() -> Told {
    Told(phrase!("cannot wait for a summary"))
}
