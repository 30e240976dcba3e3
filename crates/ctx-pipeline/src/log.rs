use ctx_types::session::LogLine;
use ctx_types::{count_of, phrase};

const MAX_LINES: usize = 1_000;

/// Size as compact JSON.
const MAX_DETAILS: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(crate) struct StageLog {
    lines: Vec<LogLine>,
    more: usize,
}

impl StageLog {
    pub(crate) fn push(&mut self, line: LogLine) {
        match self.lines.len() {
            0..MAX_LINES => self.lines.push(bounded(line)),
            _ => self.more += 1,
        }
    }

    /// Ignores the line limit; for the few lines of the runner itself.
    pub(crate) fn push_unlimited(&mut self, line: LogLine) {
        self.count_missing();
        self.lines.push(bounded(line));
    }

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

fn bounded(mut line: LogLine) -> LogLine {
    let len = line.details.as_ref().map_or(0, |details| details.to_string().len());
    if len > MAX_DETAILS {
        line.details = None;
        line.message =
            phrase!("{message} ({bytes} bytes of details omitted)", message = line.message, bytes = len);
    }
    line
}
