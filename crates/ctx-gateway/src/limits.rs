//! What keys have used up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ctx_types::phrase;
use tokio::time::Instant;

use crate::keys::KeyEntry;
use crate::refusal::Refusal;

/// The time over which is counted.
const MINUTE: Duration = Duration::from_secs(60);

/// What each key has used up in its minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters(Arc<Mutex<BTreeMap<String, Meter>>>);

#[derive(Debug)]
struct Meter {
    since: Instant,
    requests: u64,
    tokens: u64,
    turns: u64,
}

/// A turn that counts against its key while it lasts.
#[derive(Debug)]
pub(crate) struct Metered {
    meters: Meters,
    key: String,
}

impl Meters {
    /// Counts a request, or refuses it.
    pub(crate) fn begin(&self, key: &KeyEntry) -> Result<Metered, Refusal> {
        let mut meters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let fresh = || Meter { since: now, requests: 0, tokens: 0, turns: 0 };
        let meter = meters.entry(key.name.clone()).or_insert_with(fresh);
        if now.duration_since(meter.since) >= MINUTE {
            *meter = Meter { turns: meter.turns, ..fresh() };
        }
        let wait = MINUTE.saturating_sub(now.duration_since(meter.since));
        let is_used = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used >= limit);
        if is_used(meter.requests, key.limits.requests) {
            return Err(Refusal::rate_limited(
                phrase!("this client key reached its limit of requests per minute"),
                wait,
            ));
        }
        if is_used(meter.tokens, key.limits.tokens) {
            return Err(Refusal::rate_limited(
                phrase!("this client key reached its limit of tokens per minute"),
                wait,
            ));
        }
        if is_used(meter.turns, key.limits.turns) {
            let text = phrase!("this client key reached its limit of concurrent turns");
            return Err(Refusal::rate_limited(text, Duration::from_secs(1)));
        }
        meter.requests += 1;
        meter.turns += 1;
        Ok(Metered { meters: self.clone(), key: key.name.clone() })
    }
}

impl Metered {
    /// Counts what a turn cost.
    pub(crate) fn used(&self, tokens: u64) {
        let mut meters = self.meters.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(meter) = meters.get_mut(&self.key) {
            meter.tokens = meter.tokens.saturating_add(tokens);
        }
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        let mut meters = self.meters.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(meter) = meters.get_mut(&self.key) {
            meter.turns = meter.turns.saturating_sub(1);
        }
    }
}
