//! Leases of conversations among processes.

use std::fmt;

use ctx_pipeline::Cancel;

/// The exclusive right to a conversation's next turn among all processes. Dropping the lease releases it.
#[derive(Default)]
pub struct StoreLease {
    release: Option<Box<dyn FnOnce() + Send + Sync>>,
    lost: Cancel,
}

impl StoreLease {
    /// Creates a lease that calls a function when it is dropped.
    pub fn until(release: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self { release: Some(Box::new(release)), lost: Cancel::default() }
    }

    /// Sets the handle that the store cancels when another process has, or may have, acquired the lease.
    #[must_use]
    pub fn with_lost(mut self, lost: Cancel) -> Self {
        self.lost = lost;
        self
    }

    /// Returns the handle that is canceled when another process has, or may have, acquired the lease. The turn must then
    /// end.
    pub fn lost(&self) -> &Cancel {
        &self.lost
    }

    /// Drops the lease without calling the function.
    #[cfg(feature = "postgres")]
    pub(crate) fn defuse(mut self) {
        self.release = None;
    }
}

impl Drop for StoreLease {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            release();
        }
    }
}

impl fmt::Debug for StoreLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreLease")
    }
}
