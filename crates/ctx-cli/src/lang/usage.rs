//! Errors of the command line in another language than English, from what the parser knows of them.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use ctx_language::Language;
use ctx_project::error::ProjectError;
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, phrase};

use crate::lang;
use crate::show::clean;

/// Writes an error: what is wrong, what may be meant, and how the command is used.
pub(crate) fn told(language: Language, error: &Error) -> String {
    let say = |phrase: &Phrase| lang::say(language, phrase);
    let Some(wrong) = wrong(error) else {
        // A command without a subcommand shows its help.
        return lang::help::laid_out(&clean(&error.render().to_string()));
    };
    let values = several(error, ContextKind::ValidValue);
    let values = (!values.is_empty())
        .then(|| phrase!("possible values: {values}", values = Argument::list(values, Divider::Comma)));
    let values = values.map(|values| format!("[{}]", say(&values)));
    let head = [say(&phrase!("error: {error}", error = wrong))].into_iter();
    let head: Vec<String> = head.chain(arguments(error).iter().cloned()).chain(values).collect();
    let head = head.join("\n  ");
    let tips: Vec<String> =
        tips(error).map(|tip| format!("  {}", say(&phrase!("tip: {tip}", tip)))).collect();
    let usage = of(error, ContextKind::Usage).map(|usage| {
        let usage = usage.strip_prefix("Usage: ").map(str::to_owned).unwrap_or(usage);
        say(&phrase!("Usage: {usage}", usage))
    });
    let more = say(&phrase!("For more information, try '--help'."));
    let tips = (!tips.is_empty()).then(|| tips.join("\n"));
    let parts = [head].into_iter().chain(tips).chain(usage).chain([more]);
    let text = parts.collect::<Vec<_>>().join("\n\n") + "\n";
    clean(&text).into_owned()
}

/// Formats an error in English with the parser's colors. Uses no colors if an argument has control characters, because
/// the error repeats arguments, and they may contain color sequences that hide text.
pub(crate) fn rendered(error: &Error, given: &[OsString], has_colors: bool) -> String {
    let text = error.render();
    let is_clean = |argument: &OsString| !argument.to_string_lossy().contains(char::is_control);
    if has_colors && given.iter().all(is_clean) {
        return text.ansi().to_string();
    }
    clean(&text.to_string()).into_owned()
}

/// Returns what the parser knows, as a text.
fn of(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Number(number) => Some(number.to_string()),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Returns what the parser knows, as several texts.
fn several(error: &Error, kind: ContextKind) -> &[String] {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts,
        _ => &[],
    }
}

/// Describes what is wrong; none for what is no error of the command line.
fn wrong(error: &Error) -> Option<Phrase> {
    let of = |kind| of(error, kind).unwrap_or_default();
    let (argument, value) = (of(ContextKind::InvalidArg), of(ContextKind::InvalidValue));
    let command = of(ContextKind::InvalidSubcommand);
    Some(match error.kind() {
        // The hole of an option has its own name, and so its own translation.
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            phrase!("unexpected argument '{option}' found", option = argument)
        }
        ErrorKind::UnknownArgument => phrase!("unexpected argument '{argument}' found", argument),
        ErrorKind::InvalidSubcommand => phrase!("unrecognized subcommand '{command}'", command),
        ErrorKind::MissingSubcommand => {
            phrase!("'{command}' requires a subcommand but one was not provided", command)
        }
        ErrorKind::MissingRequiredArgument => {
            phrase!("the following required arguments were not provided:")
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            phrase!("a value is required for '{argument}' but none was supplied", argument)
        }
        ErrorKind::InvalidValue => phrase!("invalid value '{value}' for '{argument}'", value, argument),
        ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map(reason);
            let reason = reason.unwrap_or_else(|| phrase!(""));
            phrase!("invalid value '{value}' for '{argument}': {reason}", value, argument, reason)
        }
        ErrorKind::NoEquals => {
            phrase!("equal sign is needed when assigning values to '{argument}'", argument)
        }
        ErrorKind::TooManyValues => phrase!(
            "unexpected value '{value}' for '{argument}' found; no more were expected",
            value,
            argument
        ),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => phrase!(
            "wrong number of values for '{argument}': {count}",
            argument,
            count = of(ContextKind::ActualNumValues)
        ),
        ErrorKind::ArgumentConflict => conflict(error, &argument),
        ErrorKind::InvalidUtf8 => phrase!("invalid UTF-8 was detected in one or more arguments"),
        _ => return None,
    })
}

fn conflict(error: &Error, argument: &str) -> Phrase {
    match of(error, ContextKind::PriorArg) {
        Some(other) if other == argument => {
            phrase!("the argument '{argument}' cannot be used multiple times", argument)
        }
        Some(other) => {
            phrase!("the argument '{argument}' cannot be used with '{other}'", argument, other)
        }
        None if !several(error, ContextKind::PriorArg).is_empty() => {
            phrase!("the argument '{argument}' cannot be used with:", argument)
        }
        None => phrase!(
            "the argument '{argument}' cannot be used with one or more of the other specified arguments",
            argument
        ),
    }
}

/// Returns the reason of an invalid value, from a parser of the command or of clap.
fn reason(source: &(dyn std::error::Error + 'static)) -> Phrase {
    if let Some(error) = source.downcast_ref::<ProjectError>() {
        return error.phrase();
    }
    let message = source.to_string();
    out_of_range(&message).unwrap_or_else(|| Phrase::original(message))
}

/// Reads clap's message about a number outside its range, such as `99999 is not in 0..=65535`.
fn out_of_range(message: &str) -> Option<Phrase> {
    let (_, range) = message.split_once(" is not in ")?;
    let (first, last) = range.split_once("..=").or_else(|| range.split_once(".."))?;
    let (first, last) = (first.to_owned(), last.to_owned());
    Some(phrase!("expected a whole number from {first} to {last}", first, last))
}

/// Returns the arguments that are missing, or in the way of another.
fn arguments(error: &Error) -> &[String] {
    match error.kind() {
        ErrorKind::MissingRequiredArgument => several(error, ContextKind::InvalidArg),
        _ => several(error, ContextKind::PriorArg),
    }
}

/// Returns what may be meant.
fn tips(error: &Error) -> impl Iterator<Item = Phrase> {
    let near = |kind| of(error, kind).into_iter().chain(several(error, kind).iter().cloned());
    let arguments = near(ContextKind::SuggestedArg);
    let arguments = arguments.map(|near| phrase!("a similar argument exists: '{near}'", near));
    let commands = near(ContextKind::SuggestedSubcommand);
    let commands = commands.map(|near| phrase!("a similar subcommand exists: '{near}'", near));
    let values = near(ContextKind::SuggestedValue);
    let values = values.map(|near| phrase!("a similar value exists: '{near}'", near));
    let trailing = of(error, ContextKind::TrailingArg).into_iter();
    let trailing = trailing.map(|value| phrase!("to pass '{value}' as a value, use '-- {value}'", value));
    arguments.chain(commands).chain(values).chain(trailing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_arguments_without_color_sequences() {
        for argument in
            ["--\u{1b}[8mconceal", "--agent=\u{1b}[31mred", "--\u{9b}8mx", "-\u{1b}]52;c;eA==\u{7}"]
        {
            let given: Vec<OsString> = ["ctx", "check", argument].map(Into::into).into();
            let error = crate::args::command().try_get_matches_from(&given).unwrap_err();
            let texts = [true, false].map(|has_colors| rendered(&error, &given, has_colors));
            for text in texts.into_iter().chain([Language::En, Language::Zh].map(|to| told(to, &error))) {
                assert!(
                    !text.contains(|character: char| character.is_control() && character != '\n'),
                    "{text:?}"
                );
            }
        }
        let given: Vec<OsString> = ["ctx", "check", "--nothing"].map(Into::into).into();
        let error = crate::args::command().try_get_matches_from(&given).unwrap_err();
        assert!(rendered(&error, &given, true).contains("\u{1b}["));
    }
}
