//! A local web page that edits agents and previews the messages that a model receives.
//!
//! Serves one folder on the loopback interface. Pass an engine with custom anchors, macros and processors, and the
//! page offers them too.
//!
//! ```no_run
//! use ctx_engine::Engine;
//! use ctx_studio::Studio;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let studio = Studio::new(Engine::new())?.project("garden");
//! println!("{}", studio.links().new_link(listener.local_addr()?.port())?);
//! studio.serve(listener).await?;
//! # Ok(())
//! # }
//! ```

mod access;
mod api;
mod api_files;
mod api_imports;
mod api_pipeline;
mod api_preview;
mod api_registry;
mod api_requests;
mod api_scan;
mod api_schema;
mod api_talk;
mod api_turn;
mod call;
pub mod codes;
mod desk;
mod file_name;
mod folder;
mod guard;
mod handlers;
mod imports;
mod journal;
mod notices;
mod page;
mod preview;
mod references;
mod routes;
mod serve;
mod server;
mod socket;
mod studio;
mod talk;

pub use api_schema::api_schema;
pub use routes::{RouteInfo, routes};
pub use studio::{Links, Studio, StudioError};
