//! An HTTP server that serves agents to clients of OpenAI, Anthropic and Gemini.
//!
//! Clients change only their base URL. Requests that name a conversation become turns of a stored one; for others
//! nothing is stored. The response has the format of the client, streaming or complete.
//!
//! ```no_run
//! use ctx_gateway::{Gateway, Options};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let gateway = Gateway::open(Options { folder: "garden".into(), ..Options::default() }).await?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! gateway.serve_until(listener, std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```

mod agent_list;
mod agents;
mod alignment;
mod api_error;
mod authorized_request;
mod body;
mod bounded_map;
mod conversation_cache;
mod conversation_name;
mod conversations;
mod dialect;
mod forward;
mod gateway;
mod history_cache;
mod keys;
mod limits;
mod memory;
mod metrics;
mod models;
mod provider_relay;
mod request_options;
mod routes;
mod serve;
mod shape;
mod shared_prefix;
mod spans;
mod stored_response;
mod turn;
mod turn_conversation;

pub use agents::{LoadedAgent, agent_names};
pub use gateway::{Gateway, GatewayError, Options, TimeLimits};
pub use keys::{KeyEntry, KeyFile, KeyLimits, NewKey};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. Its value is valid even if a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
