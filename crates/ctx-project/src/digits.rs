//! Numbers with more digits than memory holds: they are lost where a file is written anew.

use std::borrow::Cow;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Span, phrase};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::Value;

use crate::codes;
use crate::files;

/// A number as a file has it, and where it stands there.
type Number<'t> = (Cow<'t, str>, Span);

/// Reports that a number of a file loses digits where values are written that come from it, at the first such number.
///
/// A number that is not among the values is left out and not changed: that is told elsewhere.
pub fn lost<'v>(bytes: &[u8], written: impl IntoIterator<Item = &'v Value>) -> Option<Diagnostic> {
    let text = std::str::from_utf8(bytes).ok()?;
    let long = || numbers(text).filter(|(number, _)| loses_digits(number));
    // Most files have none, and their values are not looked at.
    long().next()?;
    let written: Vec<String> = written.into_iter().map(Value::to_string).collect();
    let is_written =
        |kept: &str| written.iter().any(|text| files::numbers(text).any(|number| number == kept));
    let mut long = long().filter_map(|(number, place)| Some((held(&number)?, number, place)));
    let (kept, number, place) = long.find(|(kept, ..)| is_written(kept))?;
    let message =
        phrase!("`{number}` has too many digits and becomes `{kept}`", number = excerpt(&number), kept);
    let found = Diagnostic::warning(codes::LOST_DIGITS, message).at_span(place);
    Some(found.with_help(phrase!("write it as a string in the source file")))
}

/// Returns the first number of a text, and its place, that has digits which memory does not hold.
pub fn first(text: &str) -> Option<(String, Span)> {
    let (number, place) = numbers(text).find(|(number, _)| loses_digits(number))?;
    Some((number.into_owned(), place))
}

/// The numbers of a text: of JSON, of one value or of several, else of YAML.
fn numbers(text: &str) -> Box<dyn Iterator<Item = Number<'_>> + '_> {
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) {
        return Box::new(scalars(text));
    }
    let place = |number: &str| (number.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    Box::new(files::numbers(text).map(move |number| {
        let start = place(number);
        (number.into(), Span::new(start, start + number.len()))
    }))
}

/// The plain scalars of YAML, as far as it can be read.
fn scalars(text: &str) -> impl Iterator<Item = Number<'_>> {
    // This parser counts characters, and takes no tab between a key and its value.
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let byte = move |index: usize| bytes.get(index).copied().unwrap_or(text.len());
    let spaced = text.replace('\t', " ");
    let mut found = Vec::new();
    for event in Parser::new_from_str(&spaced) {
        let Ok((event, span)) = event else { break };
        if let Event::Scalar(value, ScalarStyle::Plain, ..) = event {
            let place = Span::new(byte(span.start.index()), byte(span.end.index()));
            found.push((Cow::Owned(value.into_owned()), place));
        }
    }
    found.into_iter()
}

/// How memory holds a number, written as JSON.
fn held(text: &str) -> Option<String> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let number = text.parse::<f64>().ok().filter(|number| is_number && number.is_finite())?;
    Some(Value::from(number).to_string())
}

/// Returns whether a number has digits that memory does not hold.
fn loses_digits(text: &str) -> bool {
    text.parse::<i64>().is_err()
        && text.parse::<u64>().is_err()
        && held(text).is_some_and(|held| significant(text) != significant(&held))
}

/// The digits of a number but for zeros at its ends.
fn significant(number: &str) -> String {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn digits_are_lost_where_there_are_too_many() {
        for kept in [
            "1.10",
            "0x10",
            "1e5",
            "18446744073709551615",
            "-9007199254740993",
            "0.1",
            "100000000000000000000000",
            "x",
            "1.2.3",
            "nan",
            "1e999",
        ] {
            assert!(!loses_digits(kept), "{kept}");
        }
        for lost in ["123456789012345678901", "-0.12345678901234567890", "1.2345678901234567890e5"] {
            assert!(loses_digits(lost), "{lost}");
        }
    }

    #[test]
    fn a_number_is_told_where_it_is_written() {
        let value = json!({ "b": 123_456_789_012_345_678_901_f64 });
        for text in
            ["{\"b\": 123456789012345678901}", "b: 123456789012345678901", "{}\n[123456789012345678901]"]
        {
            let found = lost(text.as_bytes(), [&value]).unwrap();
            let span = found.location.span.unwrap();
            assert_eq!(&text[span.start..span.end], "123456789012345678901");
            assert!(lost(text.as_bytes(), [&json!({})]).is_none());
        }
        assert!(lost(b"{\"b\": \"123456789012345678901\"}", [&value]).is_none());
        assert!(lost(b"b: '123456789012345678901'", [&value]).is_none());
    }
}
