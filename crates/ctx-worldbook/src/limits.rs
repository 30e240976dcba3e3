/// Limits of a book set and its scans. Reaching one is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of all books. Default: 250,000.
    pub entries: usize,
    /// Bytes of all keys. Later keys never match. Default: 8 MiB.
    pub key_bytes: usize,
    /// Cost of building all regular expressions, in estimated half microseconds. Later ones use backtracking,
    /// with the same matches. Default: 400,000.
    pub key_building: usize,
    /// Searched messages. Default: 1,000, as in SillyTavern.
    pub messages: usize,
    /// Bytes of searched text, including entries. Default: 64 MiB.
    pub text_bytes: usize,
    /// Passes. Default: 1,000.
    pub passes: usize,
    /// Entries times passes. The first pass is always made. Default: 10 million.
    pub considered: usize,
    /// Steps of all regular expressions in a scan. One search may use 1/32 of the remaining steps, plus 1 per
    /// 8 bytes. Default: 50 million, about half a second.
    pub regex_steps: u64,
    /// Steps of one regular expression in one text, plus 1 per 8 bytes. Default: 1 million.
    pub key_steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 250_000,
            key_bytes: 8 << 20,
            key_building: 400_000,
            messages: 1_000,
            text_bytes: 64 << 20,
            passes: 1_000,
            considered: 10_000_000,
            regex_steps: 50_000_000,
            key_steps: 1_000_000,
        }
    }
}
