use jiff::Zoned;
use jiff::civil::Weekday;

use crate::dates::locale_table::LOCALES;
use crate::dates::pattern;

#[derive(Debug)]
pub(crate) struct Locale {
    /// BCP 47.
    pub(crate) tag: &'static str,
    /// Lower case.
    pub(crate) aliases: &'static [&'static str],
    /// Date, weekday, and time in minutes.
    pub(crate) long: &'static str,
    /// In the form used in dates.
    pub(crate) months: [&'static str; 12],
    /// Sunday first.
    pub(crate) weekdays: [&'static str; 7],
    /// AM and PM.
    pub(crate) half_days: [&'static str; 2],
    /// Offset and length within the weekday's name, in characters.
    pub(crate) short_weekday: (usize, usize),
}

/// Ignores case. For an unknown country, matches the language alone.
pub(crate) fn find(name: &str) -> Option<&'static Locale> {
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    let is_named =
        |locale: &&Locale| locale.tag.eq_ignore_ascii_case(&name) || locale.aliases.contains(&name.as_str());
    let mut tags = std::iter::successors(Some(name.as_str()), |tag| Some(tag.rsplit_once('-')?.0));
    let by_language = |tag: &str| LOCALES.iter().find(|locale| locale.aliases.contains(&tag));
    LOCALES.iter().find(is_named).or_else(|| tags.find_map(by_language))
}

/// Returns the BCP 47 tag of the supported date language for a tag or alias.
pub fn language_of_dates(name: &str) -> Option<&'static str> {
    find(name).map(|locale| locale.tag)
}

pub(crate) fn english() -> &'static Locale {
    &LOCALES[0]
}

pub(crate) fn tags() -> impl Iterator<Item = &'static str> {
    LOCALES.iter().map(|locale| locale.tag)
}

impl Locale {
    pub(crate) fn long(&self, time: &Zoned) -> String {
        pattern::format(self.long, time, self)
    }

    pub(crate) fn month(&self, month: i8) -> &'static str {
        pick(&self.months, i32::from(month) - 1)
    }

    pub(crate) fn weekday(&self, weekday: Weekday) -> &'static str {
        pick(&self.weekdays, weekday.to_sunday_zero_offset().into())
    }

    pub(crate) fn half_day(&self, hour: i8) -> &'static str {
        pick(&self.half_days, i32::from(hour >= 12))
    }

    /// First three characters, as usual in English.
    pub(crate) fn short_month(&self, month: i8) -> &'static str {
        slice(self.month(month), 0, 3)
    }

    pub(crate) fn short_weekday(&self, weekday: Weekday) -> &'static str {
        let (skipped, length) = self.short_weekday;
        slice(self.weekday(weekday), skipped, length)
    }
}

fn slice(word: &'static str, skipped: usize, length: usize) -> &'static str {
    let place = |count| word.char_indices().nth(count).map_or(word.len(), |(at, _)| at);
    word.get(place(skipped)..place(skipped + length)).unwrap_or(word)
}

fn pick(words: &[&'static str], index: i32) -> &'static str {
    usize::try_from(index).ok().and_then(|index| words.get(index)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, tag: &str, expected: &str) {
        let locale = find(name).unwrap();
        let time = jiff::civil::datetime(2025, 11, 7, 22, 30, 5, 0).in_tz("UTC").unwrap();
        assert_eq!((locale.tag, locale.long(&time).as_str()), (tag, expected));
    }

    #[test]
    fn distinguishes_countries_with_same_language() {
        check("zh-TW", "zh-TW", "2025年11月7日 星期五 下午10:30");
        check("ZH_tw", "zh-TW", "2025年11月7日 星期五 下午10:30");
        check("tw", "zh-TW", "2025年11月7日 星期五 下午10:30");
        check("zh-Hant", "zh-TW", "2025年11月7日 星期五 下午10:30");
        check("en-GB", "en-GB", "Friday, 7 November 2025 at 22:30");
        check("gb", "en-GB", "Friday, 7 November 2025 at 22:30");
        check("zh", "zh-CN", "2025年11月7日星期五 22:30");
        check("en-AU", "en-US", "Friday, November 7, 2025 at 10:30 PM");
        check("zh-Hant-MO", "zh-TW", "2025年11月7日 星期五 下午10:30");
    }

    #[test]
    fn writes_long_date_in_every_language() {
        let time = jiff::civil::datetime(2024, 2, 29, 0, 5, 0, 0).in_tz("UTC").unwrap();
        let long: Vec<_> = LOCALES.iter().map(|locale| locale.long(&time)).collect();
        let expected = [
            "Thursday, February 29, 2024 at 12:05 AM",
            "Thursday, 29 February 2024 at 00:05",
            "2024年2月29日星期四 00:05",
            "2024年2月29日 星期四 上午12:05",
            "2024年2月29日星期四 上午12:05",
            "2024年2月29日木曜日 0:05",
            "2024년 2월 29일 목요일 오전 12:05",
            "jeudi 29 février 2024 à 00:05",
            "Donnerstag, 29. Februar 2024 um 00:05",
            "jueves, 29 de febrero de 2024, 0:05",
            "giovedì 29 febbraio 2024 alle ore 00:05",
            "quinta-feira, 29 de fevereiro de 2024 às 00:05",
            "quinta-feira, 29 de fevereiro de 2024 às 00:05",
            "четверг, 29 февраля 2024 г. в 00:05",
            "четвер, 29 лютого 2024 р. о 00:05",
            "czwartek, 29 lutego 2024 00:05",
            "donderdag 29 februari 2024 om 00:05",
            "torsdag 29 februari 2024 kl. 00:05",
            "29 Şubat 2024 Perşembe 00:05",
            "lúc 00:05 Thứ Năm, 29 tháng 2, 2024",
            "Kamis, 29 Februari 2024 pukul 00.05",
        ];
        assert_eq!(long, expected);
    }

    #[test]
    fn rejects_unknown_names() {
        for name in ["", "-", "x", "klingon", "zz-ZZ", "中文", "english"] {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn keeps_names_unique_and_lowercase() {
        let names = LOCALES.iter().flat_map(|locale| locale.aliases.iter().copied().chain([locale.tag]));
        let mut names: Vec<_> = names.collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(LOCALES.iter().all(|locale| locale.aliases.iter().all(|name| *name == name.to_lowercase())));
    }
}
