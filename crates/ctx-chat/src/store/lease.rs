//! Leases in an `SQLite` file. The owner of a lease runs the next turn of a conversation.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, params};

use crate::store::StoreError;

/// Lifetime of a lease without renewal, in milliseconds. After this time, other processes replace a killed process.
const TERM_MILLIS: i64 = 10_000;

/// Interval of renewals. A lease survives several late renewals.
pub(super) const RENEWAL: Duration = Duration::from_secs(2);

/// The leases of an open store.
#[derive(Debug)]
pub(super) struct Leases {
    /// Random id of this open store.
    process: String,
    held: Mutex<LeaseList>,
}

#[derive(Debug, Default)]
struct LeaseList {
    /// Number of the next lease.
    next: u64,
    /// Conversation of each owner. These leases are renewed.
    conversations: BTreeMap<String, String>,
}

impl Leases {
    pub(super) fn new(connection: &Connection) -> Result<Self, StoreError> {
        let process = connection.query_row("SELECT lower(hex(randomblob(16)))", [], |row| row.get(0))?;
        Ok(Self { process, held: Mutex::default() })
    }

    /// Returns a new owner. Its lease is renewed until [`Leases::end`].
    pub(super) fn begin(&self, conversation: &str) -> String {
        let mut held = self.held();
        let owner = format!("{}-{}", self.process, held.next);
        held.next += 1;
        held.conversations.insert(owner.clone(), conversation.to_owned());
        owner
    }

    /// Stops renewing the lease of this owner.
    pub(super) fn end(&self, owner: &str) {
        self.held().conversations.remove(owner);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held().conversations.is_empty()
    }

    /// Extends all leases of this store.
    pub(super) fn renew(&self, transaction: &Connection) -> Result<(), StoreError> {
        let held = self.held().conversations.clone();
        let sql = "UPDATE leases SET expires = ?1 WHERE conversation = ?2 AND owner = ?3";
        let mut update = transaction.prepare_cached(sql)?;
        let expires = now() + TERM_MILLIS;
        for (owner, conversation) in &held {
            update.execute(params![expires, conversation, owner])?;
        }
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, LeaseList> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Acquires the lease of a conversation, which may not exist yet. Returns whether the lease was free.
pub(super) fn take(transaction: &Connection, conversation: &str, owner: &str) -> Result<bool, StoreError> {
    remove_expired(transaction)?;
    let sql = "INSERT INTO leases VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    let expires = now() + TERM_MILLIS;
    Ok(transaction.prepare_cached(sql)?.execute(params![conversation, owner, expires])? == 1)
}

/// Releases a lease, unless it has expired and has another owner.
pub(super) fn release(transaction: &Connection, conversation: &str, owner: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM leases WHERE conversation = ?1 AND owner = ?2";
    transaction.prepare_cached(sql)?.execute([conversation, owner])?;
    Ok(())
}

/// Returns whether the lease of a conversation is free or expired. Does not write.
pub(super) fn is_free(connection: &Connection, conversation: &str) -> Result<bool, StoreError> {
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM leases
                                  WHERE conversation = ?1 AND expires > ?2 AND expires <= ?2 + ?3)";
    let given = params![conversation, now(), TERM_MILLIS];
    Ok(connection.prepare_cached(sql)?.query_row(given, |row| row.get(0))?)
}

/// Removes expired leases, and leases that expire too late because the clock was set back.
pub(super) fn remove_expired(transaction: &Connection) -> Result<(), StoreError> {
    let sql = "DELETE FROM leases WHERE expires <= ?1 OR expires > ?1 + ?2";
    transaction.prepare_cached(sql)?.execute([now(), TERM_MILLIS])?;
    Ok(())
}

/// Returns the time of this machine, which all processes with the file share.
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expiry(connection: &Connection, conversation: &str) -> i64 {
        let sql = "SELECT expires FROM leases WHERE conversation = ?1";
        connection.query_row(sql, [conversation], |row| row.get(0)).unwrap()
    }

    #[test]
    fn renews_held_leases_only() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::store::schema::prepare(&mut connection).unwrap();
        let leases = Leases::new(&connection).unwrap();
        let owners = ["held", "ended"].map(|conversation| {
            let owner = leases.begin(conversation);
            assert!(take(&connection, conversation, &owner).unwrap());
            owner
        });
        connection.execute_batch("UPDATE leases SET expires = 7").unwrap();
        leases.end(&owners[1]);
        leases.renew(&connection).unwrap();
        assert!(expiry(&connection, "held") > now() && !is_free(&connection, "held").unwrap());
        assert_eq!((expiry(&connection, "ended"), is_free(&connection, "ended").unwrap()), (7, true));
    }

    /// Checks whether a lease with this remaining lifetime can be acquired.
    #[track_caller]
    fn check_expiry(millis: i64, expected: bool) {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::store::schema::prepare(&mut connection).unwrap();
        connection.execute("INSERT INTO leases VALUES ('c', 'killed', ?1)", [now() + millis]).unwrap();
        assert_eq!(is_free(&connection, "c").unwrap(), expected);
        assert_eq!(take(&connection, "c", "other").unwrap(), expected);
        // The previous owner cannot release the lease of the next.
        release(&connection, "c", "killed").unwrap();
        assert_eq!(is_free(&connection, "c").unwrap(), !expected);
    }

    #[test]
    fn takes_over_expired_leases() {
        check_expiry(-1, true);
        check_expiry(TERM_MILLIS / 2, false);
        // The clock was set back.
        check_expiry(100 * TERM_MILLIS, true);
    }
}
