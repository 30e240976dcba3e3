use std::fmt;

use crate::Error;

/// A set of flags, such as `gi`.
///
/// [`Flags::parse`] and [`Regex::new`](crate::Regex::new) reject `u` together with `v`.
///
/// ```
/// use ctx_regex::{Error, Flags};
///
/// let flags = Flags::parse("ig")?;
/// assert!(flags.contains(Flags::GLOBAL));
/// assert_eq!(flags.to_string(), "gi");
/// assert_eq!(Flags::parse("gx"), Err(Error::UnknownFlag { flag: 'x' }));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

/// In the order in which JavaScript prints them.
const LETTERS: [(char, Flags); 8] = [
    ('d', Flags::HAS_INDICES),
    ('g', Flags::GLOBAL),
    ('i', Flags::IGNORE_CASE),
    ('m', Flags::MULTILINE),
    ('s', Flags::DOT_ALL),
    ('u', Flags::UNICODE),
    ('v', Flags::UNICODE_SETS),
    ('y', Flags::STICKY),
];

impl Flags {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// `d`: group indices. No effect, because matches always have them.
    pub const HAS_INDICES: Self = Self(1);
    /// `g`: replace all matches.
    pub const GLOBAL: Self = Self(1 << 1);
    /// `i`: ignore case.
    pub const IGNORE_CASE: Self = Self(1 << 2);
    /// `m`: `^` and `$` also match at lines.
    pub const MULTILINE: Self = Self(1 << 3);
    /// `s`: `.` also matches line terminators.
    pub const DOT_ALL: Self = Self(1 << 4);
    /// `u`: strict syntax, `\u{…}`, and `\p{…}`.
    pub const UNICODE: Self = Self(1 << 5);
    /// `v`: like `u`, with set operations in classes.
    pub const UNICODE_SETS: Self = Self(1 << 6);
    /// `y`: a match must start where the search starts, which is the end of the previous match.
    pub const STICKY: Self = Self(1 << 7);

    /// Parses flag letters in any order.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFlag`], [`Error::DuplicateFlag`], or [`Error::ConflictingFlags`] for `u` with `v`.
    pub fn parse(letters: &str) -> Result<Self, Error> {
        let mut flags = Self::NONE;
        for letter in letters.chars() {
            let flag = flag_of(letter).ok_or(Error::UnknownFlag { flag: letter })?;
            if flags.contains(flag) {
                return Err(Error::DuplicateFlag { flag: letter });
            }
            flags = flags.with(flag);
        }
        flags.check()
    }

    /// Whether all flags of `other` are set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn check(self) -> Result<Self, Error> {
        if self.contains(Self::UNICODE.with(Self::UNICODE_SETS)) {
            Err(Error::ConflictingFlags)
        } else {
            Ok(self)
        }
    }

    pub(crate) fn strict(self) -> bool {
        self.contains(Self::UNICODE) || self.contains(Self::UNICODE_SETS)
    }
}

fn flag_of(letter: char) -> Option<Flags> {
    LETTERS.iter().find(|(name, _)| *name == letter).map(|(_, flag)| *flag)
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        LETTERS
            .iter()
            .filter(|(_, flag)| self.contains(*flag))
            .try_for_each(|(letter, _)| write!(f, "{letter}"))
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({self})")
    }
}
