//! What the turns of one conversation keep for each other.

use std::sync::{Mutex, PoisonError};

use ctx_processors::{KeptCompression, KeptRecall};

/// What the turns of one conversation keep for each other; a host has one beside each conversation that is open.
///
/// With `request-compressor` on, a beginning of the conversation that was rewritten stays as it was written until the
/// request comes near its budget again, so that the provider's prompt cache holds and a turn costs little. Without a
/// memory each turn rewrites anew. It belongs to no agent: where the settings of the compressor or the messages
/// differ from those it was made with, it counts for nothing. Previews read it and leave it as it is. With `recall`
/// on, the index of the conversation is kept too, and grows by what is new.
///
/// ```
/// use ctx_engine::{Compile, ConversationMemory, Engine, Ports, Switches};
/// use ctx_types::{Agent, Node, Role, Session, SessionOp, TurnInput};
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
/// let memory = ConversationMemory::default();
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
pub struct ConversationMemory {
    compression: Mutex<KeptCompression>,
    recall: KeptRecall,
}

impl ConversationMemory {
    /// Forgets everything, so that the next turn begins anew.
    pub fn forget(&self) {
        self.keep(KeptCompression::default());
    }

    /// Returns whether a beginning of the conversation stands rewritten.
    pub fn is_compressed(&self) -> bool {
        self.compression().is_set()
    }

    pub(crate) fn compression(&self) -> KeptCompression {
        self.compression.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn recall(&self) -> KeptRecall {
        self.recall.clone()
    }

    pub(crate) fn keep(&self, compression: KeptCompression) {
        *self.compression.lock().unwrap_or_else(PoisonError::into_inner) = compression;
    }
}
