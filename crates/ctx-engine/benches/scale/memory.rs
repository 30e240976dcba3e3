//! The memory that an assembly takes beside the loaded conversation, as the system sees it.

use std::fs;
use std::hint::black_box;

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::conversation::{Conversation, turn, warm};

/// What was found at one size, in bytes; nothing where the system does not tell.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// The resident memory with the conversation loaded, before anything was assembled.
    pub(crate) loaded: Option<u64>,
    /// What the first assembly took beside it, at its peak.
    pub(crate) above: Option<u64>,
}

/// Measures one size.
pub(crate) fn measure(size: usize) -> Outcome<Memory> {
    let (compiled, turn) = (warm(), turn());
    let session = Conversation::new(1).session(size);
    // Linux: from now on the peak is counted anew.
    let is_reset = fs::write("/proc/self/clear_refs", "5").is_ok();
    let loaded = status("VmRSS").filter(|_| is_reset);
    let context = compiled.assemble_blocking(&session, &turn)?;
    let peak = status("VmHWM");
    black_box((session, context));
    Ok(Memory { loaded, above: peak.zip(loaded).map(|(peak, loaded)| peak.saturating_sub(loaded)) })
}

/// Reads a line of `/proc/self/status`, which is in units of 1,024 bytes.
fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number * 1_024)
}
