//! Waiting: until something comes, a limit is over or somebody cancels; and between attempts.

use std::future::Future;
use std::time::Duration;

use ctx_pipeline::Cancel;
use reqwest::header::HeaderMap;
use tokio::time::{Instant, sleep_until};

use crate::error::{ClientError, Phase};

/// A moment until which something must have happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    pub(super) at: Instant,
    pub(super) limit: Duration,
    pub(super) phase: Phase,
}

impl Until {
    /// A limit that begins now.
    pub(super) fn new(phase: Phase, limit: Duration) -> Self {
        // What is too far away to be a moment is never reached: a century is as good.
        let far = Duration::from_secs(60 * 60 * 24 * 36_500);
        Self { at: Instant::now() + limit.min(far), limit, phase }
    }

    /// The earlier of two.
    pub(super) fn or(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }

    /// Waits for something until then.
    pub(super) async fn wait<T>(
        self,
        cancel: &Cancel,
        work: impl Future<Output = T>,
    ) -> Result<T, ClientError> {
        let over = || Err(ClientError::TimedOut { phase: self.phase, limit: self.limit });
        // Where something is always there already, the clock would never be looked at below.
        if self.at <= Instant::now() {
            return over();
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ClientError::Cancelled),
            done = work => Ok(done),
            () = sleep_until(self.at) => over(),
        }
    }
}

/// Reads how long a provider wants to be left alone: in milliseconds, in seconds, or until a date.
pub(super) fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    // More seconds than a wait can have are as many as it can have: that is longer than anybody waits.
    let wait = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Some(wait(millis / 1_000.0));
    }
    let after = text("retry-after")?;
    match number(after) {
        Some(seconds) => Some(wait(seconds)),
        None => until_date(after, jiff::Timestamp::now()),
    }
}

/// The time from now until a date as HTTP writes it; one that has passed means no time.
fn until_date(date: &str, now: jiff::Timestamp) -> Option<Duration> {
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).ok()?;
    Some(at.duration_since(now).try_into().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &'static str, value: &str, expected: Option<f64>) {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        assert_eq!(asked_wait(&headers), expected.map(Duration::from_secs_f64), "{name}: {value}");
    }

    #[test]
    fn a_wait_is_read_in_every_spelling() {
        check("retry-after-ms", "1500", Some(1.5));
        check("retry-after", "2", Some(2.0));
        check("retry-after", " 0.25 ", Some(0.25));
        check("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(0.0));
        check("retry-after", "1000000000000", Some(1e12));
    }

    #[test]
    fn a_wait_without_end_is_the_longest() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "1e300".parse().unwrap());
        assert_eq!(asked_wait(&headers), Some(Duration::MAX));
    }

    #[test]
    fn what_is_no_wait_is_none() {
        check("retry-after", "soon", None);
        check("retry-after", "-1", None);
        check("retry-after", "inf", None);
        check("x-retry", "1", None);
    }

    #[test]
    fn a_date_is_as_far_away_as_it_is() {
        let now = "1994-11-06T08:49:07Z".parse().unwrap();
        let wait = until_date("Sun, 06 Nov 1994 08:49:37 GMT", now);
        assert_eq!(wait, Some(Duration::from_secs(30)));
    }
}
