/// Limits of a book set and its scans. Reaching one is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of all books; 250,000.
    pub entries: usize,
    /// Bytes of all keys; 8 MiB. Later keys never match.
    pub key_bytes: usize,
    /// Cost of building all regular expressions, in estimated half microseconds; 400,000. Later ones use
    /// backtracking, with the same matches.
    pub key_building: usize,
    /// Searched messages; 1,000, as in SillyTavern.
    pub messages: usize,
    /// Bytes of searched text, including entries; 64 MiB.
    pub text_bytes: usize,
    /// Passes; 1,000.
    pub passes: usize,
    /// Entries times passes; 10 million. The first pass is always made.
    pub considered: usize,
    /// Steps of all regular expressions in a scan; 50 million, about half a second. Three quarters are shared
    /// evenly; the rest is for expressions that need more.
    pub regex_steps: u64,
    /// Steps of one regular expression in one text, plus 1 per 8 bytes; 1 million.
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
