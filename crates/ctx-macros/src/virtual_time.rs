use ctx_types::{Phrase, phrase};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;

/// Clock that showed `begin` at the real time `real_begin` and runs at `scale` times real speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VirtualTime {
    pub begin: TimeValue,
    pub real_begin: TimeValue,
    /// Speed relative to real time: 0 stops the clock, negative values run backward.
    pub scale: f64,
}

/// A time as written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeValue {
    /// Milliseconds since the Unix epoch.
    Instant(i64),
    /// Date and time in the time zone of the turn.
    Local(DateTime),
}

impl VirtualTime {
    /// Reads `virtualTimeConfig` of an agent: `virtualBaseTime`, `realBaseTime`, and `timeScale` (default 1).
    ///
    /// A time is a number of milliseconds since the Unix epoch or a text such as `2025-11-07T22:30:00+08:00`.
    /// A text without an offset is in the time zone of the turn. A date alone is midnight UTC.
    ///
    /// # Errors
    /// Names the invalid value.
    pub fn read(config: &Value) -> Result<Self, Phrase> {
        let moment = |key: &str| {
            let value = config.get(key).unwrap_or(&Value::Null);
            TimeValue::read(value).ok_or_else(|| phrase!("`{key}` is not a date", key))
        };
        let scale = match config.get("timeScale") {
            None | Some(Value::Null) => 1.0,
            Some(scale) => scale.as_f64().ok_or_else(|| phrase!("`timeScale` is not a number"))?,
        };
        Ok(Self { begin: moment("virtualBaseTime")?, real_begin: moment("realBaseTime")?, scale })
    }

    /// In milliseconds since the Unix epoch. `None` if out of range.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "calendar times are exact; the sum is checked"
    )]
    pub(crate) fn at(&self, millis: i64, zone: &TimeZone) -> Option<i64> {
        let begin = self.begin.millis(zone)?;
        let passed = millis.checked_sub(self.real_begin.millis(zone)?)?;
        let shown = begin as f64 + passed as f64 * self.scale;
        (shown.is_finite() && shown.abs() < 1e18).then_some(shown.round() as i64)
    }
}

impl TimeValue {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => number.as_i64().map(Self::Instant),
            Value::String(text) => Self::parse(text),
            _ => None,
        }
    }

    /// Parses a numeric date like JavaScript's `Date`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().replace('/', "-");
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Some(Self::Instant(instant.as_millisecond()));
        }
        let is_date = !text.contains([':', 'T', ' ']);
        match text.parse::<Date>() {
            Ok(date) if is_date => {
                let midnight = date.at(0, 0, 0, 0).to_zoned(TimeZone::UTC).ok()?;
                Some(Self::Instant(midnight.timestamp().as_millisecond()))
            }
            _ => text.parse::<DateTime>().ok().map(Self::Local),
        }
    }

    fn millis(self, zone: &TimeZone) -> Option<i64> {
        match self {
            Self::Instant(millis) => Some(millis),
            Self::Local(time) => {
                zone.to_ambiguous_timestamp(time).compatible().ok().map(Timestamp::as_millisecond)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(config: &Value, at: &str, expected: Option<&str>) {
        let clock = VirtualTime::read(config).unwrap();
        let zone = jiff::tz::TimeZoneDatabase::bundled().get("Asia/Shanghai").unwrap();
        let at = at.parse::<Timestamp>().unwrap().as_millisecond();
        let shown =
            clock.at(at, &zone).map(|millis| Timestamp::from_millisecond(millis).unwrap().to_string());
        assert_eq!(shown.as_deref(), expected);
    }

    #[test]
    fn scales_time_from_its_start() {
        let begin =
            json!({ "virtualBaseTime": "1999-01-01T00:00:00Z", "realBaseTime": "2025-01-01T00:00:00Z" });
        check(&begin, "2025-01-02T00:00:00Z", Some("1999-01-02T00:00:00Z"));
        check(&begin, "2024-12-31T00:00:00Z", Some("1998-12-31T00:00:00Z"));
        let scaled = |scale: Value| {
            let mut config = begin.clone();
            config["timeScale"] = scale;
            config
        };
        check(&scaled(json!(24)), "2025-01-01T01:00:00Z", Some("1999-01-02T00:00:00Z"));
        check(&scaled(json!(0)), "2030-01-01T01:00:00Z", Some("1999-01-01T00:00:00Z"));
        check(&scaled(json!(null)), "2025-01-01T01:00:00Z", Some("1999-01-01T01:00:00Z"));
        check(&scaled(json!(1e300)), "2025-01-01T01:00:00Z", None);
    }

    #[test]
    fn reads_local_time_in_turn_zone() {
        let local = json!({ "virtualBaseTime": "1024/05/01 08:00", "realBaseTime": 1_735_689_600_000_i64 });
        check(&local, "2025-01-01T00:00:00Z", Some("1024-04-30T23:54:17Z"));
        let date = json!({ "virtualBaseTime": "2000-01-01", "realBaseTime": "2025-01-01T08:00:00+08:00" });
        check(&date, "2025-01-01T00:00:00Z", Some("2000-01-01T00:00:00Z"));
    }

    #[test]
    fn rejects_invalid_config() {
        let error = |config: Value| VirtualTime::read(&config).unwrap_err();
        assert_eq!(error(json!({})), "`virtualBaseTime` is not a date");
        assert_eq!(
            error(json!({ "virtualBaseTime": "2025-13-01", "realBaseTime": 0 })),
            "`virtualBaseTime` is not a date"
        );
        assert_eq!(
            error(json!({ "virtualBaseTime": 0, "realBaseTime": "soon" })),
            "`realBaseTime` is not a date"
        );
        assert_eq!(
            error(json!({ "virtualBaseTime": 0, "realBaseTime": 0, "timeScale": "x" })),
            "`timeScale` is not a number"
        );
        assert_eq!(error(json!(null)), "`virtualBaseTime` is not a date");
    }
}
