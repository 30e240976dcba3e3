use ctx_types::internal::{Argument, Divider, closest, excerpt};
use ctx_types::{Diagnostic, phrase};

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::dates::locale::{self, Locale};
use crate::dates::pattern;
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    let definition = |name: &'static str, tag: &'static str, pattern: &'static str| {
        Definition::new(name, move |call| format_time(tag, pattern, call)).volatile()
    };
    vec![
        definition("date_cn", "zh-CN", "YYYY年M月D日").describe("Date, `2025年11月7日`.", "{{date_cn}}"),
        definition("datetime_cn", "zh-CN", "YYYY年M月D日 HH:mm")
            .describe("Date and time, `2025年11月7日 22:30`.", "{{datetime_cn}}"),
        definition("weekday_cn", "zh-CN", "dddd").describe("Day of the week, `星期五`.", "{{weekday_cn}}"),
        definition("date_jp", "ja-JP", "YYYY年M月D日（ddd）")
            .describe("Date, `2025年11月7日（金）`.", "{{date_jp}}"),
        Definition::new("datetime_jp", datetime_jp)
            .volatile()
            .describe("Date and time, `2025年11月7日（金） 午後10時30分`.", "{{datetime_jp}}"),
        definition("date_ko", "ko-KR", "YYYY년 M월 D일 (ddd)")
            .describe("Date, `2025년 11월 7일 (금)`.", "{{date_ko}}"),
        Definition::new("datetime_locale", datetime_locale).arity(0, 1).volatile().describe(
            "Date, day of the week and time in a language: a tag such as `fr-FR`, or a name such as \
                 `tw` [default: the user's].",
            "{{datetime_locale::fr-FR}}",
        ),
    ]
}

fn format_time(tag: &str, pattern: &str, call: &mut Call<'_>) -> Result<Value, Failure> {
    let locale = locale::find(tag).unwrap_or_else(locale::english);
    Ok(pattern::format(pattern, &call.now()?, locale).into())
}

/// Japanese noon is `午後0時`, an hour that no token writes.
fn datetime_jp(call: &mut Call<'_>) -> Result<Value, Failure> {
    let hour = call.now()?.hour() % 12;
    format_time("ja-JP", &format!("YYYY年M月D日（ddd） A[{hour}]時m分"), call)
}

fn datetime_locale(call: &mut Call<'_>) -> Result<Value, Failure> {
    let asked = call.argument(0);
    let locale = match asked {
        "" => call.env().locale.as_deref().and_then(locale::find).unwrap_or_else(locale::english),
        _ => locale::find(asked).ok_or_else(|| unknown(asked))?,
    };
    Ok(Locale::long(locale, &call.now()?).into())
}

fn unknown(asked: &str) -> Failure {
    let message = phrase!("unsupported language `{asked}` for dates", asked = excerpt(asked));
    let known: Vec<&str> = locale::tags().collect();
    let finding = Diagnostic::error(codes::UNKNOWN_LOCALE, message);
    Failure::new(match closest(asked, known.iter().copied()) {
        Some(near) => finding.with_suggestion(near),
        None => {
            finding.with_help(phrase!("use one of {known}", known = Argument::list(&known, Divider::Comma)))
        }
    })
}
