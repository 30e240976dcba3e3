use std::ops::Range;

use ctx_regex::Steps;

use crate::keys::{self, ParsedKey, PlainKey};
use crate::letters;
use crate::set::BookSet;

impl BookSet {
    /// Returns the first `most` byte ranges where a key of an entry matches a text.
    ///
    /// Keys with macros match nothing, because only a scan can expand them. Stops at `Limits::key_steps`.
    pub fn places(&self, member: usize, key: &str, text: &str, most: usize) -> Vec<Range<usize>> {
        let Some(member) = self.members().get(member).filter(|_| !keys::may_hold_macros(key)) else {
            return Vec::new();
        };
        match keys::parse(key, member.matching, self.limits(), &mut |_, _| {}) {
            ParsedKey::Blank => Vec::new(),
            ParsedKey::Plain(plain) => plain_places(&plain, text, most),
            ParsedKey::Regex(regex) => {
                let mut steps = Steps::new(self.limits().key_steps);
                let found = regex.find_iter_within(text, &mut steps);
                let ranges = found.map_while(Result::ok).map(|found| found.range());
                ranges.filter(|range| !range.is_empty()).take(most).collect()
            }
        }
    }
}

fn plain_places(key: &PlainKey, text: &str, most: usize) -> Vec<Range<usize>> {
    if key.matching.case_sensitive {
        return keys::find_all(text, key).take(most).collect();
    }
    let lower = letters::lower(text);
    let found = keys::find_all(&lower, key).take(most);
    if lower.len() == text.len() && text.is_ascii() {
        return found.collect();
    }
    let starts = lower_starts(text);
    let at = |lower: usize| {
        let next = starts.partition_point(|(start, _)| *start < lower);
        starts.get(next).map_or(text.len(), |(_, start)| *start)
    };
    found.map(|range| at(range.start)..at(range.end)).collect()
}

/// Start of each letter in lower case and in the original. Lengths can differ.
fn lower_starts(text: &str) -> Vec<(usize, usize)> {
    let mut lower = 0;
    let start = |(at, letter): (usize, char)| {
        let start = (lower, at);
        lower += letter.to_lowercase().map(char::len_utf8).sum::<usize>();
        start
    };
    text.char_indices().map(start).collect()
}

#[cfg(test)]
mod tests {
    use ctx_types::worldbook::Worldbook;
    use ctx_types::{Persist as _, Reader};

    use crate::{Book, BookSet, Level, Limits, Settings};

    #[track_caller]
    fn check(entry: &serde_json::Value, text: &str, expected: &[&str]) {
        let file = serde_json::json!({ "entries": [entry.clone()] });
        let book = Worldbook::read(file, &mut Reader::new());
        let (book, _) = Book::read("Sky", Level::Global, &book);
        let (set, _) = BookSet::compile([book], Settings::default(), Limits::default());
        let key = set.members()[0].entry.keys[0].clone();
        let places = set.places(0, &key, text, 3);
        let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn locates_keys_like_a_scan() {
        let key = |key: &str| serde_json::json!({ "uid": 1, "key": [key], "matchWholeWords": true });
        check(&key("moon"), "Moonlight, MOON and the moon.", &["MOON", "moon"]);
        check(&key("ground"), "İstanbul: the GROUND", &["GROUND"]);
        check(&key("/mo+n/i"), "moon mOOOn mn", &["moon", "mOOOn"]);
        check(&key("/x*/"), "abc", &[]);
        check(&key("a"), "a a a a", &["a", "a", "a"]);
        check(&key("{{char}}"), "{{char}}", &[]);
        check(
            &serde_json::json!({ "uid": 1, "key": ["Moon"], "caseSensitive": true }),
            "moon Moon",
            &["Moon"],
        );
    }
}
