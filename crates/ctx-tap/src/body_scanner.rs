//! Finds the end of a message body, and its data without chunk sizes.

use memchr::memchr;

/// Length of a body (RFC 9112, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Bytes(u64),
    Chunked,
    /// The end of the connection is the end of the body.
    UntilClose,
}

/// Maximum number of hexadecimal digits of a chunk size.
const MAX_DIGITS: u8 = 15;

/// Scans the bytes of a body as they arrive.
#[derive(Debug)]
pub(crate) struct BodyScanner(State);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Bytes(u64),
    UntilClose,
    ChunkSize {
        size: u64,
        digits: u8,
    },
    ChunkExtension {
        size: u64,
    },
    ChunkData(u64),
    /// The line end after the data of a chunk.
    ChunkEnd,
    Trailer {
        is_empty: bool,
    },
    /// Invalid chunks pass too: the receiver rejects them.
    Malformed,
}

impl BodyScanner {
    pub(crate) fn new(length: BodyLength) -> Self {
        Self(match length {
            BodyLength::Bytes(bytes) => State::Bytes(bytes),
            BodyLength::Chunked => State::ChunkSize { size: 0, digits: 0 },
            BodyLength::UntilClose => State::UntilClose,
        })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0 == State::Bytes(0)
    }

    /// Returns whether the end of the connection is the end of the body.
    pub(crate) fn is_until_close(&self) -> bool {
        matches!(self.0, State::UntilClose | State::Malformed)
    }

    /// Returns how many of these bytes belong to the body, and passes the data in them to `data`.
    pub(crate) fn scan(&mut self, input: &[u8], mut data: impl FnMut(&[u8])) -> usize {
        let mut at = 0;
        while at < input.len() && !self.is_done() {
            let rest = &input[at..];
            at += match &mut self.0 {
                State::Bytes(left) | State::ChunkData(left) => {
                    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    data(&rest[..length]);
                    *left -= length as u64;
                    length
                }
                State::UntilClose => {
                    data(rest);
                    rest.len()
                }
                State::Malformed => rest.len(),
                _ => self.scan_frame(rest),
            };
            if self.0 == State::ChunkData(0) {
                self.0 = State::ChunkEnd;
            }
        }
        at
    }

    /// Scans bytes that are not data.
    fn scan_frame(&mut self, rest: &[u8]) -> usize {
        let byte = rest[0];
        let mut length = 1;
        self.0 = match self.0 {
            State::ChunkSize { size, digits } => match char::from(byte).to_digit(16) {
                Some(digit) if digits < MAX_DIGITS => {
                    State::ChunkSize { size: size * 16 + u64::from(digit), digits: digits + 1 }
                }
                None if digits > 0 && matches!(byte, b';' | b' ' | b'\t' | b'\r') => {
                    State::ChunkExtension { size }
                }
                _ => State::Malformed,
            },
            State::ChunkExtension { size } => {
                let end = memchr(b'\n', rest);
                length = end.map_or(rest.len(), |end| end + 1);
                match (end, size) {
                    (None, _) => State::ChunkExtension { size },
                    (Some(_), 0) => State::Trailer { is_empty: true },
                    (Some(_), size) => State::ChunkData(size),
                }
            }
            State::ChunkEnd => match byte {
                b'\r' => State::ChunkEnd,
                b'\n' => State::ChunkSize { size: 0, digits: 0 },
                _ => State::Malformed,
            },
            State::Trailer { is_empty } => match byte {
                b'\n' if is_empty => State::Bytes(0),
                b'\n' => State::Trailer { is_empty: true },
                b'\r' => State::Trailer { is_empty },
                _ => State::Trailer { is_empty: false },
            },
            other => other,
        };
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans a body in parts of a size; returns its data and the bytes after it.
    fn scan(length: BodyLength, input: &[u8], size: usize) -> (Vec<u8>, Vec<u8>) {
        let (mut scanner, mut data, mut rest) = (BodyScanner::new(length), Vec::new(), Vec::new());
        for part in input.chunks(size) {
            let consumed = scanner.scan(part, |bytes| data.extend_from_slice(bytes));
            rest.extend_from_slice(&part[consumed..]);
        }
        (data, rest)
    }

    #[track_caller]
    fn check(length: BodyLength, input: &str, data: &str, rest: &str) {
        for size in 1..=input.len() {
            let expected = (data.as_bytes().to_vec(), rest.as_bytes().to_vec());
            assert_eq!(scan(length, input.as_bytes(), size), expected, "in parts of {size}");
        }
    }

    #[test]
    fn finds_end_of_body() {
        check(BodyLength::Bytes(3), "abcGET", "abc", "GET");
        check(BodyLength::Bytes(0), "GET", "", "GET");
        check(BodyLength::UntilClose, "abc", "abc", "");
        check(BodyLength::Chunked, "0\r\n\r\nGET", "", "GET");
        check(
            BodyLength::Chunked,
            "3\r\nabc\r\nA;x=\"1\"\r\n0123456789\r\n0\r\n\r\nGET",
            "abc0123456789",
            "GET",
        );
        check(BodyLength::Chunked, "1\r\na\r\n0\r\nx-a: 1\r\nx-b: 2\r\n\r\nGET", "a", "GET");
        // Nothing after invalid chunks is another message.
        check(BodyLength::Chunked, "1\r\na\r\nx\r\nGET", "a", "");
        check(BodyLength::Chunked, "1000000000000000\r\na", "", "");
    }
}
