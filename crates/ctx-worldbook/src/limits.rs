//! How much a scan may do.

/// How much a set of books may hold, and one scan may do; reaching a limit is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of all books together; 250,000. More are not considered.
    pub entries: usize,
    /// Bytes of all keys together; 8 MiB. Entries beyond have no keys.
    pub key_bytes: usize,
    /// How long building the regular expressions of all keys may take, in estimated half microseconds; 400,000. Those
    /// beyond are matched by backtracking, which finds the same.
    pub key_building: usize,
    /// How many messages can be searched; 1,000, as SillyTavern has it.
    pub messages: usize,
    /// Bytes of text that one scan searches, texts of entries included; 64 MiB.
    pub text_bytes: usize,
    /// How often entries are considered in one scan; 1,000.
    pub passes: usize,
    /// How many entries are considered in one scan, each time counted; 10 million, so that 250,000 entries are
    /// considered 40 times. All are considered once at least.
    pub considered: usize,
    /// Steps of all regular expressions of one scan; 50 million, some half a second. Most of them are shared out
    /// evenly, the rest is for whoever needs more.
    pub regex_steps: u64,
    /// Steps of one regular expression in one text, beside one for each 8 bytes of it; 1 million.
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
