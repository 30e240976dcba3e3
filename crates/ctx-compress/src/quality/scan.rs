//! Finding the facts of a text.
//!
//! Patterns run in order. Each blanks out the facts that it finds, so later patterns do not find parts of them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::quality::dates::{CLOCKS, DAYS, WEEKDAY, clock, days, weekday};
use crate::quality::fact::FactKind;
use crate::quality::key::{Key, is_han};
use crate::quality::names::{NAME, name};
use crate::quality::numbers::{NUMBER, ONE, amount, is_measure};
use crate::quality::passage::Form;

/// A fact and its place in a text.
#[derive(Clone, Debug)]
pub(crate) struct FoundFact {
    pub(crate) kind: FactKind,
    pub(super) key: Key,
    pub(crate) bytes: Range<usize>,
    /// Whether it says too little to be reported, but enough to support a fact of the other side.
    pub(crate) is_weak: bool,
}

/// Stands in for a byte of a fact.
pub(super) const TAKEN: char = '\u{1}';

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Finds the facts of a text, in their order. O(bytes).
pub(crate) fn scan(text: &str, form: Form) -> Vec<FoundFact> {
    let mut scanner = Scanner { text, form, rest: text.to_owned(), found: Vec::new() };
    scanner.take(&URL, |_, found| Some(literal(FactKind::Identifier, url(found))));
    scanner.take(&PATH, path);
    for pattern in DAYS.iter() {
        scanner.take_days(pattern);
    }
    for pattern in CLOCKS.iter() {
        scanner.take(pattern, |text, found| {
            // `main.rs:12:30` has a line; `start:12:30` has a time.
            let before = text.text[..found.get(0)?.start()].strip_suffix([':', '.']);
            let is_within =
                before.is_some_and(|before| before.ends_with(|c: char| c == TAKEN || c.is_ascii_digit()));
            let is_longer = text.after(found.get(0)?.end()).is_some_and(|c| c.is_ascii_digit());
            let clock = clock(found).filter(|_| !is_within && !is_longer)?;
            Some(fact(FactKind::Date, Key::Clock(clock), found))
        });
    }
    scanner.take(&WEEKDAY, |text, found| {
        // `一周三次` is three times a week.
        let is_count = text.before(found.get(0)?.start()).is_some_and(|c| "一两几".contains(c));
        weekday(found).filter(|_| !is_count).map(|key| fact(FactKind::Date, key, found))
    });
    scanner.take(&IDENTIFIER, identifier);
    if form == Form::Prose {
        scanner.take(&CODE_SPAN, code_span);
    }
    scanner.take(&NUMBER, number);
    if form == Form::Prose {
        scanner.blank_out(&CODE_BLOCK);
        scanner.take_quotes();
    }
    scanner.take(&NAME, name);
    scanner.found.sort_by_key(|found| found.bytes.start);
    scanner.found
}

/// A text of which some bytes are taken.
#[derive(Clone, Copy)]
pub(super) struct Remainder<'a> {
    /// The text with [`TAKEN`] in place of facts.
    pub(super) text: &'a str,
    whole: &'a str,
    pub(super) form: Form,
}

impl Remainder<'_> {
    pub(super) fn before(&self, at: usize) -> Option<char> {
        self.text[..at].chars().next_back()
    }

    pub(super) fn after(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    /// Returns whether bytes begin or end within a word.
    pub(super) fn cuts_word(&self, bytes: &Range<usize>) -> bool {
        let is_letter = |c: char| c.is_alphanumeric() && !is_han(c);
        let borders =
            |at: usize| self.whole[..at].ends_with(is_letter) && self.whole[at..].starts_with(is_letter);
        borders(bytes.start) || borders(bytes.end)
    }

    /// Returns whether bytes are a key of a JSON object.
    fn is_json_key(&self, bytes: &Range<usize>) -> bool {
        self.form == Form::Json
            && self.before(bytes.start) == Some('"')
            && self.text[bytes.end..].strip_prefix('"').is_some_and(|rest| rest.trim_start().starts_with(':'))
    }
}

struct Scanner<'a> {
    text: &'a str,
    form: Form,
    /// The text with blanks in place of facts.
    rest: String,
    found: Vec<FoundFact>,
}

impl Scanner<'_> {
    fn take(&mut self, pattern: &Regex, read: impl Fn(Remainder<'_>, &Captures<'_>) -> Option<FoundFact>) {
        let remainder = Remainder { text: &self.rest, whole: self.text, form: self.form };
        let (mut end, first) = (0, self.found.len());
        for captures in pattern.captures_iter(&self.rest) {
            let fact = read(remainder, &captures).filter(|fact| fact.bytes.start >= end);
            if let Some(mut fact) = fact {
                end = fact.bytes.end;
                fact.is_weak |= remainder.is_json_key(&fact.bytes);
                self.found.push(fact);
            }
        }
        self.blank_all(self.found[first..].iter().map(|found| found.bytes.clone()).collect());
    }

    /// Takes days, and the second days of ranges.
    fn take_days(&mut self, pattern: &Regex) {
        let mut taken = Vec::new();
        for captures in pattern.captures_iter(&self.rest) {
            let Some((day, second)) = days(&captures) else { continue };
            let whole = captures.get_match().range();
            taken.push(whole.clone());
            let mut push = |day, bytes| {
                self.found.push(FoundFact {
                    kind: FactKind::Date,
                    key: Key::Day(day),
                    bytes,
                    is_weak: false,
                });
            };
            match second.zip(captures.name("d").zip(captures.name("to"))) {
                Some((second, (first_group, second_group))) => {
                    push(day, whole.start..first_group.end());
                    push(second, second_group.range());
                }
                None => push(day, whole),
            }
        }
        self.blank_all(taken);
    }

    /// Takes quotations. Names are searched in quoted sentences, not in titles.
    fn take_quotes(&mut self) {
        const MOST_WORDS_OF_TITLE: usize = 8;
        let mut titles = Vec::new();
        for captures in QUOTE.captures_iter(&self.rest) {
            let whole = captures.name("quote").or(captures.get(0)).expect("a match has a range");
            let inner = whole.as_str().trim_matches(|c: char| !c.is_alphanumeric());
            if inner.chars().filter(|c| c.is_alphanumeric()).count() < 2 {
                continue;
            }
            let bytes = whole.range();
            let is_sentence = whole.as_str().contains(['.', '!', '?', '。', '！', '？', ','])
                || inner.split_whitespace().count() > MOST_WORDS_OF_TITLE;
            if !is_sentence {
                titles.push(bytes.clone());
            }
            let key = Key::words(&self.text[bytes.clone()]);
            self.found.push(FoundFact { kind: FactKind::Quote, key, bytes, is_weak: false });
        }
        self.blank_all(titles);
    }

    fn blank_out(&mut self, pattern: &Regex) {
        let ranges: Vec<Range<usize>> = pattern.find_iter(&self.rest).map(|found| found.range()).collect();
        self.blank_all(ranges);
    }

    fn blank_all(&mut self, ranges: Vec<Range<usize>>) {
        for bytes in ranges {
            let blanks: String = std::iter::repeat_n(TAKEN, bytes.len()).collect();
            self.rest.replace_range(bytes, &blanks);
        }
    }
}

fn fact(kind: FactKind, key: Key, found: &Captures<'_>) -> FoundFact {
    FoundFact { kind, key, bytes: found.get_match().range(), is_weak: false }
}

/// Some bytes of a text that are a fact.
#[derive(Clone, Copy)]
struct Span<'a> {
    text: &'a str,
    start: usize,
}

fn literal(kind: FactKind, span: Span<'_>) -> FoundFact {
    let bytes = span.start..span.start + span.text.len();
    FoundFact { kind, key: Key::literal(span.text), bytes, is_weak: false }
}

static URL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i-u:https?|ftp|wss?|file)://[^\s<>"'`{}|\\\x01，。；、！？（）「」“”《》]+|[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"#,
    )
});

fn url<'a>(found: &Captures<'a>) -> Span<'a> {
    let found = found.get_match();
    Span {
        text: found.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*']),
        start: found.start(),
    }
}

static PATH: LazyLock<Regex> = LazyLock::new(|| {
    // A component excludes Chinese characters, which precede paths without a blank.
    let part = r"[\p{Latin}\p{Greek}\p{Cyrillic}0-9_@.+-]";
    let extension = "rs|py|ipynb|js|mjs|jsx|ts|tsx|vue|json|jsonl|ya?ml|toml|ini|conf|cfg|env|lock|md|txt|log|csv|tsv|\
        html?|css|scss|go|java|kt|c|cc|cpp|h|hpp|cs|rb|php|swift|sh|bat|ps1|sql|db|xml|pdf|docx?|xlsx?|pptx?|\
        png|jpe?g|gif|svg|webp|mp[34]|wav|zip|gz|tar|exe|dll|so|wasm";
    pattern(&format!(
        r"(?:[A-Za-z]:[\\/]+|~/|\.{{1,2}}/|/)(?:{part}+[\\/]*)+|{part}+(?:[\\/]+{part}+)+/?|{part}+\.(?:{extension})(?-u:\b)"
    ))
});

fn path(text: Remainder<'_>, found: &Captures<'_>) -> Option<FoundFact> {
    let found = found.get_match();
    let whole = found.as_str().trim_end_matches(['.', '-', ',']);
    let span = Span { text: whole, start: found.start() };
    let is_behind = |c: char| c.is_alphanumeric() || c == TAKEN || c == '<' || c == '/';
    let parts: Vec<&str> = whole.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let has_letters = |part: &str| part.contains(char::is_alphabetic);
    let is_dotted = |part: &str| {
        part.rsplit_once('.').is_some_and(|(_, end)| end.len() > 1 && end.len() < 7 && has_letters(end))
    };
    let is_path =
        if whole.starts_with(['/', '~', '.']) || whole.get(1..).is_some_and(|rest| rest.starts_with(':')) {
            parts.iter().any(|part| part.len() > 1 && has_letters(part)) && !whole.starts_with("...")
        } else {
            // Excludes `and/or`, `24/7` and `km/h`.
            parts.iter().all(|part| has_letters(part) || parts.len() > 2)
                && parts.iter().any(|part| has_letters(part))
                && (parts.len() != 2
                    || parts.iter().any(|part| is_dotted(part) || part.contains('_'))
                    || whole.ends_with('/'))
        };
    let is_part = text.before(span.start).is_some_and(is_behind);
    (is_path && !is_part && whole.len() > 3).then(|| literal(FactKind::Path, span))
}

static IDENTIFIER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:--|@)?[A-Za-z0-9_]+(?:[-.][A-Za-z0-9_]+)*|\+[0-9](?:[ -]?[0-9]){6,}"));

fn identifier(text: Remainder<'_>, found: &Captures<'_>) -> Option<FoundFact> {
    /// Longer runs are encodings, such as base64.
    const LONGEST: usize = 128;
    let found = found.get_match();
    let token = found.as_str();
    let bare = token.trim_start_matches(['-', '@', '_']);
    let is_part = text.cuts_word(&found.range());
    if bare.len() < 2 || token.len() > LONGEST || is_part {
        return None;
    }
    let mut fact = literal(FactKind::Identifier, Span { text: token, start: found.start() });
    fact.is_weak = text.form == Form::Output && bare.len() <= 4;
    (is_flag(token, bare) || is_code(bare) || is_digit_code(bare)).then_some(fact)
}

/// Returns whether a token is `--flag` or `@handle`.
fn is_flag(token: &str, bare: &str) -> bool {
    token.starts_with(['-', '@']) && bare.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns whether a token is an id such as `AB-1234`, a version such as `v1.2`, or `snake_case` or `camelCase`.
fn is_code(token: &str) -> bool {
    let has = |is: fn(&char) -> bool| token.chars().any(|c| is(&c));
    let has_letters = has(char::is_ascii_alphabetic);
    if !has_letters {
        return false;
    }
    if has(char::is_ascii_digit) {
        let digits = token.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let first = digits.split(['-', '.', '_']).next().unwrap_or_default();
        // `5kg`, `20-year-old` and `1990s` are numbers, `sentence.2` is the end of one and a list.
        let is_number = digits.len() < token.len()
            && (is_measure(first) || digits == "s")
            && !digits[first.len()..].contains(|c: char| c.is_ascii_digit());
        let is_hyphenated = digits.len() < token.len()
            && digits
                .strip_prefix('-')
                .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        return !is_number && !is_hyphenated;
    }
    let is_snake = token.contains('_') && !token.starts_with('_') && !token.ends_with('_');
    let is_camel = token.starts_with(|c: char| c.is_ascii_lowercase()) && has(char::is_ascii_uppercase);
    is_snake || is_camel && !token.contains(['-', '.'])
}

/// Returns whether a token is a version, an IP address, a telephone number or a long code.
fn is_digit_code(token: &str) -> bool {
    const LONGEST_NUMBER: usize = 15;
    const SHORTEST_TELEPHONE: usize = 7;
    if token.contains(char::is_alphabetic) {
        return false;
    }
    let groups: Vec<&str> = token.split(['-', ' ', '.', '+']).filter(|group| !group.is_empty()).collect();
    let digits: usize = groups.iter().map(|group| group.len()).sum();
    let is_range_of_years = groups.len() == 2 && groups.iter().all(|group| group.len() == 4);
    let is_telephone = token.contains(['-', '+']) && digits >= SHORTEST_TELEPHONE && !is_range_of_years;
    let is_version = groups.len() > 2 && !token.contains(['-', '+']);
    is_telephone || is_version || digits > LONGEST_NUMBER
}

static CODE_SPAN: LazyLock<Regex> = LazyLock::new(|| pattern(r"`(?<code>[^`\n]{1,100})`"));

fn code_span(_: Remainder<'_>, found: &Captures<'_>) -> Option<FoundFact> {
    let code = found.name("code")?;
    let is_word = code.as_str().contains(|c: char| c.is_alphanumeric());
    // Excludes spans with a path, a number or an id, which is already a fact.
    (is_word && !code.as_str().contains(TAKEN)).then(|| FoundFact {
        kind: FactKind::Identifier,
        key: Key::words(code.as_str()),
        bytes: code.range(),
        is_weak: false,
    })
}

/// Numbers up to this one, without a unit, say too little to be reported.
const SMALL: i128 = 12 * ONE;

fn number(text: Remainder<'_>, found: &Captures<'_>) -> Option<FoundFact> {
    let read = amount(text.text, found)?;
    let whole = found.get_match();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = text.before(whole.start());
    let is_minus = found.name("minus").is_some();
    let is_part = before.is_some_and(|c| is_letter(c) || c == '.' || is_minus && (c == ')' || c == TAKEN));
    let is_longer = text.text[whole.end()..].starts_with(|c: char| c.is_ascii_digit());
    // `一个` is an article.
    let is_single = !read.is_digits && whole.as_str().chars().count() == 1 && read.amount.unit.is_empty();
    if is_part && !is_minus || is_longer || is_single {
        return None;
    }
    // `10-20` is a range.
    let (start, amount) = if is_minus && is_part {
        let mut positive = read.amount;
        (positive.number, positive.base) = (-positive.number, -positive.base);
        (found.name("digits")?.start(), positive)
    } else {
        (whole.start(), read.amount)
    };
    let is_bare = amount.unit.is_empty();
    let is_weak = is_bare && (amount.number.abs() <= SMALL || is_line_number(text, start..read.end));
    let key = Key::Amount(amount);
    Some(FoundFact { kind: FactKind::Number, key, bytes: start..read.end, is_weak })
}

/// Returns whether a number is that of an item or a line: `1.`, `2)`, `main.rs:42`.
fn is_line_number(text: Remainder<'_>, bytes: Range<usize>) -> bool {
    let rest = &text.text[bytes.end..];
    let line = text.text[..bytes.start].trim_end_matches([' ', '\t', '*', '#', '>', '[', '(']);
    let is_first = line.is_empty() || line.ends_with('\n');
    let is_item = rest.starts_with(['.', ')', ']', '|', '\t', ':', '、']) || rest.starts_with("  ");
    let is_of_file = line.strip_suffix(':').is_some_and(|line| line.ends_with(TAKEN));
    is_first && is_item || is_of_file
}

static CODE_BLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)```.*?(?:```|\z)"));

static QUOTE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"“[^“”\n]{2,100}”|「[^「」\n]{2,100}」|『[^『』\n]{2,100}』|《[^《》\n]{2,100}》|(?:^|[^A-Za-z0-9"\\=])(?<quote>"[^"\s,.;:)](?:[^"\n]{0,100}[^"\s])?")"#,
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the facts to report, as `kind text`.
    #[track_caller]
    fn check(form: Form, text: &str, expected: &[&str]) {
        let found = scan(text, form).into_iter().filter(|found| !found.is_weak);
        let shown: Vec<String> =
            found.map(|found| format!("{} {}", found.kind, &text[found.bytes])).collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn finds_each_kind_once() {
        check(
            Form::Prose,
            "See https://a.b/c?d=1, ada@b.cd and src/a/b.rs by 5 May, 7:15 pm: AB-1234 costs $1,200 at “The Mill”, says Ada Bell.",
            &[
                "identifier https://a.b/c?d=1",
                "identifier ada@b.cd",
                "path src/a/b.rs",
                "date 5 May",
                "date 7:15 pm",
                "identifier AB-1234",
                "number $1,200",
                "quote “The Mill”",
                "name Ada Bell",
            ],
        );
        check(
            Form::Prose,
            "周三下午两点半见，带三十五元和《沉默的车站》，编号 KX-90820。",
            &[
                "date 周三",
                "date 下午两点半",
                "number 三十五元",
                "quote 《沉默的车站》",
                "identifier KX-90820",
            ],
        );
    }

    #[test]
    fn knows_identifiers_by_their_shape() {
        check(
            Form::Prose,
            "v1.2.3, plm_4187, getUserName, --force, @ada, +44 20 7946 0958, 138-5712-0046, 10.0.0.1",
            &[
                "identifier v1.2.3",
                "identifier plm_4187",
                "identifier getUserName",
                "identifier --force",
                "identifier @ada",
                "identifier +44 20 7946 0958",
                "identifier 138-5712-0046",
                "identifier 10.0.0.1",
            ],
        );
        check(
            Form::Prose,
            "A 20-year-old well-kept 5-bedroom house, and/or 3rd km/h",
            &["number 20-year-old"],
        );
        check(Form::Prose, "run `cargo test` now", &["identifier cargo test"]);
    }

    #[test]
    fn reports_no_numbers_of_lines_and_items() {
        check(Form::Prose, "start:12:30", &["date 12:30"]);
        check(Form::Prose, "13. Pay 1,200\n14) Go\nsrc/a.rs:42: it", &["number 1,200", "path src/a.rs"]);
    }

    #[test]
    fn reports_values_of_json_and_not_keys() {
        check(
            Form::Json,
            r#"{"order_id":"plm_4187","city":"Lisbon","seats":4,"price":1500}"#,
            &["identifier plm_4187", "name Lisbon", "number 1500"],
        );
    }

    #[test]
    fn reads_quotes_of_prose() {
        check(
            Form::Prose,
            r#"He said "I will never sell it", not 5" or "x"."#,
            &[r#"quote "I will never sell it""#],
        );
        check(Form::Prose, "```\nlet s = \"a title\";\n```", &[]);
    }
}
