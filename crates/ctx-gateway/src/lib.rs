//! Agents behind the addresses of providers: any program that speaks to OpenAI, Anthropic or Gemini uses them by
//! changing its base URL.
//!
//! Layer 7: a server for one folder. A request is read in the client's dialect, becomes a turn of a stored conversation
//! as `ctx chat` carries it out, and its answer is written in the client's dialect again, whole or piece by piece.
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

mod agents;
mod beginnings;
mod body;
mod call;
mod conversations;
mod dialect;
mod figures;
mod gateway;
mod keys;
mod latest;
mod limits;
mod memory;
mod refusal;
mod rooms;
mod routes;
mod serve;
mod shape;
mod spans;
mod turn;
mod upstream;

pub use gateway::{Gateway, GatewayError, Options, Patience};
pub use keys::{KeyEntry, KeyFile, KeyLimits, NewKey};
