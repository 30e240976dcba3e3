//! What JavaScript holds by a number: agents, conversations, streams.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ctx_operations::{Agent, Conversation, OperationError, Stream};

thread_local! {
    static HELD: RefCell<Held> = RefCell::default();
}

/// Everything that is held.
#[derive(Default)]
pub(crate) struct Held {
    last: i32,
    pub(crate) agents: BTreeMap<i32, Agent>,
    pub(crate) conversations: BTreeMap<i32, Conversation>,
    pub(crate) streams: BTreeMap<i32, Stream>,
}

/// Works on what is held.
///
/// Errors: a function of the host's own that is being asked calls back.
pub(crate) fn with<T>(
    work: impl FnOnce(&mut Held) -> Result<T, OperationError>,
) -> Result<T, OperationError> {
    HELD.with(|held| match held.try_borrow_mut() {
        Ok(mut held) => work(&mut held),
        Err(_) => Err(OperationError::usage("a function that `ctx` calls cannot call `ctx`")),
    })
}

impl Held {
    /// Returns a number that nothing else has.
    pub(crate) fn number(&mut self) -> Result<i32, OperationError> {
        let next = self.last.checked_add(1);
        self.last = next.ok_or_else(|| OperationError::usage("too many handles were made"))?;
        Ok(self.last)
    }
}

/// The error of a number that nothing has.
pub(crate) fn unknown() -> OperationError {
    OperationError::usage("this handle was freed")
}
