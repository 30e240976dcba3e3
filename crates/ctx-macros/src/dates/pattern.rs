//! Date patterns such as `YYYY-MM-DD HH:mm`.

use jiff::Zoned;

use crate::dates::locale::Locale;
use crate::dates::moment::write_token;

/// Longer tokens precede their prefixes.
const TOKENS: [&str; 20] = [
    "YYYY", "YY", "MMMM", "MMM", "MM", "M", "dddd", "ddd", "DD", "D", "HH", "H", "hh", "h", "mm", "m", "ss",
    "s", "A", "a",
];

/// Replaces tokens and removes the brackets of `[…]`. Linear in the pattern.
pub(crate) fn format(pattern: &str, time: &Zoned, locale: &Locale) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let last_close = memchr::memrchr(b']', pattern.as_bytes()).unwrap_or(0);
    while let Some(first) = rest.chars().next() {
        let is_closed = pattern.len() - rest.len() < last_close;
        let quoted = if is_closed { split_quoted(rest) } else { None };
        let token = TOKENS.iter().find(|token| rest.starts_with(**token));
        rest = if let Some((literal, after)) = quoted {
            out.push_str(literal);
            after
        } else if let Some(token) = token {
            write_token(token, time, locale, &mut out);
            &rest[token.len()..]
        } else {
            out.push(first);
            &rest[first.len_utf8()..]
        };
    }
    out
}

pub(crate) fn has_open_bracket(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(open) = rest.find('[') {
        let Some((_, after)) = split_quoted(&rest[open..]) else { return true };
        rest = after;
    }
    false
}

fn split_quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.split_once(']')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dates::locale;

    #[track_caller]
    fn check(pattern: &str, expected: &str) {
        let time = jiff::civil::datetime(2025, 3, 9, 15, 4, 5, 0).in_tz("UTC").unwrap();
        assert_eq!(format(pattern, &time, locale::english()), expected, "{pattern:?}");
    }

    #[test]
    fn replaces_every_token() {
        check("YYYY YY MMMM MMM MM M dddd ddd DD D", "2025 25 March Mar 03 3 Sunday Sun 09 9");
        check("HH H hh h mm m ss s A a", "15 15 03 3 04 4 05 5 PM pm");
    }

    #[test]
    fn replaces_each_token_once() {
        check("MMMMdddd", "MarchSunday");
        check("MMMMM", "March3");
    }

    #[test]
    fn keeps_bracketed_text() {
        check("[at] h [o'clock, day] D[]", "at 3 o'clock, day 9");
        check("[[h]", "[h");
        check("[h", "[3");
        check("日 d dd]", "日 d dd]");
        assert!(has_open_bracket("[a] [b") && !has_open_bracket("[a] b] [c]"));
    }

    #[test]
    fn pads_years_and_keeps_sign() {
        let january = |year| jiff::civil::date(year, 1, 1).in_tz("UTC").unwrap();
        let format = |year| format("YYYY YY", &january(year), locale::english());
        assert_eq!(format(-44), "-0044 56");
        assert_eq!(format(987), "0987 87");
        assert_eq!(format(-9998), "-9998 02");
    }
}
