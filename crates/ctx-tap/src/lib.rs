//! A proxy that records the requests of AI agents without changing a byte.
//!
//! Start with [`Tap::bind`]. It forwards HTTP/1.1 to OpenAI, Anthropic or Gemini, chosen by path and headers, or to a
//! server of your choice. Only `host` and headers for proxies differ. A [`Recorder`] writes each request with its
//! response as a line of JSON, without the credentials of headers and query. Recording never delays a request.
//!
//! ```no_run
//! use ctx_tap::{Recorder, Tap, TapConfig};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let recorder = Recorder::create("requests".as_ref())?;
//! let tap = Tap::bind(TapConfig { recorder: Some(recorder.clone()), ..TapConfig::default() }).await?;
//! println!("set OPENAI_BASE_URL to http://{}/v1", tap.address());
//! tap.run_until(std::future::pending()).await;
//! println!("{} requests", recorder.finish().requests);
//! # Ok(())
//! # }
//! ```

mod body_scanner;
mod content_encoding;
mod exchange;
mod exchange_record;
mod head;
mod log_line;
mod proxy;
mod recorder;
mod redaction;
mod relay;
mod tap;
mod transport;
mod upstream;
mod websocket;

pub use exchange::{BodyCopy, Exchange, ResponseCopy, WebSocketCopy};
pub use head::Header;
pub use proxy::HttpProxy;
pub use recorder::{LogSummary, Recorder};
pub use tap::{Tap, TapConfig, TapError};
pub use upstream::{InvalidUpstream, Upstream, Upstreams};
