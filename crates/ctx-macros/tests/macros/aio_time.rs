use crate::support;

use ctx_macros::{
    Dialect, Env, Limits, State, codes,
    internal::{TimeValue, VirtualTime},
};
use ctx_types::Code;
use support::{AT, env, origin, parse};

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
fn formats_twelve_hour_time_without_leading_zero() {
    check_in(&at("2025-01-01T12:00:00Z"), "{{time}}", "12:00 PM", &[]);
    check_in(&at("2025-01-01T09:07:00Z"), "{{time}}", "9:07 AM", &[]);
    check_in(&at("2025-01-01T12:05:00Z"), "{{datetime_jp}}", "2025年1月1日（水） 午後0時5分", &[]);
}

#[test]
fn defaults_to_locale_of_the_environment() {
    let env = Env { locale: Some("ja-JP".into()), ..env() };
    check_in(&env, "{{datetime_locale}}", "2025年11月7日金曜日 22:30", &[]);
}

#[test]
fn keeps_calls_beyond_virtual_time() {
    let clock = VirtualTime {
        begin: TimeValue::parse("1024-05-01 08:00").unwrap(),
        real_begin: TimeValue::Instant(AT - 60_000),
        scale: 60.0,
    };
    let wild = VirtualTime { scale: 1e12, ..clock };
    check_in(&Env { virtual_time: Some(wild), ..env() }, "{{time24}}", "{{time24}}", &[codes::NO_TIME]);
}

#[cfg(feature = "lunar")]
#[test]
fn formats_any_moment_in_every_form() {
    let registry = ctx_macros::Registry::builtin();
    let is_time =
        |known: &&ctx_macros::Definition| known.topic == ctx_macros::Topic::Time && known.is_in(Dialect::Aio);
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
