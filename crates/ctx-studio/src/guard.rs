//! What is asked of every request before anything else: to whom it is addressed, and which page sent it.
//!
//! A page of a stranger can make a browser send requests to this server, also under a name of its own that leads
//! here. So `Host` must be one of three names, `Origin` (if there is one) the same, and what a page of ours did not
//! send gets no answer below `/api`.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use ctx_types::phrase;

use crate::call::Refusal;
use crate::codes;

/// The names under which a server answers.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    hosts: Vec<String>,
}

impl Names {
    /// The names of this machine's own address, with the port.
    pub(crate) fn of_port(port: u16) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| match port {
            80 => name.to_owned(),
            port => format!("{name}:{port}"),
        });
        Self { hosts: hosts.to_vec() }
    }

    /// Refuses what is not for this server, or not from its page.
    ///
    /// # Errors
    ///
    /// 403, without a word about what would have been right.
    pub(crate) fn check(&self, headers: &HeaderMap, is_api: bool) -> Result<(), Refusal> {
        let foreign_host = || {
            let message = phrase!("the host of the request is not the host of this page");
            Refusal::new(403, codes::FOREIGN_HOST, message)
        };
        let host = only(headers, &header::HOST).map_err(|()| foreign_host())?;
        if !host.is_some_and(|host| self.hosts.iter().any(|own| own == host)) {
            return Err(foreign_host());
        }
        let foreign_origin = || {
            let message = phrase!("the request is from another site");
            Refusal::new(403, codes::FOREIGN_ORIGIN, message)
        };
        match only(headers, &header::ORIGIN).map_err(|()| foreign_origin())? {
            Some(origin) if !self.is_own(origin) => return Err(foreign_origin()),
            _ => (),
        }
        let site =
            only(headers, &HeaderName::from_static("sec-fetch-site")).map_err(|()| foreign_origin())?;
        match site {
            Some(site) if is_api && site != "same-origin" => Err(foreign_origin()),
            _ => Ok(()),
        }
    }

    /// Returns whether an origin is a page of this server.
    pub(crate) fn is_own(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://");
        host.is_some_and(|host| self.hosts.iter().any(|own| own == host))
    }
}

/// Returns the one value of a header.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    match (values.next(), first.to_str()) {
        (None, Ok(text)) => Ok(Some(text)),
        _ => Err(()),
    }
}

/// What the page may load and run: its own files, and no text as markup or script. Styles have the nonce of the answer,
/// with which the editor marks its own.
pub(crate) fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' blob:; \
         connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'"
    )
}

/// Puts onto an answer what every answer has.
pub(crate) fn protect(headers: &mut HeaderMap, build: &str) {
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Ok(build) = HeaderValue::from_str(build) {
        headers.insert(HeaderName::from_static("x-ctx-build"), build);
    }
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
        headers.insert(header::CONTENT_SECURITY_POLICY, nothing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &[(&'static str, &str)], is_api: bool, expected: bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        assert_eq!(Names::of_port(4242).check(&headers, is_api).is_ok(), expected, "{given:?}");
    }

    #[test]
    fn only_the_three_names_of_this_machine_are_hosts() {
        for host in ["127.0.0.1:4242", "localhost:4242", "[::1]:4242"] {
            check(&[("host", host)], true, true);
        }
        let foreign = [
            "127.0.0.1",
            "127.0.0.1:4243",
            "evil.example:4242",
            "localhost.evil.example:4242",
            "127.0.0.1:4242.",
            "LOCALHOST:4242",
            "localhost:4242@evil.example",
            "",
            "127.1:4242",
            "0.0.0.0:4242",
        ];
        for host in foreign {
            check(&[("host", host)], false, false);
        }
        check(&[], false, false);
        check(&[("host", "localhost:4242"), ("host", "localhost:4242")], false, false);
    }

    #[test]
    fn an_origin_is_one_of_the_same_names() {
        let host = ("host", "localhost:4242");
        check(&[host, ("origin", "http://127.0.0.1:4242")], true, true);
        for origin in ["null", "https://localhost:4242", "http://localhost:4243", "http://evil.example", ""] {
            check(&[host, ("origin", origin)], false, false);
        }
        check(&[host, ("origin", "http://localhost:4242"), ("origin", "null")], false, false);
    }

    #[test]
    fn what_another_site_sends_is_refused_below_api() {
        let host = ("host", "localhost:4242");
        check(&[host, ("sec-fetch-site", "same-origin")], true, true);
        for site in ["cross-site", "same-site", "none", "other"] {
            check(&[host, ("sec-fetch-site", site)], true, false);
        }
        // Whoever follows a link to the page itself may see it.
        check(&[host, ("sec-fetch-site", "none")], false, true);
    }
}
