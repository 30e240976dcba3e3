//! Chooses the server of a request.

use ctx_wire::Dialect;
use url::Url;

use crate::head::RequestHead;

/// A server that requests are forwarded to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    url: Url,
    /// Start of a path that the URL replaces.
    replaced: &'static str,
}

/// Servers of each API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstreams {
    /// Server of OpenAI's APIs, and of all other requests.
    pub openai: Upstream,
    /// Server of Anthropic's API.
    pub anthropic: Upstream,
    /// Server of Gemini's API.
    pub gemini: Upstream,
}

/// A URL that is not the base URL of an HTTP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a base URL; use `https://HOST` or `http://HOST:PORT/PATH`")]
pub struct InvalidUpstream;

impl Default for Upstreams {
    fn default() -> Self {
        let upstream = |url: &str| Upstream::parse(url).expect("the URL is valid");
        Self {
            openai: upstream("https://api.openai.com"),
            anthropic: upstream("https://api.anthropic.com"),
            gemini: upstream("https://generativelanguage.googleapis.com"),
        }
    }
}

impl Upstreams {
    /// Forwards all requests to one server.
    pub fn all(upstream: &Upstream) -> Self {
        Self { openai: upstream.clone(), anthropic: upstream.clone(), gemini: upstream.clone() }
    }

    /// Chooses a server by path and headers.
    pub(crate) fn choose(&self, head: &RequestHead) -> &Upstream {
        let path = path(&head.target);
        let has = |names: &[&str]| names.iter().any(|name| head.header(name).is_some());
        if ["/v1beta", "/v1alpha"].iter().any(|version| path.starts_with(version))
            || path.contains(":generateContent")
            || path.contains(":streamGenerateContent")
            || has(&["x-goog-api-key"])
        {
            &self.gemini
        } else if path.starts_with("/v1/messages")
            || path.starts_with("/api/")
            || has(&["x-api-key", "anthropic-version", "anthropic-beta"])
        {
            &self.anthropic
        } else {
            &self.openai
        }
    }
}

impl Upstream {
    /// Parses a base URL. A path such as `/api/v1` is not repeated: `/v1/messages` becomes `/api/v1/messages`.
    ///
    /// # Errors
    ///
    /// The URL is not an HTTP URL of a server.
    pub fn parse(url: &str) -> Result<Self, InvalidUpstream> {
        let url = Url::parse(url).map_err(|_| InvalidUpstream)?;
        let is_base = matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        let path = url.path().trim_end_matches('/');
        let replaced = ["/v1", "/v1beta"].into_iter().find(|version| path.ends_with(version));
        if is_base { Ok(Self { replaced: replaced.unwrap_or_default(), url }) } else { Err(InvalidUpstream) }
    }

    /// Parses a base URL of OpenAI's API, which clients use in place of `/v1`.
    ///
    /// # Errors
    ///
    /// The URL is not an HTTP URL of a server.
    pub fn parse_openai(url: &str) -> Result<Self, InvalidUpstream> {
        Ok(Self { replaced: "/v1", ..Self::parse(url)? })
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns the host, without brackets.
    pub(crate) fn host(&self) -> &str {
        self.url_host().trim_matches(['[', ']'])
    }

    /// Returns the host as in the URL.
    pub(crate) fn url_host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// Returns the value of the header `host`.
    pub(crate) fn authority(&self) -> String {
        let host = self.url_host();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Returns the path and query of a request to this server.
    pub(crate) fn target(&self, target: &str) -> String {
        let rest = target.strip_prefix(self.replaced);
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?'])).unwrap_or(target);
        let target = format!("{}{rest}", self.url.path().trim_end_matches('/'));
        if target.starts_with('/') { target } else { format!("/{target}") }
    }
}

/// Returns a target without its query.
fn path(target: &str) -> &str {
    target.split('?').next().unwrap_or_default()
}

/// Returns the API of a request that is recorded.
pub(crate) fn api(target: &str) -> Option<Dialect> {
    let path = path(target).trim_end_matches('/');
    let is_gemini = path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent");
    Some(match path.rsplit('/').next()? {
        "completions" if path.ends_with("/chat/completions") => Dialect::OpenaiChat,
        "completions" => Dialect::Completion,
        "responses" => Dialect::OpenaiResponses,
        "messages" => Dialect::Anthropic,
        _ if is_gemini => Dialect::Gemini,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn chooses_server_by_path_and_headers() {
        let upstreams = Upstreams::default();
        let host = |path: &str, header: &str| {
            let text = format!("POST {path} HTTP/1.1\r\n{header}: x\r\n\r\n");
            upstreams.choose(&RequestHead::parse(Bytes::from(text)).unwrap()).host().to_owned()
        };
        assert_eq!(host("/v1/responses", "authorization"), "api.openai.com");
        assert_eq!(host("/v1/messages?beta=true", "authorization"), "api.anthropic.com");
        assert_eq!(host("/v1/models", "x-api-key"), "api.anthropic.com");
        assert_eq!(host("/v1/models", "anthropic-version"), "api.anthropic.com");
        assert_eq!(host("/v1/models", "x"), "api.openai.com");
        let gemini = "generativelanguage.googleapis.com";
        assert_eq!(host("/v1beta/models/x:generateContent", "x"), gemini);
        assert_eq!(host("/v1/models/x:streamGenerateContent?alt=sse", "x"), gemini);
        assert_eq!(host("/v1/models", "x-goog-api-key"), gemini);
    }

    #[test]
    fn joins_base_url_and_target() {
        let join = |url: &str, target: &str| Upstream::parse(url).unwrap().target(target);
        assert_eq!(join("https://host", "/v1/messages?beta=true"), "/v1/messages?beta=true");
        assert_eq!(join("https://host/api/", "/v1/messages"), "/api/v1/messages");
        assert_eq!(join("https://host/api/v1", "/v1/messages"), "/api/v1/messages");
        assert_eq!(join("https://host/api/v1", "/v1beta/x"), "/api/v1/v1beta/x");
        assert_eq!(join("https://host/v1beta/", "/v1beta/x"), "/v1beta/x");
        assert_eq!(join("https://host", "?x"), "/?x");
        let openai = Upstream::parse_openai("https://host/compatible").unwrap();
        assert_eq!(openai.target("/v1/chat/completions"), "/compatible/chat/completions");
        assert_eq!(Upstream::parse("http://[::1]:8080").unwrap().host(), "::1");
        assert_eq!(Upstream::parse("http://[::1]:8080").unwrap().authority(), "[::1]:8080");
        for invalid in ["ftp://host", "host", "https://a:b@host", "https://host?x"] {
            assert_eq!(Upstream::parse(invalid), Err(InvalidUpstream), "{invalid}");
        }
    }

    #[test]
    fn records_only_generating_requests() {
        let name = |target| api(target).map(Dialect::name);
        assert_eq!(name("/v1/chat/completions"), Some("openai"));
        assert_eq!(name("/v1/completions"), Some("completion"));
        assert_eq!(name("/v1/responses"), Some("openai-responses"));
        assert_eq!(name("/v1/messages?beta=true"), Some("anthropic"));
        assert_eq!(name("/v1beta/models/x:streamGenerateContent?alt=sse"), Some("gemini"));
        let others =
            ["/v1/models", "/v1/messages/count_tokens", "/v1/embeddings", "/v1/responses/resp_1", "/"];
        assert!(others.into_iter().all(|target| api(target).is_none()));
    }
}
