/// Syntax of the macros in a text.
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
    /// AIO Hub. Names are case-sensitive, `\{{` escapes `{{`, and extra arguments are ignored. An unknown
    /// call is left unchanged, including nested calls.
    #[default]
    Aio,
    /// SillyTavern 1.18. Names are case-insensitive, and `\{` and `\}` escape braces. `{{name:argument}}` and
    /// `{{name argument}}` have one argument. A call that is unknown or has the wrong number of arguments is
    /// text, but nested calls are expanded.
    SillyTavern,
}

/// Macro syntaxes in which a macro exists.
///
/// Two macros may share a name if their sets do not overlap.
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
    /// All macro syntaxes, in list order.
    pub const ALL: [Self; 2] = [Self::Aio, Self::SillyTavern];

    /// Returns the name used in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aio => "aio",
            Self::SillyTavern => "sillytavern",
        }
    }

    /// Returns the macro syntax with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == name)
    }

    /// Returns the replacement of a removed macro syntax (of an application's older macro engine).
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

    /// Whether macros in card and user profile texts are expanded on insertion. Otherwise inserted values are
    /// never expanded again.
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

#[expect(clippy::struct_excessive_bools, reason = "independent properties of a syntax")]
pub(crate) struct Syntax {
    pub(crate) names: NameSyntax,
    pub(crate) is_case_sensitive: bool,
    pub(crate) escapes_calls: bool,
    pub(crate) has_blocks: bool,
    /// `<USER>` and so on.
    pub(crate) has_markers: bool,
    pub(crate) reserves_pipes: bool,
    pub(crate) unescapes_at_the_end: bool,
    /// Expands calls nested in an invalid call.
    pub(crate) expands_inside_text: bool,
    pub(crate) ignores_extra_arguments: bool,
    pub(crate) expands_card_texts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameSyntax {
    /// Everything up to `::` or the closing braces.
    ToSeparator,
    /// Optional flags and an identifier, then `::`, or `:` or white space and a single argument. `.` and `$`
    /// introduce variables.
    Flagged,
}

const AIO: Syntax = Syntax {
    names: NameSyntax::ToSeparator,
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
    names: NameSyntax::Flagged,
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
    /// All macro syntaxes.
    pub const ALL: Self = Self(Self::AIO.0 | Self::SILLYTAVERN.0);
    /// AIO Hub.
    pub const AIO: Self = Self::only(Dialect::Aio);
    /// SillyTavern.
    pub const SILLYTAVERN: Self = Self::only(Dialect::SillyTavern);

    /// Returns the set with one macro syntax.
    pub const fn only(dialect: Dialect) -> Self {
        Self(1 << dialect as u8)
    }

    /// Returns whether the set contains a macro syntax.
    pub const fn contains(self, dialect: Dialect) -> bool {
        self.overlaps(Self::only(dialect))
    }

    /// Returns whether the sets share a macro syntax.
    pub const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the macro syntaxes in the order of [`Dialect::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Dialect> {
        Dialect::ALL.into_iter().filter(move |dialect| self.contains(*dialect))
    }
}
