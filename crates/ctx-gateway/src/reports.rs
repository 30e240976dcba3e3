//! Why the latest turns sent what they sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ctx_types::{NodeId, Report};

/// How many reports are kept.
const MAX_REPORTS: usize = 512;

/// The reports of the latest turns, by conversation and by the message that was answered.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<Kept>);

type Key = (String, NodeId);

#[derive(Debug, Default)]
struct Kept {
    reports: BTreeMap<Key, (u64, Arc<Report>)>,
    by_age: BTreeMap<u64, Key>,
    next: u64,
}

impl Reports {
    pub(crate) fn keep(&self, conversation: &str, turn: NodeId, report: Report) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (age, key) = (kept.next, (conversation.to_owned(), turn));
        kept.next += 1;
        if let Some((before, _)) = kept.reports.insert(key.clone(), (age, Arc::new(report))) {
            kept.by_age.remove(&before);
        }
        kept.by_age.insert(age, key);
        if kept.by_age.len() > MAX_REPORTS
            && let Some((_, oldest)) = kept.by_age.pop_first()
        {
            kept.reports.remove(&oldest);
        }
    }

    pub(crate) fn get(&self, conversation: &str, turn: &str) -> Option<Arc<Report>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.reports.get(&(conversation.to_owned(), turn.into())).map(|(_, report)| report.clone())
    }
}
