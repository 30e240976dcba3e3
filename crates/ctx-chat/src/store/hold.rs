//! The right to a conversation's next turn, among processes.

use std::fmt;

/// Holds a conversation until it is dropped.
#[derive(Default)]
pub struct Hold(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Hold {
    /// Calls a function when the conversation is held no longer.
    pub fn until(release: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(release)))
    }

    /// Ends it without calling anything.
    #[cfg(feature = "postgres")]
    pub(crate) fn defuse(mut self) {
        self.0 = None;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            release();
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hold")
    }
}
