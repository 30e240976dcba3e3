//! Rate limits of client keys.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ctx_types::phrase;
use tokio::time::Instant;

use crate::api_error::ApiError;
use crate::keys::KeyEntry;
use crate::lock;

/// Period of the rate limits.
const MINUTE: Duration = Duration::from_secs(60);

/// Usage of each key in its current minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters(Arc<Mutex<BTreeMap<String, Meter>>>);

#[derive(Debug)]
struct Meter {
    since: Instant,
    requests: u64,
    tokens: u64,
    turns: u64,
}

/// Counts a concurrent turn of a key until it is dropped.
#[derive(Debug)]
pub(crate) struct UsageGuard {
    meters: Meters,
    key: String,
}

impl Meters {
    /// Counts a request that starts a turn, or returns an error if the key reached a limit.
    pub(crate) fn start_turn(&self, key: &KeyEntry) -> Result<UsageGuard, ApiError> {
        self.count(key, 1)?;
        Ok(UsageGuard { meters: self.clone(), key: key.name.clone() })
    }

    /// Counts a request without a turn, or returns an error if the key reached its limit of requests.
    pub(crate) fn count_request(&self, key: &KeyEntry) -> Result<(), ApiError> {
        self.count(key, 0)
    }

    fn count(&self, key: &KeyEntry, turns: u64) -> Result<(), ApiError> {
        let mut meters = lock(&self.0);
        let now = Instant::now();
        let fresh = || Meter { since: now, requests: 0, tokens: 0, turns: 0 };
        let meter = meters.entry(key.name.clone()).or_insert_with(fresh);
        if now.duration_since(meter.since) >= MINUTE {
            *meter = Meter { turns: meter.turns, ..fresh() };
        }
        let wait = MINUTE.saturating_sub(now.duration_since(meter.since));
        let is_used = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used >= limit);
        if is_used(meter.requests, key.limits.requests) {
            return Err(ApiError::rate_limited(
                phrase!("this client key reached its limit of requests per minute"),
                wait,
            ));
        }
        if turns > 0 && is_used(meter.tokens, key.limits.tokens) {
            return Err(ApiError::rate_limited(
                phrase!("this client key reached its limit of tokens per minute"),
                wait,
            ));
        }
        if turns > 0 && is_used(meter.turns, key.limits.turns) {
            let text = phrase!("this client key reached its limit of concurrent turns");
            return Err(ApiError::rate_limited(text, Duration::from_secs(1)));
        }
        meter.requests += 1;
        meter.turns += turns;
        Ok(())
    }
}

impl UsageGuard {
    /// Adds the tokens of a turn.
    pub(crate) fn add_tokens(&self, tokens: u64) {
        let mut meters = lock(&self.meters.0);
        if let Some(meter) = meters.get_mut(&self.key) {
            meter.tokens = meter.tokens.saturating_add(tokens);
        }
    }
}

impl Drop for UsageGuard {
    fn drop(&mut self) {
        let mut meters = lock(&self.meters.0);
        if let Some(meter) = meters.get_mut(&self.key) {
            meter.turns = meter.turns.saturating_sub(1);
        }
    }
}
