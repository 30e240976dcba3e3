use std::sync::{Mutex, MutexGuard, PoisonError};

use ctx_processors::internal::{CompressionCache, RecallCache};

/// Cache shared by the turns of one conversation, with any agent. Keep one for each open conversation.
///
/// With `request-compressor`, keeps the rewritten prefix of the conversation unchanged until the request
/// comes near its budget again, so the provider's prompt cache stays valid; without it each turn rewrites the
/// prefix. Changed compressor settings or messages invalidate it. With `recall`, keeps the index of the
/// conversation. Previews do not change it.
///
/// ```
/// use ctx_engine::{Compile, Engine, Ports, Switches, TurnCache};
/// use ctx_types::{Agent, Role, TurnInput};
/// use ctx_types::session::{Node, Session, SessionOp};
///
/// let said = |n: usize| {
///     let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
///     let text = format!("Lamp {n} of the pier was lit by Ada at {}:30.", n % 24);
///     Node::new(role, text).with_id(format!("n{n}"))
/// };
/// let (mut session, _) = Session::linear("s1", (0..61).map(said));
/// let enable = vec!["request-compressor".to_owned()];
/// let with = Compile::default().with(|compile| compile.switches = Switches { enable, ..Switches::default() });
/// let compiled = Engine::new().compile(&Agent::default(), &with);
/// let memory = TurnCache::default();
/// let turn = TurnInput::default().with(|turn| turn.context_tokens = Some(1_000));
/// let ports = Ports::default().with(|ports| ports.memory = Some(&memory));
///
/// let first = pollster::block_on(compiled.assemble_with(&session, &turn, ports))?;
/// for n in [61, 62] {
///     let parent = session.active_leaf_id().clone();
///     session.apply(&SessionOp::Append { parent, node: Box::new(said(n)) })?;
/// }
/// let second = pollster::block_on(compiled.assemble_with(&session, &turn, ports))?;
/// assert!(first.messages.len() < 61);
/// assert_eq!(second.messages[..first.messages.len()], first.messages);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct TurnCache {
    compression: Mutex<CompressionCache>,
    recall: RecallCache,
}

impl TurnCache {
    /// Drops all cached data, including the index and the vectors of `recall`.
    pub fn forget(&self) {
        self.forget_context();
        self.recall.clear();
    }

    /// Drops the data of the last turn, whose context is not sent.
    ///
    /// Keeps the index of `recall`, which depends only on the conversation.
    pub fn forget_context(&self) {
        *self.lock_compression() = <_>::default();
    }

    /// Returns whether a rewritten prefix of the conversation is cached.
    pub fn is_compressed(&self) -> bool {
        self.lock_compression().is_set()
    }

    /// Returns whether no turn used `request-compressor` or `recall`.
    pub fn is_empty(&self) -> bool {
        self.lock_compression().is_empty() && self.recall.is_empty()
    }

    /// Returns a cache for another branch of the conversation. It shares the index of `recall`. O(1).
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { compression: Mutex::new(self.compression()), recall: self.recall() }
    }

    pub(crate) fn compression(&self) -> CompressionCache {
        self.lock_compression().clone()
    }

    pub(crate) fn recall(&self) -> RecallCache {
        self.recall.clone()
    }

    pub(crate) fn keep(&self, compression: CompressionCache) {
        *self.lock_compression() = compression;
    }

    fn lock_compression(&self) -> MutexGuard<'_, CompressionCache> {
        self.compression.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use ctx_types::session::{Node, Session};
    use ctx_types::{Agent, Role, TurnInput};

    use super::*;
    use crate::{Compile, Engine, Ports, Switches};

    #[test]
    fn forgets_recall_with_everything_else() {
        let said = (0..40).map(|n| Node::new(Role::User, format!("The lamp {n}.")).with_id(format!("n{n}")));
        let (session, _) = Session::linear("s", said);
        let enable = vec!["recall".to_owned()];
        let with = Compile::default().with(|with| with.switches = Switches { enable, ..Switches::default() });
        let compiled = Engine::new().compile(&Agent::default(), &with);
        let memory = TurnCache::default();
        let ports = Ports::default().with(|ports| ports.memory = Some(&memory));
        assert!(memory.is_empty());
        pollster::block_on(compiled.assemble_with(&session, &TurnInput::default(), ports)).unwrap();
        assert!(!memory.is_empty() && !memory.recall().is_empty());
        memory.forget_context();
        assert!(!memory.recall().is_empty(), "the index depends only on the conversation");
        memory.forget();
        assert!(memory.recall().is_empty());
    }
}
