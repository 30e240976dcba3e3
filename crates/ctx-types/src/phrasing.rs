use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, json};

/// A translatable text: an English template with named arguments.
///
/// `Display` writes English. To translate, look up [`Phrase::template`] and render [`Phrase::parts`].
/// [`phrase!`](crate::phrase!) checks arguments at compile time.
///
/// ```
/// use ctx_types::phrase;
/// use ctx_types::internal::Argument;
///
/// let name = "lore";
/// let missing = phrase!("no anchor `{name}` in {count} entries", name, count = 3);
/// assert_eq!(missing.to_string(), "no anchor `lore` in 3 entries");
/// assert_eq!(missing.template(), "no anchor `{name}` in {count} entries");
///
/// let german = missing.parts("{count} Einträge, keiner mit dem Anker `{name}`");
/// let german: Vec<String> = german.map(|part| part.to_string()).collect();
/// assert_eq!(german.concat(), "3 Einträge, keiner mit dem Anker `lore`");
/// ```
#[derive(Clone, PartialEq)]
pub struct Phrase {
    template: &'static str,
    /// Boxed to keep reports small.
    arguments: Box<[(&'static str, Argument)]>,
}

impl Phrase {
    /// Creates a phrase. In the template, `{name}` is an argument; `{{` and `}}` are braces.
    ///
    /// Prefer [`phrase!`](crate::phrase!): here, a missing argument is written as its name.
    pub fn new(template: &'static str, arguments: Vec<(&'static str, Argument)>) -> Self {
        Self { template, arguments: arguments.into() }
    }

    /// Creates a text without translation, such as an id or file name.
    pub fn verbatim(text: impl Into<Arc<str>>) -> Self {
        Self::new(VERBATIM, vec![("text", Argument::Text(text.into()))])
    }

    /// Creates an error message of another program. A translation quotes it, unless its text is known.
    pub fn original(text: impl ToArgument) -> Self {
        crate::phrase!("{original}", original = text)
    }

    /// Returns whether this is an error message of another program.
    pub fn is_original(&self) -> bool {
        self.template == ORIGINAL
    }

    /// Returns the template, the key of its translations.
    pub fn template(&self) -> &'static str {
        self.template
    }

    /// Returns the named arguments, in order.
    pub fn arguments(&self) -> &[(&'static str, Argument)] {
        &self.arguments
    }

    /// Returns an argument by name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(known, _)| *known == name).map(|(_, argument)| argument)
    }

    /// Returns whether the text is never translated.
    pub fn is_verbatim(&self) -> bool {
        self.template == VERBATIM
    }

    /// Splits the template or a translation.
    pub fn parts<'a>(&'a self, template: &'a str) -> impl Iterator<Item = PhrasePart<'a>> {
        let mut rest = template;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let at = rest.find(['{', '}']).unwrap_or(rest.len());
            if at > 0 {
                let (literal, after) = rest.split_at(at);
                rest = after;
                return Some(PhrasePart::Literal(literal));
            }
            let (brace, after) = rest.split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                rest = after;
                return Some(PhrasePart::Literal(brace));
            }
            let hole = after.split_once('}').filter(|_| brace == "{");
            rest = hole.map_or(after, |(_, after)| after);
            let Some((name, _)) = hole else { return Some(PhrasePart::Literal(brace)) };
            Some(self.argument(name).map_or(PhrasePart::Literal(name), PhrasePart::Argument))
        })
    }
}

/// A part of a [`Phrase`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PhrasePart<'a> {
    /// Literal text.
    Literal(&'a str),
    /// An argument.
    Argument(&'a Argument),
}

const VERBATIM: &str = "{text}";

const ORIGINAL: &str = "{original}";

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts(self.template).try_for_each(|part| part.fmt(f))
    }
}

impl fmt::Display for PhrasePart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(literal) => f.write_str(literal),
            Self::Argument(argument) => argument.fmt(f),
        }
    }
}

impl fmt::Debug for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Eq for Phrase {}

/// Creates a translatable text without arguments, unlike [`Argument::Text`].
impl From<&'static str> for Phrase {
    fn from(text: &'static str) -> Self {
        Self::new(text, Vec::new())
    }
}

impl Serialize for Phrase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: AsRef<str> + ?Sized> PartialEq<T> for Phrase {
    fn eq(&self, other: &T) -> bool {
        *self.to_string() == *other.as_ref()
    }
}

/// An argument of a [`Phrase`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Argument {
    /// Text without translation: a name, an excerpt, a formatted number. For translatable words use
    /// `Phrase::from("a list")`.
    Text(Arc<str>),
    /// A number.
    Number(i64),
    /// A nested phrase, translated separately.
    Phrase(Box<Phrase>),
    /// A list; the translation decides its separators.
    List(Vec<Argument>, Divider),
}

/// Separator of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Divider {
    /// `a, b, c`
    Comma,
    /// `a, b or c`
    Or,
    /// `a, b and c`
    And,
    /// `a; b; c`
    Semicolon,
}

impl Argument {
    /// Creates a list of names in backticks: `` `a`, `b` or `c` ``.
    pub fn names(names: impl IntoIterator<Item = impl fmt::Display>, divider: Divider) -> Self {
        Self::list(names.into_iter().map(|name| format!("`{name}`")), divider)
    }

    /// Creates a list.
    pub fn list(items: impl IntoIterator<Item = impl ToArgument>, divider: Divider) -> Self {
        Self::List(items.into_iter().map(|item| item.to_argument()).collect(), divider)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (items, divider) = match self {
            Self::Text(text) => return f.write_str(text),
            Self::Number(number) => return write!(f, "{number}"),
            Self::Phrase(phrase) => return write!(f, "{phrase}"),
            Self::List(items, divider) => (items, divider),
        };
        let (between, last) = match divider {
            Divider::Comma => (", ", ", "),
            Divider::Or => (", ", " or "),
            Divider::And => (", ", " and "),
            Divider::Semicolon => ("; ", "; "),
        };
        for (index, item) in items.iter().enumerate() {
            let is_last = index + 1 == items.len();
            f.write_str(if index == 0 {
                ""
            } else if is_last {
                last
            } else {
                between
            })?;
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

impl Serialize for Argument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Phrase(phrase) => phrase.serialize(serializer),
            Self::List(items, _) => serializer.collect_seq(items),
        }
    }
}

/// An argument of a [`Phrase`]. Format other types first: `role = role.to_string()`.
pub trait ToArgument {
    /// Converts to an argument.
    fn to_argument(&self) -> Argument;
}

impl<T: ToArgument + ?Sized> ToArgument for &T {
    fn to_argument(&self) -> Argument {
        (**self).to_argument()
    }
}

impl<T: ToArgument + ?Sized> ToArgument for &mut T {
    fn to_argument(&self) -> Argument {
        (**self).to_argument()
    }
}

macro_rules! to_argument {
    ($make:expr, $($type:ty),+) => {
        $(impl ToArgument for $type {
            fn to_argument(&self) -> Argument {
                $make(self)
            }
        })+
    };
}

to_argument!(|text: &str| Argument::Text(text.into()), str, String, Arc<str>, Cow<'_, str>);
to_argument!(|shown: &dyn ToString| Argument::Text(shown.to_string().into()), char, f64, f32);
to_argument!(|number: &_| Argument::Number(i64::from(*number)), u8, u16, u32, i32);
to_argument!(|number: &i64| Argument::Number(*number), i64);
to_argument!(|number: &_| Argument::Number(i64::try_from(*number).unwrap_or(i64::MAX)), usize, u64);
to_argument!(|phrase: &Phrase| Argument::Phrase(Box::new(phrase.clone())), Phrase);
to_argument!(|argument: &Argument| argument.clone(), Argument);

/// Creates a [`Phrase`](crate::Phrase) from a template and arguments: `name`, or `name = value`.
///
/// A value is a text, a number, a phrase, or an [`Argument`](crate::internal::Argument). A missing or unused argument
/// does not compile:
///
/// ```compile_fail
/// let phrase = ctx_types::phrase!("no anchor `{name}`");
/// ```
#[macro_export]
macro_rules! phrase {
    (@value $name:ident) => { $name };
    (@value $name:ident $value:expr) => { $value };
    ($template:expr $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::Phrase::new(
            {
                const _: () = assert!(
                    $crate::internal::template_fits($template, &[$(stringify!($name)),*]),
                    "each hole of a template needs an argument, and each argument a hole"
                );
                $template
            },
            vec![$((stringify!($name), $crate::internal::ToArgument::to_argument(&$crate::phrase!(@value $name $($value)?)))),*],
        )
    };
}

/// Creates a phrase with a count: `1 message`, `2 messages`. Use a singular literal.
///
/// ```
/// use ctx_types::count_of;
///
/// assert_eq!(count_of!(1, "message").to_string(), "1 message");
/// assert_eq!(count_of!(2, "message").template(), "{count} messages");
/// ```
#[macro_export]
macro_rules! count_of {
    ($count:expr, $thing:literal) => {
        match $count {
            1 => $crate::phrase!(concat!("1 ", $thing)),
            count => $crate::phrase!(concat!("{count} ", $thing, "s"), count),
        }
    };
}

/// Returns whether template and arguments match; for [`phrase!`](crate::phrase!).
#[doc(hidden)]
pub const fn template_fits(template: &str, names: &[&str]) -> bool {
    let (mut rest, mut used) = (template.as_bytes(), 0_u32);
    while let [byte, after @ ..] = rest {
        rest = match (byte, after) {
            (b'{', [b'{', after @ ..]) | (b'}', [b'}', after @ ..]) => after,
            (b'}', _) => return false,
            (b'{', _) => {
                let mut name = 0;
                while name < names.len() && !starts_with_hole(after, names[name].as_bytes()) {
                    name += 1;
                }
                if name == names.len() {
                    return false;
                }
                used |= 1 << name;
                after.split_at(names[name].len() + 1).1
            }
            _ => after,
        };
    }
    used.count_ones() as usize == names.len()
}

/// Returns whether a text starts with the name and a closing brace.
const fn starts_with_hole(mut text: &[u8], mut name: &[u8]) -> bool {
    while let ([byte, after @ ..], [letter, letters @ ..]) = (text, name) {
        if *byte != *letter {
            return false;
        }
        (text, name) = (after, letters);
    }
    name.is_empty() && matches!(text, [b'}', ..])
}

fn serialize_as<S: Serializer>(
    phrase: &Phrase,
    keys: [&'static str; 2],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let [text, arguments] = keys;
    let has_arguments = !phrase.arguments.is_empty() && phrase.template != VERBATIM;
    let mut map = serializer.serialize_map(Some(1 + usize::from(has_arguments)))?;
    map.serialize_entry(text, phrase)?;
    if has_arguments {
        let by_name = phrase.arguments.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        map.serialize_entry(arguments, &by_name.collect::<Map<_, _>>())?;
    }
    map.end()
}

pub(crate) fn as_message<S: Serializer>(phrase: &Phrase, serializer: S) -> Result<S::Ok, S::Error> {
    serialize_as(phrase, ["message", "arguments"], serializer)
}

pub(crate) fn as_reason<S: Serializer>(phrase: &Phrase, serializer: S) -> Result<S::Ok, S::Error> {
    serialize_as(phrase, ["reason", "arguments"], serializer)
}

#[expect(clippy::ref_option, reason = "required by serde")]
pub(crate) fn as_help<S: Serializer>(phrase: &Option<Phrase>, serializer: S) -> Result<S::Ok, S::Error> {
    match phrase {
        Some(phrase) => serialize_as(phrase, ["help", "helpArguments"], serializer),
        None => serializer.serialize_map(Some(0))?.end(),
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Phrase {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(feature = "schema")]
pub(crate) mod fields {
    use serde_json::{Map, Value};

    /// JSON fields of a message.
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "used only for the schema")]
    pub(crate) struct Message {
        /// English message in one phrase: lower case, no final period, names in backticks.
        message: String,
        /// Values of the message template's placeholders by name. Missing if empty.
        #[schemars(skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Value>>,
    }

    /// JSON fields of a reason.
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "used only for the schema")]
    pub(crate) struct Reason {
        /// English reason in one phrase: lower case, no final period, names in backticks.
        reason: String,
        /// Values of the reason template's placeholders by name. Missing if empty.
        #[schemars(skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Value>>,
    }

    /// JSON fields of a suggested fix.
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "used only for the schema")]
    #[schemars(rename_all = "camelCase")]
    pub(crate) struct Help {
        /// Suggested fix in English.
        #[schemars(skip_serializing_if = "Option::is_none")]
        help: Option<String>,
        /// Values of the help template's placeholders by name. Missing if empty.
        #[schemars(skip_serializing_if = "Option::is_none")]
        help_arguments: Option<Map<String, Value>>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescapes_braces_and_rejects_mismatched_templates() {
        assert_eq!(phrase!("close it with `}}}}`, {name}", name = "a").to_string(), "close it with `}}`, a");
        assert!(template_fits("a {b} {{c}} {b}", &["b"]));
        for (template, names) in [
            ("{a}", &[][..]),
            ("a", &["a"]),
            ("{a", &["a"]),
            ("a}", &[]),
            ("{a}{b}", &["a"]),
            ("{ab}", &["a"]),
        ] {
            assert!(!template_fits(template, names), "{template}");
        }
    }

    #[test]
    fn prints_invalid_template_verbatim() {
        for text in ["{", "}", "a{b", "{a}}", "{}"] {
            let written: String = Phrase::new("{text}", vec![("text", text.to_argument())]).to_string();
            assert_eq!(written, text);
            assert_eq!(Phrase::verbatim(text), text);
        }
        assert_eq!(Phrase::new("{a} {", Vec::new()).to_string(), "a {");
    }

    #[test]
    fn joins_list_with_divider() {
        let names = |names: &[&str], divider| Argument::names(names, divider).to_string();
        assert_eq!(names(&[], Divider::Or), "");
        assert_eq!(names(&["a"], Divider::Or), "`a`");
        assert_eq!(names(&["a", "b"], Divider::And), "`a` and `b`");
        assert_eq!(names(&["a", "b", "c"], Divider::Or), "`a`, `b` or `c`");
        assert_eq!(names(&["a", "b", "c"], Divider::Comma), "`a`, `b`, `c`");
    }

    #[test]
    fn serializes_text_with_arguments() {
        #[derive(Serialize)]
        struct Line {
            #[serde(flatten, serialize_with = "as_message")]
            message: Phrase,
            #[serde(flatten, serialize_with = "as_help")]
            help: Option<Phrase>,
        }
        let line = Line {
            message: phrase!("{count} of `{name}`", count = 2, name = "a"),
            help: Some(phrase!("go")),
        };
        let expected = serde_json::json!({
            "message": "2 of `a`", "arguments": { "count": 2, "name": "a" }, "help": "go",
        });
        assert_eq!(serde_json::json!(line), expected);
    }
}
