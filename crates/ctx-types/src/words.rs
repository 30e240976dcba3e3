/// Implements `Debug` with only the name of the type, for types whose contents are large or not printable.
#[doc(hidden)]
#[macro_export]
macro_rules! opaque {
    ($($Type:ty),+) => {$(
        impl std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($Type), "(…)"))
            }
        }
    )+};
}

/// Defines an enum whose values have names in files, settings, and reports.
///
/// The items to define follow the name: `as_str` (required by `Display`), and optionally `parse`, `ALL`, and
/// `WORDS`.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$outer:meta])* pub enum $name:ident: [$($item:ident),+] $values:tt) => {
        $crate::words!(@enum [$(#[$outer])*] $name $values);

        impl $name {
            $($crate::words!(@$item $values);)+
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
    (@enum [$($outer:tt)*] $name:ident { $($(#[$inner:meta])* $value:ident = $word:literal,)+ }) => {
        $($outer)*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$inner])* $value,)+
        }
    };
    (@as_str { $($(#[$inner:meta])* $value:ident = $word:literal,)+ }) => {
        /// Returns the name.
        pub const fn as_str(self) -> &'static str {
            match self {
                $(Self::$value => $word,)+
            }
        }
    };
    (@parse { $($(#[$inner:meta])* $value:ident = $word:literal,)+ }) => {
        /// Parses a name.
        pub fn parse(word: &str) -> Option<Self> {
            match word {
                $($word => Some(Self::$value),)+
                _ => None,
            }
        }
    };
    (@ALL { $($(#[$inner:meta])* $value:ident = $word:literal,)+ }) => {
        /// All values.
        pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];
    };
    (@WORDS { $($(#[$inner:meta])* $value:ident = $word:literal,)+ }) => {
        /// All names.
        pub const WORDS: [&'static str; [$($word),+].len()] = [$($word),+];
    };
}
