//! What windows are told of by themselves: numbered, and remembered for those that were away.

use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::access::lock;
use crate::api::{Notice, NoticeKind};

/// How many notices are remembered.
const MAX_REMEMBERED: usize = 1_000;

/// The notices of one run.
#[derive(Debug)]
pub(crate) struct Notices {
    run: String,
    told: Mutex<Told>,
    sender: Sender<Notice>,
}

#[derive(Debug, Default)]
struct Told {
    seq: u64,
    latest: VecDeque<Notice>,
}

impl Notices {
    pub(crate) fn new(run: String) -> Self {
        Self { run, told: Mutex::default(), sender: channel(MAX_REMEMBERED).0 }
    }

    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// The number of the last notice.
    pub(crate) fn seq(&self) -> u64 {
        lock(&self.told).seq
    }

    /// Tells all windows of something that soon is over; who is away then asks anew.
    pub(crate) fn tell_passing(&self, kind: NoticeKind, id: &str) {
        let told = lock(&self.told);
        let (run, id) = (self.run.clone(), Some(id.to_owned()));
        // Nobody needs to listen.
        drop(self.sender.send(Notice { run, seq: told.seq, kind, id, revision: None, by: None }));
    }

    /// Tells all windows.
    pub(crate) fn tell(&self, kind: NoticeKind, id: Option<&str>, revision: Option<u64>, by: Option<&str>) {
        let mut told = lock(&self.told);
        told.seq += 1;
        let (id, by) = (id.map(str::to_owned), by.map(str::to_owned));
        let notice = Notice { run: self.run.clone(), seq: told.seq, kind, id, revision, by };
        if told.latest.len() >= MAX_REMEMBERED {
            told.latest.pop_front();
        }
        told.latest.push_back(notice.clone());
        // Nobody needs to listen.
        drop(self.sender.send(notice));
    }

    /// Listens from now on; also returns what was told after a notice that a window knows, or where it knows none of
    /// this run, that it has to read all again.
    pub(crate) fn listen(&self, run: Option<&str>, since: Option<u64>) -> (Vec<Notice>, Receiver<Notice>) {
        let told = lock(&self.told);
        let receiver = self.sender.subscribe();
        let missed = match since {
            Some(since) if run == Some(self.run.as_str()) && since <= told.seq => {
                let first = told.latest.front().map_or(told.seq + 1, |notice| notice.seq);
                if since + 1 >= first {
                    told.latest.iter().filter(|notice| notice.seq > since).cloned().collect()
                } else {
                    vec![self.resync(told.seq)]
                }
            }
            _ => vec![self.resync(told.seq)],
        };
        (missed, receiver)
    }

    /// Says that all is to be read again.
    pub(crate) fn all_again(&self) -> Notice {
        self.resync(self.seq())
    }

    fn resync(&self, seq: u64) -> Notice {
        Notice { run: self.run.clone(), seq, kind: NoticeKind::Resync, id: None, revision: None, by: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(notices: &Notices, run: Option<&str>, since: Option<u64>, expected: &[(u64, NoticeKind)]) {
        let (missed, _) = notices.listen(run, since);
        let missed: Vec<_> = missed.iter().map(|notice| (notice.seq, notice.kind)).collect();
        assert_eq!(missed, expected);
    }

    #[test]
    fn who_was_away_hears_what_was_told_meanwhile_or_reads_all_again() {
        let notices = Notices::new("r1".to_owned());
        for _ in 0..3 {
            notices.tell(NoticeKind::Draft, Some("f"), Some(1), None);
        }
        check(&notices, None, None, &[(3, NoticeKind::Resync)]);
        check(&notices, Some("r1"), Some(3), &[]);
        check(&notices, Some("r1"), Some(1), &[(2, NoticeKind::Draft), (3, NoticeKind::Draft)]);
        check(&notices, Some("r0"), Some(1), &[(3, NoticeKind::Resync)]);
        check(&notices, Some("r1"), Some(9), &[(3, NoticeKind::Resync)]);
        for _ in 0..MAX_REMEMBERED {
            notices.tell(NoticeKind::File, None, None, None);
        }
        check(&notices, Some("r1"), Some(1), &[(1_003, NoticeKind::Resync)]);
    }
}
