//! Macro dialects: how a macro call is written, and what happens to an invalid one.

/// The rules by which macros in a text are read.
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
    /// AIO Hub: names are case-sensitive, `\{{` stands for `{{`, extra arguments are ignored, and an unknown call and
    /// the calls in it stay unchanged.
    #[default]
    Aio,
    /// SillyTavern 1.18: names are not case-sensitive, `\{` and `\}` stand for braces, `{{name:argument}}` and
    /// `{{name argument}}` have one argument. A call that is unknown or has the wrong number of arguments is text, and
    /// the calls in it are expanded.
    SillyTavern,
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
    pub const ALL: [Self; 2] = [Self::Aio, Self::SillyTavern];

    /// Returns the spelling used in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aio => "aio",
            Self::SillyTavern => "sillytavern",
        }
    }

    /// Returns the dialect with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == name)
    }

    /// Returns the dialect that replaces a removed one: those of the applications' older macro engines.
    ///
    /// ```
    /// use ctx_macros::Dialect;
    ///
    /// assert_eq!(Dialect::replacing("sillytavern-legacy"), Some(Dialect::SillyTavern));
    /// assert_eq!(Dialect::replacing("aio"), None);
    /// ```
    pub fn replacing(removed: &str) -> Option<Self> {
        match removed {
            "aio-phased" => Some(Self::Aio),
            "sillytavern-legacy" => Some(Self::SillyTavern),
            _ => None,
        }
    }

    /// Whether the texts of a character's card and of the user's profile are templates too, expanded before
    /// anything that shows them; elsewhere the value of a macro is never read again.
    pub const fn expands_card_texts(self) -> bool {
        self.syntax().expands_card_texts
    }

    pub(crate) const fn syntax(self) -> &'static Syntax {
        match self {
            Self::Aio => &AIO,
            Self::SillyTavern => &SILLYTAVERN,
        }
    }
}

/// What a dialect reads, and what it does with it.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and dialects mix them freely")]
pub(crate) struct Syntax {
    pub(crate) names: Names,
    /// Names are spelled exactly as they are registered.
    pub(crate) is_case_sensitive: bool,
    /// A backslash just before `{{` keeps it from opening a call.
    pub(crate) escapes_calls: bool,
    /// A call can end in `{{/name}}`, with the text before that as its last argument.
    pub(crate) has_blocks: bool,
    /// `<USER>` and its like are calls.
    pub(crate) has_markers: bool,
    /// A `|` in an argument makes the call text.
    pub(crate) reserves_pipes: bool,
    /// Escapes are taken out of the result, not out of the text.
    pub(crate) unescapes_at_the_end: bool,
    /// Calls inside a call that stays as text are expanded.
    pub(crate) expands_inside_text: bool,
    /// A call with more arguments than its macro takes is still a call.
    pub(crate) ignores_extra_arguments: bool,
    /// The texts of a card and of the user's profile are templates.
    pub(crate) expands_card_texts: bool,
}

/// What the name of a macro is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// Everything up to `::` or the closing braces.
    ToSeparator,
    /// An identifier, perhaps after flags, then `::`, or `:` or white space and the only argument; and variables after
    /// `.` and `$`.
    Flagged,
}

const AIO: Syntax = Syntax {
    names: Names::ToSeparator,
    is_case_sensitive: true,
    escapes_calls: true,
    has_blocks: false,
    has_markers: false,
    reserves_pipes: false,
    unescapes_at_the_end: false,
    expands_inside_text: false,
    ignores_extra_arguments: true,
    expands_card_texts: false,
};

const SILLYTAVERN: Syntax = Syntax {
    names: Names::Flagged,
    is_case_sensitive: false,
    escapes_calls: false,
    has_blocks: true,
    has_markers: true,
    reserves_pipes: true,
    unescapes_at_the_end: true,
    expands_inside_text: true,
    ignores_extra_arguments: false,
    expands_card_texts: true,
};

impl DialectSet {
    /// Every dialect.
    pub const ALL: Self = Self(Self::AIO.0 | Self::SILLYTAVERN.0);
    /// AIO Hub's dialect.
    pub const AIO: Self = Self::only(Dialect::Aio);
    /// SillyTavern's dialect.
    pub const SILLYTAVERN: Self = Self::only(Dialect::SillyTavern);

    /// Returns the set of one dialect.
    pub const fn only(dialect: Dialect) -> Self {
        Self(1 << dialect as u8)
    }

    /// Returns whether a dialect is in the set.
    pub const fn contains(self, dialect: Dialect) -> bool {
        self.overlaps(Self::only(dialect))
    }

    /// Returns whether a dialect is in both sets.
    pub const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the dialects of the set in the order of [`Dialect::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Dialect> {
        Dialect::ALL.into_iter().filter(move |dialect| self.contains(*dialect))
    }
}
