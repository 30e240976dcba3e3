use ctx_types::ports::ExtractedText;

use crate::DocumentLimits;

/// Text output with a limit.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) text: String,
    max_bytes: usize,
    pub(crate) is_full: bool,
    left_out: Option<String>,
}

impl Page {
    pub(crate) fn new(limits: &DocumentLimits) -> Self {
        Self { text: String::new(), max_bytes: limits.text_bytes, is_full: false, left_out: None }
    }

    /// Adds the part of a text that fits.
    pub(crate) fn push(&mut self, text: &str) {
        let room = self.max_bytes.saturating_sub(self.text.len());
        if text.len() <= room {
            return self.text.push_str(text);
        }
        let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        self.text.push_str(text.get(..end).unwrap_or_default());
        self.is_full = true;
        let most = self.max_bytes;
        self.note_omission(|| format!("omitted text after the first {most} bytes"));
    }

    pub(crate) fn break_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    /// Only the first note is kept.
    pub(crate) fn note_omission(&mut self, what: impl FnOnce() -> String) {
        self.left_out.get_or_insert_with(what);
    }

    pub(crate) fn finish(self) -> ExtractedText {
        ExtractedText { text: self.text.into(), left_out: self.left_out.map(Into::into) }
    }
}
