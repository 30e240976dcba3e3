//! Heads of requests and responses.

use bytes::Bytes;
use httparse::{EMPTY_HEADER, ParserConfig};

use crate::body_scanner::BodyLength;

/// Maximum size of a head, in bytes.
pub(crate) const MAX_HEAD: usize = 64 << 10;

/// Maximum number of headers of a message.
const MAX_HEADERS: usize = 512;

/// A header of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name in lower case.
    pub name: String,
    /// Value. Bytes that are not UTF-8 are replaced.
    pub value: String,
}

#[derive(Debug)]
pub(crate) struct RequestHead {
    bytes: Bytes,
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) headers: Vec<Header>,
    pub(crate) length: BodyLength,
    /// Whether another request may follow.
    pub(crate) is_persistent: bool,
}

#[derive(Debug)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) headers: Vec<Header>,
    pub(crate) length: BodyLength,
    /// Whether another response may follow.
    pub(crate) is_persistent: bool,
}

/// A head that is not HTTP/1.
#[derive(Debug)]
pub(crate) struct InvalidHead;

impl RequestHead {
    pub(crate) fn parse(bytes: Bytes) -> Result<Self, InvalidHead> {
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        if !request.parse(&bytes).is_ok_and(|status| status.is_complete()) || has_bare_line_end(&bytes) {
            return Err(InvalidHead);
        }
        let (method, target) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
        let headers = read_headers(request.headers);
        let length = match message_length(&headers)? {
            Some(length) => length,
            None => BodyLength::Bytes(0),
        };
        Ok(Self {
            method: method.to_owned(),
            target: target.to_owned(),
            length,
            is_persistent: is_persistent(request.version, &headers),
            headers,
            bytes,
        })
    }

    /// Returns the first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Writes the head for another server: the same lines, with another target and host, without headers for proxies.
    pub(crate) fn forwarded(&self, target: &str, host: &str) -> Vec<u8> {
        let text = self.bytes.strip_suffix(b"\r\n\r\n").unwrap_or(&self.bytes);
        let mut lines =
            text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let first = lines.next().unwrap_or_default();
        let version = first.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let mut written = Vec::with_capacity(self.bytes.len() + host.len());
        written.extend_from_slice(format!("{} {target} ", self.method).as_bytes());
        written.extend_from_slice(version);
        let mut has_host = false;
        for line in lines {
            let end = memchr::memchr(b':', line).unwrap_or(line.len());
            let name = line[..end].to_ascii_lowercase();
            if name.starts_with(b"proxy-") {
                continue;
            }
            written.extend_from_slice(b"\r\n");
            if name == b"host" {
                has_host = true;
                written.extend_from_slice(&line[..end]);
                written.extend_from_slice(format!(": {host}").as_bytes());
            } else {
                written.extend_from_slice(line);
            }
        }
        if !has_host {
            written.extend_from_slice(format!("\r\nHost: {host}").as_bytes());
        }
        written.extend_from_slice(b"\r\n\r\n");
        written
    }
}

impl ResponseHead {
    pub(crate) fn parse(bytes: &[u8], method: &str) -> Result<Self, InvalidHead> {
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let mut config = ParserConfig::default();
        // The client decides what it accepts.
        config
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true);
        if !config.parse_response(&mut response, bytes).is_ok_and(|status| status.is_complete()) {
            return Err(InvalidHead);
        }
        let (status, headers) = (response.code.unwrap_or_default(), read_headers(response.headers));
        let is_empty = method == "HEAD" || matches!(status, 100..200 | 204 | 304);
        let length = if is_empty { Some(BodyLength::Bytes(0)) } else { message_length(&headers)? };
        Ok(Self {
            status,
            length: length.unwrap_or(BodyLength::UntilClose),
            is_persistent: is_persistent(response.version, &headers),
            headers,
        })
    }

    /// Returns the first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// Returns whether a line ends differently than with CR LF. Servers read such heads in different ways.
fn has_bare_line_end(head: &[u8]) -> bool {
    let breaks = memchr::memchr2_iter(b'\r', b'\n', head).filter(|at| match head[*at] {
        b'\r' => head.get(at + 1) != Some(&b'\n'),
        _ => *at == 0 || head[at - 1] != b'\r',
    });
    breaks.count() > 0
}

fn read_headers(headers: &[httparse::Header<'_>]) -> Vec<Header> {
    let read = |header: &httparse::Header<'_>| Header {
        name: header.name.to_ascii_lowercase(),
        value: String::from_utf8_lossy(header.value).into_owned(),
    };
    headers.iter().map(read).collect()
}

fn header<'h>(headers: &'h [Header], name: &str) -> Option<&'h str> {
    headers.iter().find(|header| header.name == name).map(|header| header.value.as_str())
}

/// Returns the length that the headers state.
fn message_length(headers: &[Header]) -> Result<Option<BodyLength>, InvalidHead> {
    let values = |name: &'static str| {
        let named = headers.iter().filter(move |header| header.name == name);
        named.flat_map(|header| header.value.split(',').map(str::trim))
    };
    if let Some(coding) = values("transfer-encoding").last() {
        let is_chunked = coding.eq_ignore_ascii_case("chunked");
        return Ok(Some(if is_chunked { BodyLength::Chunked } else { BodyLength::UntilClose }));
    }
    let mut lengths = values("content-length");
    let Some(length) = lengths.next() else { return Ok(None) };
    let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
    let bytes = length.parse().ok().filter(|_| is_number && lengths.all(|other| other == length));
    bytes.map(|bytes| Some(BodyLength::Bytes(bytes))).ok_or(InvalidHead)
}

/// Returns whether the connection stays open after a message of HTTP/1.`version`.
fn is_persistent(version: Option<u8>, headers: &[Header]) -> bool {
    let has = |option: &str| {
        let named = headers.iter().filter(|header| header.name == "connection");
        let mut options = named.flat_map(|header| header.value.split(',').map(str::trim));
        options.any(|value| value.eq_ignore_ascii_case(option))
    };
    if version == Some(0) { has("keep-alive") } else { !has("close") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &'static str) -> Result<RequestHead, InvalidHead> {
        RequestHead::parse(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn changes_only_host_and_proxy_headers() {
        let head = parse(
            "POST /v1/x?q=%20 HTTP/1.1\r\nX-B:1\r\nHOST:  here \r\nx-a:  2\t\r\nProxy-Authorization: p\r\nX-b: 3\r\n\r\n",
        );
        let forwarded = head.unwrap().forwarded("/api/v1/x?q=%20", "there");
        let expected = "POST /api/v1/x?q=%20 HTTP/1.1\r\nX-B:1\r\nHOST: there\r\nx-a:  2\t\r\nX-b: 3\r\n\r\n";
        assert_eq!(String::from_utf8(forwarded).unwrap(), expected);
        let old = parse("GET / HTTP/1.0\r\n\r\n").unwrap().forwarded("/", "there");
        assert_eq!(String::from_utf8(old).unwrap(), "GET / HTTP/1.0\r\nHost: there\r\n\r\n");
    }

    #[test]
    fn reads_length_and_persistence() {
        let head = |headers: &'static str| {
            let text = format!("POST / HTTP/1.1\r\n{headers}\r\n");
            RequestHead::parse(Bytes::from(text)).map(|head| (head.length, head.is_persistent)).ok()
        };
        assert_eq!(head(""), Some((BodyLength::Bytes(0), true)));
        assert_eq!(
            head("Content-Length: 7\r\nConnection: x, Close\r\n"),
            Some((BodyLength::Bytes(7), false))
        );
        assert_eq!(head("Content-Length: 7\r\nContent-Length: 7\r\n"), Some((BodyLength::Bytes(7), true)));
        assert_eq!(
            head("content-length: 7\r\nTransfer-Encoding: gzip, Chunked\r\n"),
            Some((BodyLength::Chunked, true))
        );
        for invalid in
            ["Content-Length: 7\r\nContent-Length: 8\r\n", "Content-Length: +7\r\n", "a: 1\nb: 2\r\n"]
        {
            assert_eq!(head(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn reads_bodiless_responses() {
        let length = |head: &str, method| ResponseHead::parse(head.as_bytes(), method).unwrap().length;
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n";
        assert_eq!([length(head, "GET"), length(head, "HEAD")], [BodyLength::Bytes(5), BodyLength::Bytes(0)]);
        assert_eq!(length("HTTP/1.1 304 x\r\ncontent-length: 5\r\n\r\n", "GET"), BodyLength::Bytes(0));
        assert_eq!(length("HTTP/1.1 200\r\n\r\n", "GET"), BodyLength::UntilClose);
    }
}
