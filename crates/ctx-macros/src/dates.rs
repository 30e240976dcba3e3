pub(crate) mod chinese;
pub(crate) mod locale;
pub(crate) mod locale_table;
pub(crate) mod lunar;
pub(crate) mod moment;
pub(crate) mod old_english;
pub(crate) mod pattern;

pub use self::locale::language_of_dates;
