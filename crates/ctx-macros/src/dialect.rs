//! The dialects: how a call is spelled, and what happens to one that is wrong.

use crate::space::SpaceSet;

/// Whose spelling of macros a text uses.
///
/// ```
/// use ctx_macros::Dialect;
///
/// assert_eq!(Dialect::from_name("sillytavern"), Some(Dialect::SillyTavern));
/// assert_eq!(Dialect::default().as_str(), "aio");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// AIO Hub: names are case-sensitive, `\{{` stands for `{{`, arguments too many are ignored, and an
    /// unknown call stays byte for byte, with the calls inside it.
    #[default]
    Aio,
    /// SillyTavern's newer engine: names in any case, `\{` and `\}` stand for braces, `{{name:argument}}`
    /// and `{{name argument}}` give one argument, and a call that is unknown or has the wrong number of
    /// arguments is text whose inner calls are expanded.
    SillyTavern,
}

impl Dialect {
    /// Returns the spelling used in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aio => "aio",
            Self::SillyTavern => "sillytavern",
        }
    }

    /// Returns the dialect spelled `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Aio, Self::SillyTavern].into_iter().find(|dialect| dialect.as_str() == name)
    }

    /// What `{{trim}}` removes around its place.
    pub(crate) const fn trimmed_by_trim(self) -> SpaceSet {
        match self {
            Self::Aio => SpaceSet::WhiteSpace,
            Self::SillyTavern => SpaceSet::LineBreaks,
        }
    }

    /// Whether a backslash just before `{{` keeps it from opening a call.
    pub(crate) const fn escapes_calls(self) -> bool {
        matches!(self, Self::Aio)
    }

    /// Whether `after`, the text behind a backslash, makes that backslash an escape.
    pub(crate) fn is_escaped(self, after: &[u8]) -> bool {
        match self {
            Self::Aio => after.starts_with(b"{{"),
            Self::SillyTavern => matches!(after.first(), Some(b'{' | b'}')),
        }
    }

    /// Whether calls inside a call that stays as text are expanded.
    pub(crate) const fn expands_inside_text(self) -> bool {
        matches!(self, Self::SillyTavern)
    }

    /// Whether a call with more arguments than its macro takes is still a call.
    pub(crate) const fn ignores_extra_arguments(self) -> bool {
        matches!(self, Self::Aio)
    }

    /// Whether `{{incvar::n}}` and `{{decvar::n}}` write the new value.
    pub(crate) const fn counting_writes_value(self) -> bool {
        matches!(self, Self::SillyTavern)
    }
}
