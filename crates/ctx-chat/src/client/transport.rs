//! The HTTP connection: TLS with the certificates of the machine, no redirects, no proxy for one's own machine.

use ctx_types::{Phrase, phrase};
use std::error::Error;
use std::io;
use std::sync::Arc;

use reqwest::Url;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::client::endpoint::Endpoint;
use crate::error::ClientError;

/// Opens the way to an endpoint; nothing is connected yet.
pub(super) fn open(endpoint: &Endpoint, url: &Url) -> Result<reqwest::Client, ClientError> {
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls(url.scheme() == "https")?)
        .connect_timeout(endpoint.time.connect)
        // A key must not go wherever a server points.
        .redirect(reqwest::redirect::Policy::none())
        .default_headers(endpoint.header_map()?)
        .user_agent(concat!("ctx/", env!("CARGO_PKG_VERSION")));
    let builder = if is_loopback(url) { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| ClientError::Config(Phrase::original(words(error))))
}

/// Certificates are only looked for where they are needed: a small machine may have none.
fn tls(is_needed: bool) -> Result<ClientConfig, ClientError> {
    let wrong = |error: rustls::Error| {
        ClientError::Config(phrase!("cannot set up TLS: {error}", error = error.to_string()))
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(wrong)?;
    let builder = if is_needed {
        builder.with_platform_verifier().map_err(wrong)?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}

/// Returns whether an address is on this machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns whether a connection failed because of the certificate of the other side: waiting does not help.
pub(super) fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return matches!(error, rustls::Error::InvalidCertificate(_));
    }
    // Errors of input and output pass over what they carry when they are asked for their source.
    let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    within.is_some_and(|error| is_untrusted(error)) || error.source().is_some_and(is_untrusted)
}

/// Returns whether the server answers in plain HTTP, or in another protocol without TLS.
pub(super) fn is_without_tls(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return matches!(error, rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType));
    }
    let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    within.is_some_and(|error| is_without_tls(error)) || error.source().is_some_and(is_without_tls)
}

/// Returns whether no program listens at the address.
pub(super) fn is_refused(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        || error.source().is_some_and(is_refused)
}

/// Returns whether the name of the host has no address.
pub(super) fn is_unresolved(error: &(dyn Error + 'static)) -> bool {
    // The type of this error is private, and its cause is an error of the system without a kind.
    error.to_string() == "dns error" || error.source().is_some_and(is_unresolved)
}

/// What an error says, with its causes and without the address, which may hold a secret.
pub(super) fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.ends_with(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    words
}
