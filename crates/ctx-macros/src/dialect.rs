//! The dialects: how a call is spelled, and what happens to one that is wrong.

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
    /// AIO Hub's own evaluator: three passes over the whole text, in each of which equal calls are made once;
    /// arguments hold no calls, and what a pass wrote is read by those behind it.
    AioPhased,
    /// SillyTavern's newer engine: names in any case, `\{` and `\}` stand for braces, `{{name:argument}}`
    /// and `{{name argument}}` give one argument, and a call that is unknown or has the wrong number of
    /// arguments is text whose inner calls are expanded.
    SillyTavern,
    /// SillyTavern's older engine: one macro after the other is replaced in the whole text, in a fixed order,
    /// so that what one gave is read by those behind it, and the last `setvar` is what every `getvar` gives.
    SillyTavernLegacy,
}

/// The dialects in which a macro exists.
///
/// Two macros may share a name if no dialect has both.
///
/// ```
/// use ctx_macros::{Dialect, DialectSet};
///
/// assert!(DialectSet::AIO.contains(Dialect::Aio));
/// assert!(!DialectSet::AIO.overlaps(DialectSet::SILLYTAVERN));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DialectSet(u8);

impl Dialect {
    /// Every dialect, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Aio, Self::AioPhased, Self::SillyTavern, Self::SillyTavernLegacy];

    /// Returns the spelling used in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aio => "aio",
            Self::AioPhased => "aio-phased",
            Self::SillyTavern => "sillytavern",
            Self::SillyTavernLegacy => "sillytavern-legacy",
        }
    }

    /// Returns the dialect spelled `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == name)
    }

    /// Whether the texts of a character's card and of the user's profile are templates too, expanded before
    /// anything that shows them; elsewhere the value of a macro is never read again.
    pub const fn expands_card_texts(self) -> bool {
        matches!(self, Self::SillyTavern | Self::SillyTavernLegacy)
    }

    /// Whether the whole text is rewritten for one macro after the other.
    pub(crate) const fn is_in_passes(self) -> bool {
        matches!(self, Self::AioPhased | Self::SillyTavernLegacy)
    }

    /// Whether names are spelled exactly as they are registered.
    pub(crate) const fn is_case_sensitive(self) -> bool {
        matches!(self, Self::Aio | Self::AioPhased)
    }

    /// Whether a backslash just before `{{` keeps it from opening a call.
    pub(crate) const fn escapes_calls(self) -> bool {
        matches!(self, Self::Aio | Self::AioPhased)
    }

    /// Whether a call can end in `{{/name}}`, with the text before that as its last argument.
    pub(crate) const fn has_blocks(self) -> bool {
        matches!(self, Self::SillyTavern)
    }

    /// Whether `<USER>` and its like are calls.
    pub(crate) const fn has_markers(self) -> bool {
        matches!(self, Self::SillyTavern)
    }

    /// Whether a `|` in an argument makes the call text.
    pub(crate) const fn reserves_pipes(self) -> bool {
        matches!(self, Self::SillyTavern)
    }

    /// Whether escapes are taken out of the result, not out of the text.
    pub(crate) const fn unescapes_at_the_end(self) -> bool {
        matches!(self, Self::SillyTavern)
    }

    /// Whether calls inside a call that stays as text are expanded.
    pub(crate) const fn expands_inside_text(self) -> bool {
        matches!(self, Self::SillyTavern)
    }

    /// Whether a call with more arguments than its macro takes is still a call.
    pub(crate) const fn ignores_extra_arguments(self) -> bool {
        matches!(self, Self::Aio | Self::AioPhased)
    }
}

impl DialectSet {
    /// Every dialect.
    pub const ALL: Self = Self(Self::AIO.0 | Self::SILLYTAVERN.0);
    /// AIO Hub's dialects.
    pub const AIO: Self = Self(Self::only(Dialect::Aio).0 | Self::only(Dialect::AioPhased).0);
    /// SillyTavern's dialects.
    pub const SILLYTAVERN: Self =
        Self(Self::only(Dialect::SillyTavern).0 | Self::only(Dialect::SillyTavernLegacy).0);

    /// Returns the set of one dialect.
    pub const fn only(dialect: Dialect) -> Self {
        Self(1 << dialect as u8)
    }

    /// Tells whether a dialect is in the set.
    pub const fn contains(self, dialect: Dialect) -> bool {
        self.overlaps(Self::only(dialect))
    }

    /// Tells whether a dialect is in both sets.
    pub const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the dialects of the set in the order of [`Dialect::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Dialect> {
        Dialect::ALL.into_iter().filter(move |dialect| self.contains(*dialect))
    }
}
