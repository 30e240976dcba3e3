use crate::support;

use ctx_macros::{Dialect, Env, Limits, State, TimeValue, VirtualTime, codes};
use ctx_types::Code;
use support::{AT, env, expand, origin, parse};

/// 2025-11-07 22:30:05.123 UTC, a Friday.
#[track_caller]
fn check(text: &str, expected: &str) {
    let expansion = expand(text, Dialect::Aio);
    assert_eq!((expansion.text.as_str(), expansion.diagnostics), (expected, Vec::new()), "{text:?}");
}

#[track_caller]
fn check_in(env: &Env, text: &str, expected: &str, codes: &[Code]) {
    let expansion = parse(text, Dialect::Aio).expand(env, &mut State::new(Limits::default()), &origin());
    let found: Vec<Code> = expansion.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!((expansion.text.as_str(), found.as_slice()), (expected, codes), "{text:?}");
}

fn at(time: &str) -> Env {
    let Some(TimeValue::Instant(millis)) = TimeValue::parse(time) else { return Env::default() };
    Env { at_millis: Some(millis), ..env() }
}

#[test]
fn formats_english_dates_and_times() {
    check("{{time}}|{{time24}}", "10:30 PM|22:30");
    check("{{date}}|{{date_ymd}}|{{weekday}}", "November 7, 2025|2025-11-07|Friday");
    check("{{datetime}}", "2025-11-07 22:30:05");
    check("{{isotime}}|{{timestamp}}", "2025-11-07T22:30:05.123Z|1762554605123");
}

#[test]
fn formats_twelve_hour_time_without_leading_zero() {
    check_in(&at("2025-01-01T00:05:00Z"), "{{time}}", "12:05 AM", &[]);
    check_in(&at("2025-01-01T12:00:00Z"), "{{time}}", "12:00 PM", &[]);
    check_in(&at("2025-01-01T09:07:00Z"), "{{time}}", "9:07 AM", &[]);
}

#[test]
fn formats_custom_patterns() {
    check("{{datetime_format::YYYY/M/D H:m:s}}", "2025/11/7 22:30:5");
    check(
        "{{datetime_format::[It is] dddd, D [a day of] MMMM, h A}}",
        "It is Friday, 7 a day of November, 10 PM",
    );
    check("{{datetime_format}}|{{datetime_format::}}", "2025-11-07 22:30:05|2025-11-07 22:30:05");
    check("{{datetime_format::HH::mm}}", "22::30");
    check("{{datetime_format::YYYY年MM月DD日 ddd a}}", "2025年11月07日 Fri pm");
    check("{{datetime_format::[MMMM]}}", "MMMM");
}

#[test]
fn treats_open_bracket_as_text() {
    check_in(&env(), "{{datetime_format::[at HH}}", "[pmt 22", &[codes::BAD_PATTERN]);
}

#[test]
fn formats_east_asian_dates() {
    check("{{date_cn}}|{{datetime_cn}}|{{weekday_cn}}", "2025年11月7日|2025年11月7日 22:30|星期五");
    check("{{date_jp}}|{{datetime_jp}}", "2025年11月7日（金）|2025年11月7日（金） 午後10時30分");
    check("{{date_ko}}", "2025년 11월 7일 (금)");
    check_in(&at("2025-01-01T12:05:00Z"), "{{datetime_jp}}", "2025年1月1日（水） 午後0時5分", &[]);
}

#[test]
fn finds_locale_by_tag_or_country() {
    check("{{datetime_locale::en-US}}", "Friday, November 7, 2025 at 10:30 PM");
    check("{{datetime_locale::en-GB}}", "Friday, 7 November 2025 at 22:30");
    check("{{datetime_locale::zh-TW}}", "2025年11月7日 星期五 下午10:30");
    check(
        "{{datetime_locale::tw}}|{{datetime_locale::TW}}",
        &["2025年11月7日 星期五 下午10:30"; 2].join("|"),
    );
    check("{{datetime_locale::fr}}", "vendredi 7 novembre 2025 à 22:30");
    check("{{datetime_locale::de-AT}}", "Freitag, 7. November 2025 um 22:30");
    check("{{datetime_locale}}", "Friday, November 7, 2025 at 10:30 PM");
    let env = Env { locale: Some("ja-JP".into()), ..env() };
    check_in(&env, "{{datetime_locale}}", "2025年11月7日金曜日 22:30", &[]);
    check_in(&env, "{{datetime_locale::klingon}}", "{{datetime_locale::klingon}}", &[codes::UNKNOWN_LOCALE]);
}

#[cfg(feature = "lunar")]
#[test]
fn formats_chinese_calendar() {
    check("{{date_cn_ancient}}", "乙巳年（蛇年）九月十八");
    check("{{time_cn_ancient}}|{{shichen}}", "亥时六刻|亥时");
    check("{{datetime_cn_ancient}}", "乙巳年（蛇年）九月十八 亥时六刻");
    check_in(&at("2025-08-08T23:10:00Z"), "{{datetime_cn_ancient}}", "乙巳年（蛇年）闰六月十五 子时", &[]);
}

#[test]
fn formats_capital_numerals() {
    check("{{date_cn_uppercase}}|{{time_cn_uppercase}}", "贰零贰伍年拾壹月柒日|贰拾贰时叁拾分");
    check("{{datetime_cn_uppercase}}", "贰零贰伍年拾壹月柒日贰拾贰时叁拾分");
    check_in(&at("2020-10-20T00:00:00Z"), "{{datetime_cn_uppercase}}", "贰零贰零年拾月贰拾日零时零分", &[]);
}

#[test]
fn formats_old_english() {
    check("{{date_en_ancient}}", "the 7th day of November, in the year of our Lord 2025");
    check_in(
        &at("1851-05-01T15:30:00Z"),
        "{{datetime_en_ancient}}",
        "the 1st day of May, in the year of our Lord 1851, at half past 3 in the afternoon",
        &[],
    );
}

#[test]
fn converts_to_zone_except_iso_time() {
    let env = Env { zone: Some("Asia/Shanghai".into()), ..env() };
    check_in(&env, "{{datetime}} {{isotime}}", "2025-11-08 06:30:05 2025-11-07T22:30:05.123Z", &[]);
    let env = Env { zone: Some("Mars/Olympus".into()), ..env };
    check_in(&env, "{{time24}} {{time24}}", "22:30 22:30", &[codes::UNKNOWN_ZONE]);
}

#[test]
fn follows_virtual_time_of_agent() {
    let clock = VirtualTime {
        begin: TimeValue::parse("1024-05-01 08:00").unwrap(),
        real_begin: TimeValue::Instant(AT - 60_000),
        scale: 60.0,
    };
    let env = Env { virtual_time: Some(clock), zone: Some("Asia/Shanghai".into()), ..env() };
    check_in(&env, "{{datetime}}|{{shichen}}", "1024-05-01 09:00:00|巳时", &[]);
    let still = VirtualTime { scale: 0.0, ..clock };
    check_in(&Env { virtual_time: Some(still), ..env.clone() }, "{{time24}}", "08:00", &[]);
    let wild = VirtualTime { scale: 1e12, ..clock };
    check_in(&Env { virtual_time: Some(wild), ..env }, "{{time24}}", "{{time24}}", &[codes::NO_TIME]);
}

#[test]
fn keeps_calls_without_time() {
    let names = [
        "time",
        "time24",
        "date",
        "date_ymd",
        "datetime",
        "weekday",
        "isotime",
        "timestamp",
        "datetime_format",
        "date_cn",
        "datetime_jp",
        "datetime_locale",
        "date_cn_ancient",
        "shichen",
        "datetime_en_ancient",
    ];
    for name in names {
        let call = format!("{{{{{name}}}}}");
        check_in(&Env::default(), &call, &call, &[codes::NO_TIME]);
    }
}

#[cfg(feature = "lunar")]
#[test]
fn formats_any_moment_in_every_form() {
    let registry = ctx_macros::Registry::builtin();
    let is_time = |known: &&ctx_macros::Definition| {
        known.topic == ctx_macros::Topic::Time && known.dialects.contains(Dialect::Aio)
    };
    let names: Vec<&str> = registry.iter().filter(is_time).map(|known| &*known.name).collect();
    let text = format!("{{{{{}}}}}\n", names.join("}}\n{{"));
    let template = parse(&text, Dialect::Aio);
    assert_eq!(template.macros().count(), 25);
    assert!(template.macros().all(|used| used.volatile));
    for millis in (-377_705_023_201_000..=253_402_207_200_000).step_by(997_000_000_007) {
        let env = Env { at_millis: Some(millis), zone: Some("Europe/Paris".into()), ..env() };
        let expansion = template.expand(&env, &mut State::new(Limits::default()), &origin());
        assert_eq!(expansion.diagnostics, [], "{millis}");
        assert!(!expansion.text.contains("{{") && !expansion.text.contains("\n\n"), "{millis}");
    }
    for millis in [i64::MIN, i64::MAX, 253_402_300_800_000, -377_705_116_800_001] {
        let env = Env { at_millis: Some(millis), ..env() };
        let expansion = template.expand(&env, &mut State::new(Limits::default()), &origin());
        assert_eq!(expansion.text, text.as_str());
    }
}
