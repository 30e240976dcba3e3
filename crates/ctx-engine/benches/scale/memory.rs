use std::fs;
use std::hint::black_box;

use peak_alloc::PeakAlloc;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::conversation::{Conversation, Variables, turn, warm};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Bytes; `None` if the system does not report them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) loaded: Option<u64>,
    pub(crate) heap: u64,
    pub(crate) resident: Option<u64>,
}

pub(crate) fn measure(size: usize, variables: Variables) -> Outcome<Memory> {
    let (compiled, turn) = (warm(variables), turn());
    let session = Conversation::new(1, variables).session(size);
    let is_reset = fs::write("/proc/self/clear_refs", "5").is_ok();
    let loaded = status("VmRSS").filter(|_| is_reset);
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let context = compiled.assemble_blocking(&session, &turn)?;
    let heap = HEAP.peak_usage().saturating_sub(before) as u64;
    let peak = status("VmHWM");
    black_box((session, context));
    let resident = peak.zip(loaded).map(|(peak, loaded)| peak.saturating_sub(loaded));
    Ok(Memory { loaded, heap, resident })
}

/// `/proc/self/status` uses units of 1,024 bytes.
fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number * 1_024)
}
