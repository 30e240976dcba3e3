//! Leases in an `SQLite` file. The owner of a lease runs the next turn of a conversation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ctx_pipeline::Cancel;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::store::StoreError;

/// Lifetime of a lease without renewal, in milliseconds. After this time, other processes replace a killed process.
const TERM_MILLIS: i64 = 10_000;

/// Maximum remaining lifetime of a valid lease. It allows for a clock that was set back a little. A lease that expires
/// even later belongs to a time before the clock was set back.
const MAX_REMAINING_MILLIS: i64 = 10 * TERM_MILLIS;

/// Interval of renewals. A lease survives several late renewals.
pub(super) const RENEWAL: Duration = Duration::from_secs(2);

/// Returns the time in milliseconds since 1970-01-01T00:00:00Z.
pub(super) type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Returns the clock of this machine, which all processes with the file share.
pub(super) fn system_clock() -> Clock {
    Arc::new(|| jiff::Timestamp::now().as_millisecond())
}

/// The leases of an open store.
pub(super) struct Leases {
    /// Random id of this open store.
    process: String,
    clock: Clock,
    held: Mutex<LeaseList>,
}

#[derive(Debug, Default)]
struct LeaseList {
    /// Number of the next lease.
    next: u64,
    by_owner: BTreeMap<String, Lease>,
}

#[derive(Clone, Debug)]
struct Lease {
    conversation: String,
    /// Stored expiry; `None` until the lease is acquired.
    expires: Option<i64>,
    /// Called when another process has acquired the lease.
    lost: Cancel,
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("held", &self.held).finish_non_exhaustive()
    }
}

impl Leases {
    pub(super) fn new(connection: &Connection, clock: Clock) -> Result<Self, StoreError> {
        let process = connection.query_row("SELECT lower(hex(randomblob(16)))", [], |row| row.get(0))?;
        Ok(Self { process, clock, held: Mutex::default() })
    }

    /// Returns a new owner. After [`Leases::take`], its lease is renewed until [`Leases::end`]. Calls `lost` if another
    /// process acquires the lease.
    pub(super) fn begin(&self, conversation: &str, lost: Cancel) -> String {
        let mut held = self.held();
        let owner = format!("{}-{}", self.process, held.next);
        held.next += 1;
        let lease = Lease { conversation: conversation.to_owned(), expires: None, lost };
        held.by_owner.insert(owner.clone(), lease);
        owner
    }

    /// Stops renewing the lease of this owner.
    pub(super) fn end(&self, owner: &str) {
        self.held().by_owner.remove(owner);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held().by_owner.is_empty()
    }

    /// Acquires the lease of a conversation, which may not exist yet. Replaces an expired lease. Returns whether the
    /// lease was free.
    pub(super) fn take(
        &self,
        transaction: &Connection,
        conversation: &str,
        owner: &str,
    ) -> Result<bool, StoreError> {
        let now = (self.clock)();
        let expires = now + TERM_MILLIS;
        let sql = "INSERT INTO leases VALUES (?1, ?2, ?3) ON CONFLICT (conversation) DO UPDATE
                   SET owner = excluded.owner, expires = excluded.expires
                   WHERE leases.expires <= ?4 OR leases.expires > ?5";
        let given = params![conversation, owner, expires, now, now + MAX_REMAINING_MILLIS];
        let is_taken = transaction.prepare_cached(sql)?.execute(given)? == 1;
        if is_taken && let Some(lease) = self.held().by_owner.get_mut(owner) {
            lease.expires = Some(expires);
        }
        Ok(is_taken)
    }

    /// Returns whether the lease of a conversation is free or expired. Does not write.
    pub(super) fn is_free(&self, connection: &Connection, conversation: &str) -> Result<bool, StoreError> {
        let now = (self.clock)();
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM leases
                                      WHERE conversation = ?1 AND expires > ?2 AND expires <= ?3)";
        let given = params![conversation, now, now + MAX_REMAINING_MILLIS];
        Ok(connection.prepare_cached(sql)?.query_row(given, |row| row.get(0))?)
    }

    /// Removes the expired lease of a deleted conversation.
    pub(super) fn remove_expired(
        &self,
        transaction: &Connection,
        conversation: &str,
    ) -> Result<(), StoreError> {
        let now = (self.clock)();
        let sql = "DELETE FROM leases WHERE conversation = ?1 AND (expires <= ?2 OR expires > ?3)";
        transaction.prepare_cached(sql)?.execute(params![conversation, now, now + MAX_REMAINING_MILLIS])?;
        Ok(())
    }

    /// Extends all leases of this store, and returns their expiry for [`Leases::confirm`]. Ends the turns whose leases
    /// are lost.
    pub(super) fn renew(&self, transaction: &Connection) -> Result<i64, StoreError> {
        let expires = (self.clock)() + TERM_MILLIS;
        let held = self.held().by_owner.clone();
        let sql = "INSERT INTO leases VALUES (?1, ?2, ?3) ON CONFLICT (conversation) DO UPDATE
                   SET expires = excluded.expires WHERE owner = excluded.owner";
        let mut update = transaction.prepare_cached(sql)?;
        for (owner, lease) in held.iter().filter(|(_, lease)| lease.expires.is_some()) {
            if self.keeps(transaction, owner, lease)? {
                update.execute(params![lease.conversation, owner, expires])?;
            }
        }
        Ok(expires)
    }

    /// Records that a renewal is stored.
    pub(super) fn confirm(&self, renewed: i64) {
        for lease in self.held().by_owner.values_mut().filter(|lease| !lease.lost.is_cancelled()) {
            lease.expires = lease.expires.map(|_| renewed);
        }
    }

    /// Checks a write to a conversation. If this store has acquired its lease, the lease must not be lost.
    pub(super) fn check(&self, transaction: &Connection, conversation: &str) -> Result<(), StoreError> {
        let held = self.held().by_owner.clone();
        let is_held = |lease: &Lease| lease.conversation == conversation && lease.expires.is_some();
        let mut is_lost = false;
        for (owner, lease) in held.iter().filter(|(_, lease)| is_held(lease)) {
            if self.keeps(transaction, owner, lease)? {
                return Ok(());
            }
            is_lost = true;
        }
        if is_lost { Err(StoreError::LeaseLost { id: conversation.to_owned() }) } else { Ok(()) }
    }

    /// Returns whether a lease still belongs to its owner, even if it has expired. Otherwise ends its turn.
    fn keeps(&self, transaction: &Connection, owner: &str, lease: &Lease) -> Result<bool, StoreError> {
        let sql = "SELECT owner FROM leases WHERE conversation = ?1";
        let mut select = transaction.prepare_cached(sql)?;
        let found: Option<String> = select.query_row([&lease.conversation], |row| row.get(0)).optional()?;
        let keeps = match found {
            _ if lease.lost.is_cancelled() => false,
            Some(found) => found == owner,
            // After the expiry, another process may have acquired and released the lease.
            None => {
                let now = (self.clock)();
                lease.expires.is_some_and(|expires| now < expires && expires <= now + MAX_REMAINING_MILLIS)
            }
        };
        if !keeps {
            lease.lost.cancel();
        }
        Ok(keeps)
    }

    fn held(&self) -> MutexGuard<'_, LeaseList> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Releases a lease, unless it has expired and has another owner.
pub(super) fn release(transaction: &Connection, conversation: &str, owner: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM leases WHERE conversation = ?1 AND owner = ?2";
    transaction.prepare_cached(sql)?.execute([conversation, owner])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// A store in memory with a clock that stands still.
    struct Desk {
        connection: Connection,
        clock: Arc<AtomicI64>,
    }

    impl Desk {
        fn new() -> Self {
            let mut connection = Connection::open_in_memory().unwrap();
            crate::store::schema::prepare(&mut connection).unwrap();
            Self { connection, clock: Arc::new(AtomicI64::new(1_000_000)) }
        }

        /// Returns the leases of another process.
        fn process(&self) -> Leases {
            let clock = self.clock.clone();
            Leases::new(&self.connection, Arc::new(move || clock.load(Ordering::Relaxed))).unwrap()
        }

        fn wait(&self, millis: i64) {
            self.clock.fetch_add(millis, Ordering::Relaxed);
        }

        /// Acquires the lease of `c`, and returns its owner and the handle that tells of its loss.
        fn take(&self, leases: &Leases) -> Option<(String, Cancel)> {
            let lost = Cancel::default();
            let owner = leases.begin("c", lost.clone());
            leases.take(&self.connection, "c", &owner).unwrap().then_some((owner, lost))
        }

        fn renew(&self, leases: &Leases) {
            leases.confirm(leases.renew(&self.connection).unwrap());
        }

        fn is_free(&self) -> bool {
            self.process().is_free(&self.connection, "c").unwrap()
        }

        #[track_caller]
        fn check_lost(&self, leases: &Leases, lost: &Cancel) {
            let refused = leases.check(&self.connection, "c");
            assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
            assert!(lost.is_cancelled());
        }
    }

    #[test]
    fn renews_acquired_leases_only() {
        let desk = Desk::new();
        let (here, waiting) = (desk.process(), desk.process());
        let (owner, _) = desk.take(&here).unwrap();
        assert!(desk.take(&waiting).is_none());
        for _ in 0..10 {
            desk.wait(TERM_MILLIS - 1);
            desk.renew(&here);
        }
        release(&desk.connection, "c", &owner).unwrap();
        here.end(&owner);
        // A process that waits for the lease must not get it by its renewal.
        desk.renew(&waiting);
        desk.renew(&here);
        assert!(desk.is_free());
    }

    /// Checks whether a lease with this remaining lifetime can be acquired.
    #[track_caller]
    fn check_expiry(millis: i64, expected: bool) {
        let desk = Desk::new();
        let expires = desk.clock.load(Ordering::Relaxed) + millis;
        desk.connection.execute("INSERT INTO leases VALUES ('c', 'killed', ?1)", [expires]).unwrap();
        assert_eq!(desk.is_free(), expected);
        assert_eq!(desk.take(&desk.process()).is_some(), expected);
        // The previous owner cannot release the lease of the next.
        release(&desk.connection, "c", "killed").unwrap();
        assert_eq!(desk.is_free(), !expected);
    }

    #[test]
    fn takes_over_expired_leases() {
        check_expiry(0, true);
        check_expiry(1, false);
        // The clock was set back a little.
        check_expiry(TERM_MILLIS + 5, false);
        check_expiry(MAX_REMAINING_MILLIS, false);
        check_expiry(MAX_REMAINING_MILLIS + 1, true);
    }

    #[test]
    fn takes_no_lease_of_other_conversations() {
        let desk = Desk::new();
        let here = desk.process();
        let (_, lost) = desk.take(&here).unwrap();
        desk.wait(TERM_MILLIS + 1);
        let there = desk.process();
        let owner = there.begin("other", Cancel::default());
        assert!(there.take(&desk.connection, "other", &owner).unwrap());
        here.check(&desk.connection, "c").unwrap();
        desk.renew(&here);
        assert!(!lost.is_cancelled() && !desk.is_free());
    }

    #[test]
    fn keeps_deleted_lease_until_its_expiry() {
        let desk = Desk::new();
        let here = desk.process();
        let (_, lost) = desk.take(&here).unwrap();
        desk.connection.execute("DELETE FROM leases", []).unwrap();
        here.check(&desk.connection, "c").unwrap();
        desk.renew(&here);
        assert!(!lost.is_cancelled() && !desk.is_free());
        desk.connection.execute("DELETE FROM leases", []).unwrap();
        desk.wait(TERM_MILLIS);
        desk.check_lost(&here, &lost);
    }

    /// Another process may have acquired and released the lease while the clock was set back.
    #[test]
    fn loses_deleted_lease_after_clock_was_set_back() {
        let desk = Desk::new();
        let here = desk.process();
        let (_, lost) = desk.take(&here).unwrap();
        desk.wait(-MAX_REMAINING_MILLIS);
        desk.connection.execute("DELETE FROM leases", []).unwrap();
        desk.check_lost(&here, &lost);
    }

    #[test]
    fn ends_turn_whose_lease_another_process_takes() {
        let desk = Desk::new();
        let here = desk.process();
        let (_, lost) = desk.take(&here).unwrap();
        desk.wait(TERM_MILLIS);
        let there = desk.process();
        let (owner, kept) = desk.take(&there).unwrap();
        desk.renew(&here);
        assert!(lost.is_cancelled());
        desk.check_lost(&here, &lost);
        there.check(&desk.connection, "c").unwrap();
        // Also after the other turn.
        release(&desk.connection, "c", &owner).unwrap();
        desk.check_lost(&here, &lost);
        assert!(!kept.is_cancelled() && desk.is_free());
    }

    #[test]
    fn ends_turn_that_missed_another_turn() {
        let desk = Desk::new();
        let here = desk.process();
        let (_, lost) = desk.take(&here).unwrap();
        desk.wait(TERM_MILLIS);
        let (owner, _) = desk.take(&desk.process()).unwrap();
        release(&desk.connection, "c", &owner).unwrap();
        desk.check_lost(&here, &lost);
        desk.renew(&here);
        assert!(desk.is_free());
    }
}
