//! Parses and formats numbers as JavaScript does, because variables in SillyTavern and AIO Hub follow its
//! rules.

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, phrase};

use crate::codes;

/// Limits the work.
const MAX_BYTES: usize = 256;

/// 2^53: larger integers are not exact.
const INEXACT_FROM: f64 = 9_007_199_254_740_992.0;

/// Warns if the new value of a variable is too large to be exact.
pub(crate) fn inexact(name: &str, counted: f64) -> Option<Diagnostic> {
    if counted.abs() < INEXACT_FROM {
        return None;
    }
    let (name, written) = (excerpt(name), write(counted));
    let message = if counted.is_finite() {
        phrase!("variable `{name}` reaches {written}; larger integers are not exact", name, written)
    } else {
        phrase!("variable `{name}` overflows; it is now `{written}`", name, written)
    };
    Some(Diagnostic::warning(codes::INEXACT_NUMBER, message))
}

/// Parses a number like JavaScript's `Number(text)`. `None` stands for NaN, or for more than 256 bytes.
///
/// A blank text is 0. Accepts fractions, exponents, `Infinity`, `0x`, `0o`, and `0b`.
pub fn read(text: &str) -> Option<f64> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let text = ctx_types::space::trim(text);
    match text {
        "" => Some(0.0),
        "Infinity" | "+Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => radix(text).or_else(|| decimal(text)),
    }
}

/// Formats a number like JavaScript's `String(number)`: integers have no fraction; from 1e21 and below 1e-6 it
/// uses an exponent.
pub fn write(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&number.abs()) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

/// Rewrites a number in JavaScript's form. `None` if blank, not a number, or already in this form.
pub(crate) fn normal(text: &str) -> Option<String> {
    let first = text.trim_start().bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.' | b'I')) {
        return None;
    }
    read(text).map(write).filter(|written| written != text)
}

/// Values that JSON does not support become strings.
pub(crate) fn json(text: &str) -> serde_json::Value {
    let whole = text.parse::<i64>().map(serde_json::Value::from);
    let number = || text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Into::into);
    whole.ok().or_else(number).unwrap_or_else(|| text.into())
}

fn decimal(text: &str) -> Option<f64> {
    let allowed = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    if text.bytes().all(allowed) { text.parse().ok() } else { None }
}

fn radix(text: &str) -> Option<f64> {
    let digits = |base: u32, rest: &str| {
        if rest.is_empty() {
            return None;
        }
        let mut number = 0.0;
        for c in rest.chars() {
            number = number * f64::from(base) + f64::from(c.to_digit(base)?);
        }
        Some(number)
    };
    let (prefix, rest) = text.split_at_checked(2)?;
    match prefix {
        "0x" | "0X" => digits(16, rest),
        "0o" | "0O" => digits(8, rest),
        "0b" | "0B" => digits(2, rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_read(text: &str, expected: Option<&str>) {
        assert_eq!(read(text).map(write).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn reads_numbers_like_javascript() {
        check_read("", Some("0"));
        check_read(" 5 ", Some("5"));
        check_read("0x10", Some("16"));
        check_read("-0b1", None);
        check_read("0b101", Some("5"));
        check_read("1.50", Some("1.5"));
        check_read(".5", Some("0.5"));
        check_read("5.", Some("5"));
        check_read("+7", Some("7"));
        check_read("1e3", Some("1000"));
        check_read("3abc", None);
        check_read("inf", None);
        check_read("nan", None);
        check_read("Infinity", Some("Infinity"));
        check_read("-Infinity", Some("-Infinity"));
        check_read("0x", None);
        check_read("１", None);
    }

    #[test]
    fn writes_numbers_like_javascript() {
        assert_eq!(write(-0.0), "0");
        assert_eq!(write(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(write(1e20), "100000000000000000000");
        assert_eq!(write(1e21), "1e+21");
        assert_eq!(write(1.5e-7), "1.5e-7");
        assert_eq!(write(-2.0), "-2");
    }
}
