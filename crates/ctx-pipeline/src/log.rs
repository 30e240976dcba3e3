//! The log of one stage, which has limits.

use ctx_types::{LogLine, count_of, phrase};

/// How many lines one stage may log.
const MAX_LINES: usize = 1_000;

/// How many bytes the details of one line may have, as compact JSON.
const MAX_DETAILS: usize = 16 * 1024;

/// The lines that a stage logged so far.
#[derive(Debug, Default)]
pub(crate) struct StageLog {
    lines: Vec<LogLine>,
    /// How many lines there was no room for.
    more: usize,
}

impl StageLog {
    /// Adds a line, if there is room for it. O(size of the details).
    pub(crate) fn push(&mut self, line: LogLine) {
        match self.lines.len() {
            0..MAX_LINES => self.lines.push(bounded(line)),
            _ => self.more += 1,
        }
    }

    /// Adds a line, room or not; for what the runner itself says, which is little.
    pub(crate) fn insist(&mut self, line: LogLine) {
        self.count_missing();
        self.lines.push(bounded(line));
    }

    /// Returns the lines; one of them counts those that are missing.
    pub(crate) fn finish(mut self) -> Vec<LogLine> {
        self.count_missing();
        self.lines
    }

    fn count_missing(&mut self) {
        if self.more > 0 {
            self.lines.push(LogLine::warn(phrase!("and {lines}", lines = count_of!(self.more, "more line"))));
            self.more = 0;
        }
    }
}

/// Leaves out details that are too long, and says so.
fn bounded(mut line: LogLine) -> LogLine {
    let len = line.details.as_ref().map_or(0, |details| details.to_string().len());
    if len > MAX_DETAILS {
        line.details = None;
        line.message =
            phrase!("{message} ({bytes} bytes of details omitted)", message = line.message, bytes = len);
    }
    line
}
