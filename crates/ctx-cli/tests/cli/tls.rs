//! `ctx chat` and `ctx tap` over TLS, with a server whose certificate an authority of one's own has signed.

use std::io::Write as _;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::Folder;
use crate::relay::{Relay, pass};
use crate::server::{Answer, Server};

/// An authority of one's own.
struct Authority(Issuer<'static, KeyPair>, String);

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::new([]).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self(Issuer::new(parameters, key), pem)
    }

    /// The configuration of a server on this machine whose certificate the authority has signed.
    fn server(&self) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate: CertificateDer<'static> = parameters.signed_by(&key, &self.0).unwrap().into();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
    }
}

const AGENT: &str = "name: Ada\npresetMessages:\n- {type: chat_history}\n";

/// Puts TLS in front of a server.
fn with_tls(server: &Server, config: Arc<ServerConfig>) -> Relay {
    let base = server.base_url();
    let address = base.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    Relay::start(move |client| {
        let mut client = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), client);
        pass(&mut client, &address, "")?;
        client.conn.send_close_notify();
        client.flush()
    })
}

/// Asks a server behind TLS, where these authorities are trusted.
fn ask(server: &Server, config: Arc<ServerConfig>, trusted: &str) -> String {
    let relay = with_tls(server, config);
    let folder = Folder::with(&[("agent.yaml", AGENT), ("trusted.pem", trusted)]);
    let arguments =
        format!("chat agent.yaml --model gpt-4o --once Hello --base-url https://{}/v1", relay.address());
    let output = folder.command(&arguments).env("SSL_CERT_FILE", "trusted.pem").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    format!("{:?} {}{}", output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_server_that_is_trusted_is_talked_with() {
    let (server, authority) = (Server::script([Answer::text("Hi")]), Authority::new());
    assert_eq!(ask(&server, authority.server(), &authority.1), "Some(0) Hi\n");
}

#[test]
fn a_server_that_is_not_trusted_is_told_nothing_and_asked_once() {
    let server = Server::script([Answer::text("Hi")]);
    let said = ask(&server, Authority::new().server(), &Authority::new().1);
    assert!(said.starts_with("Some(4) error: cannot verify the certificate of `127.0.0.1`: "), "{said}");
    assert!(said.contains("invalid peer certificate") && !said.contains("retrying in"), "{said}");
    assert!(server.requests().is_empty());
}

#[test]
fn tap_forwards_only_to_trusted_servers() {
    for (is_trusted, answers) in [(true, vec![Answer::text("Hi")]), (false, vec![])] {
        let (server, authority) = (Server::script(answers), Authority::new());
        let relay = with_tls(&server, authority.server());
        let trusted = if is_trusted { authority.1 } else { Authority::new().1 };
        let folder = Folder::with(&[("agent.yaml", AGENT), ("trusted.pem", &trusted)]);
        let chat = "ctx chat agent.yaml --model m --once Hello --base-url \"$OPENAI_BASE_URL\"";
        let address = relay.address();
        let tap = format!("ctx tap --record log --upstream https://{address} -- timeout 20 sh -c '{chat}'");
        let printed = folder.shell(&format!("SSL_CERT_FILE=trusted.pem {tap}"), "en").unwrap();
        assert_eq!(printed.starts_with("Hi\n"), is_trusted, "{printed}");
        assert_eq!(printed.contains("invalid peer certificate"), !is_trusted, "{printed}");
    }
}
