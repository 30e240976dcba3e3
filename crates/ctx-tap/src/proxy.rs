//! The HTTP proxy between this machine and the providers.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use url::Url;

use crate::head::ResponseHead;
use crate::transport::{BufferedReader, HeadError};
use crate::upstream::Upstream;

/// An HTTP proxy for `https` servers.
#[derive(Clone, Debug)]
pub struct HttpProxy {
    url: Url,
    /// Hosts that are reached without it, as in `NO_PROXY`.
    excluded: String,
}

impl HttpProxy {
    /// Reads `HTTPS_PROXY` or `ALL_PROXY`, and `NO_PROXY`, or the same names in lower case.
    ///
    /// # Errors
    ///
    /// Returns the name of a variable that is not the URL of an HTTP proxy.
    pub fn from_environment() -> Result<Option<Self>, &'static str> {
        let read = |name: &'static str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
        let Some((name, url)) = names.into_iter().find_map(|name| Some((name, read(name)?))) else {
            return Ok(None);
        };
        let url = if url.contains("://") { url } else { format!("http://{url}") };
        let url = Url::parse(&url).ok().filter(|url| url.scheme() == "http" && url.has_host()).ok_or(name)?;
        let excluded = read("NO_PROXY").or_else(|| read("no_proxy")).unwrap_or_default();
        Ok(Some(Self { url, excluded }))
    }

    /// Returns whether a server is reached through the proxy.
    pub(crate) fn is_for(&self, server: &Upstream) -> bool {
        let host = server.host();
        let is_excluded = |name: &str| {
            let name = name.trim().trim_start_matches("*.").trim_start_matches('.');
            let parent = host.strip_suffix(name);
            name == "*" || !name.is_empty() && parent.is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
        };
        server.is_secure() && host != "localhost" && !self.excluded.split(',').any(is_excluded)
    }

    /// Connects to a server.
    pub(crate) async fn connect(&self, server: &Upstream) -> io::Result<TcpStream> {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let mut stream = TcpStream::connect((host, self.url.port().unwrap_or(80))).await?;
        let target = format!("{}:{}", server.url_host(), server.port());
        let mut head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if !self.url.username().is_empty() {
            let decode = |text: &str| {
                url::form_urlencoded::parse(format!("x={}", text.replace('+', "%2B")).as_bytes())
                    .next()
                    .map(|(_, value)| value.into_owned())
                    .unwrap_or_default()
            };
            let user = format!(
                "{}:{}",
                decode(self.url.username()),
                decode(self.url.password().unwrap_or_default())
            );
            head.extend(["Proxy-Authorization: Basic ", &STANDARD.encode(user), "\r\n"]);
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).await?;
        // The server sends bytes only after the client, so nothing follows the head.
        let head = BufferedReader::new(&mut stream).read_head().await.map_err(|error| match error {
            HeadError::Io(error) => error,
            _ => io::Error::other("the HTTP proxy does not answer"),
        })?;
        match ResponseHead::parse(&head, "CONNECT") {
            Ok(head) if head.status == 200 => Ok(stream),
            Ok(head) => Err(io::Error::other(format!("the HTTP proxy answers with status {}", head.status))),
            Err(_) => Err(io::Error::other("the HTTP proxy does not answer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    fn proxy(url: &str, excluded: &str) -> HttpProxy {
        HttpProxy { url: Url::parse(url).unwrap(), excluded: excluded.to_owned() }
    }

    #[test]
    fn excludes_hosts_and_their_subdomains() {
        let proxy = proxy("http://proxy", "corp.example, .internal,*.local");
        let is_for = |url: &str| proxy.is_for(&Upstream::parse(url).unwrap());
        assert!(is_for("https://api.openai.com") && is_for("https://mycorp.example"));
        let excluded =
            ["https://corp.example", "https://a.corp.example", "https://x.internal", "https://a.local"];
        assert!(!excluded.into_iter().any(is_for) && !is_for("http://api.openai.com"));
    }

    #[tokio::test]
    async fn opens_tunnel_with_credentials() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://me:p%40ss+@{}", listener.local_addr().unwrap());
        let (proxy, server) = (proxy(&url, ""), Upstream::parse("https://host").unwrap());
        let accept = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let expected = "CONNECT host:443 HTTP/1.1\r\nHost: host:443\r\nProxy-Authorization: Basic bWU6cEBzcys=\r\n\r\n";
            let mut head = vec![0; expected.len()];
            stream.read_exact(&mut head).await.unwrap();
            assert_eq!(String::from_utf8(head).unwrap(), expected);
            stream.write_all(b"HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        };
        let (connected, ()) = tokio::join!(proxy.connect(&server), accept);
        assert!(connected.unwrap_err().to_string().ends_with("status 407"));
    }
}
