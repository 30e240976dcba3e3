use ctx_types::phrase;
use jiff::civil::DateTime;

use crate::call::{Call, Failure, Value};
use crate::dates::chinese::{capital_digits, capital_number};
use crate::dates::{locale, lunar, old_english};
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    let definition = |name: &'static str, write: fn(DateTime) -> Option<String>| {
        Definition::new(name, move |call| expand_time(write, call)).volatile()
    };
    vec![
        definition("date_cn_ancient", |now| lunar::date(now.date())).describe(
            "Date in the traditional Chinese calendar, `乙巳年（蛇年）九月十八`.",
            "{{date_cn_ancient}}",
        ),
        definition("time_cn_ancient", |now| Some(lunar::double_hour_and_quarter(now.time())))
            .describe("Traditional double hour and quarter, `亥时六刻`.", "{{time_cn_ancient}}"),
        definition("datetime_cn_ancient", |now| {
            Some(format!("{} {}", lunar::date(now.date())?, lunar::double_hour_and_quarter(now.time())))
        })
        .describe("Traditional date and time, `乙巳年（蛇年）九月十八 亥时六刻`.", "{{datetime_cn_ancient}}"),
        definition("shichen", |now| Some(lunar::double_hour(now.time())))
            .describe("Traditional double hour, `亥时`.", "{{shichen}}"),
        definition("date_cn_uppercase", |now| Some(capital_date(now)))
            .describe("Date in capital numerals, `贰零贰伍年拾壹月柒日`.", "{{date_cn_uppercase}}"),
        definition("time_cn_uppercase", |now| Some(capital_time(now)))
            .describe("Time in capital numerals, `贰拾贰时叁拾分`.", "{{time_cn_uppercase}}"),
        definition("datetime_cn_uppercase", |now| {
            Some(format!("{}{}", capital_date(now), capital_time(now)))
        })
        .describe(
            "Date and time in capital numerals, `贰零贰伍年拾壹月柒日贰拾贰时叁拾分`.",
            "{{datetime_cn_uppercase}}",
        ),
        definition("date_en_ancient", |now| Some(english_date(now))).describe(
            "Date, `the 7th day of November, in the year of our Lord 2025`.",
            "{{date_en_ancient}}",
        ),
        definition("datetime_en_ancient", |now| {
            Some(format!("{}, at {}", english_date(now), old_english::time(now.time())))
        })
        .describe(
            "Date and time, ending in `at half past 3 in the afternoon` or `at high noon`.",
            "{{datetime_en_ancient}}",
        ),
    ]
}

fn expand_time(write: fn(DateTime) -> Option<String>, call: &mut Call<'_>) -> Result<Value, Failure> {
    let now = call.now()?.datetime();
    write(now).map(Value::from).ok_or_else(|| {
        Failure::from_message(if cfg!(feature = "lunar") {
            phrase!("no supported calendar contains {date}", date = now.date().to_string())
        } else {
            phrase!("this program was built without the traditional Chinese calendar (feature `lunar`)")
        })
    })
}

fn capital_date(now: DateTime) -> String {
    let (month, day) = (now.month().unsigned_abs(), now.day().unsigned_abs());
    format!("{}年{}月{}日", capital_digits(now.year()), capital_number(month), capital_number(day))
}

fn capital_time(now: DateTime) -> String {
    let (hour, minute) = (now.hour().unsigned_abs(), now.minute().unsigned_abs());
    format!("{}时{}分", capital_number(hour), capital_number(minute))
}

fn english_date(now: DateTime) -> String {
    old_english::date(now.date(), locale::english().month(now.month()))
}
