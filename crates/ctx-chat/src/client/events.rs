//! Server-sent events: bytes, cut anywhere, become the data of events.

use ctx_wire::StreamError;

/// The largest event, in bytes.
const MAX_EVENT: usize = 16 << 20;

/// Takes the data of an event.
pub(super) type Take<'a> = dyn FnMut(&str) -> Result<(), StreamError> + Send + 'a;

/// Cuts a stream of bytes into events, as HTML's standard for `text/event-stream` has it.
///
/// Only data counts: names, ids and comments of events are passed over. Lines end with a line feed, a carriage
/// return, or both.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that is being read.
    line: Vec<u8>,
    /// The data of the event that is being read; `Some` once it has any.
    data: Option<Vec<u8>>,
    /// Whether the last byte was a carriage return, so that a line feed ends no further line.
    after_return: bool,
    /// Whether the stream has begun, so that no byte order mark can come any more.
    has_begun: bool,
}

impl Events {
    /// Takes more bytes and gives the data of each event that they complete to `take`; its errors end this.
    ///
    /// Errors: [`StreamError::TooLarge`] for an event above 16 MiB, [`StreamError::Malformed`] for data that is
    /// not UTF-8.
    pub(super) fn push(&mut self, bytes: &[u8], take: &mut Take<'_>) -> Result<(), StreamError> {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let Some((last, line)) = piece.split_last() else { continue };
            let follows_return = std::mem::take(&mut self.after_return);
            if follows_return && piece == b"\n" {
                continue;
            }
            if !matches!(last, b'\n' | b'\r') {
                self.line.extend_from_slice(piece);
                self.check_size()?;
                continue;
            }
            self.line.extend_from_slice(line);
            self.after_return = *last == b'\r';
            if let Some(data) = self.end_line()? {
                take(&data)?;
            }
        }
        Ok(())
    }

    /// Returns the data of an event that the stream did not complete, if there is one.
    pub(super) fn finish(mut self) -> Result<Option<String>, StreamError> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        self.data.map(text).transpose()
    }

    fn end_line(&mut self) -> Result<Option<String>, StreamError> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.has_begun, true) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.data.take().map(text).transpose();
        }
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[],
            Some([b':', value @ ..]) => value.strip_prefix(b" ").unwrap_or(value),
            _ => return Ok(None),
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        self.check_size()?;
        Ok(None)
    }

    fn check_size(&self) -> Result<(), StreamError> {
        if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > MAX_EVENT {
            Err(StreamError::TooLarge { limit: format!("{MAX_EVENT} bytes an event") })
        } else {
            Ok(())
        }
    }
}

fn text(data: Vec<u8>) -> Result<String, StreamError> {
    String::from_utf8(data).map_err(|error| {
        let lossy = String::from_utf8_lossy(error.as_bytes());
        StreamError::Malformed { excerpt: ctx_types::internal::excerpt(&lossy).into_owned() }
    })
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use proptest::prelude::*;

    use super::*;

    /// Reads a stream that comes in pieces of some bytes.
    fn read(stream: &[u8], size: usize) -> Vec<String> {
        let mut events = Events::default();
        let mut data = Vec::new();
        for piece in stream.chunks(size) {
            let mut take = |event: &str| {
                data.push(event.to_owned());
                Ok(())
            };
            events.push(piece, &mut take).unwrap();
        }
        data.extend(events.finish().unwrap());
        data
    }

    #[track_caller]
    fn check(stream: &str, expected: &[&str]) {
        for size in 1..=stream.len().max(1) {
            assert_eq!(read(stream.as_bytes(), size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn data_is_what_stands_behind_its_name() {
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("data\n\n", &[""]);
        check("data: a\ndata: b\n\n", &["a\nb"]);
    }

    #[test]
    fn names_ids_and_comments_are_passed_over() {
        check(": ping\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\nevent: y\n\ndatabase: no\n\n", &["a"]);
    }

    #[test]
    fn every_end_of_a_line_counts() {
        check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &["a", "b", "c"]);
    }

    #[test]
    fn a_byte_order_mark_and_text_of_several_bytes_survive_any_cut() {
        check("\u{feff}data: 你好 🎉\n\n", &["你好 🎉"]);
    }

    #[test]
    fn an_event_that_nothing_ends_is_given_at_the_end() {
        check("data: a\n\ndata: b\n", &["a", "b"]);
        check("data: a", &["a"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        let error = Events::default().push(b"data: \xff\xfe\n\n", &mut |_| Ok(())).unwrap_err();
        assert!(matches!(error, StreamError::Malformed { .. }), "{error}");
    }

    #[test]
    fn an_event_without_an_end_is_too_large_some_day() {
        let mut events = Events::default();
        let piece = vec![b'x'; 1 << 20];
        let error = (0..64).find_map(|_| events.push(&piece, &mut |_| Ok(())).err()).unwrap();
        assert!(matches!(error, StreamError::TooLarge { .. }), "{error}");
    }

    /// Reads a stream that comes in pieces of every size, up to its error.
    #[track_caller]
    fn check_broken(stream: &[u8], expected: &[&str]) {
        for size in 1..=stream.len() {
            let (mut events, mut data) = (Events::default(), Vec::new());
            let mut take = |event: &str| {
                data.push(event.to_owned());
                Ok(())
            };
            let failed = stream.chunks(size).find_map(|piece| events.push(piece, &mut take).err());
            let failed = failed.or_else(|| events.finish().err());
            assert!(matches!(failed, Some(StreamError::Malformed { .. })), "in pieces of {size}: {failed:?}");
            assert_eq!(data, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_no_text_is_the_same_error_wherever_the_stream_is_cut() {
        check_broken(b"data: a\n\ndata: \xff\xfe\n\ndata: b\n\n", &["a"]);
        check_broken(b"data: a\n\ndata: \xe4\xbd\n\n", &["a"]);
        check_broken(b"data: \xe4\xbd\xa0\xe5\n", &[]);
        check_broken(b"data: a\r\n\r\ndata: b\ndata: \x80", &["a"]);
    }

    /// Lines as servers and vandals write them.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof!["data: [a-c]{0,3}", "data:", "", ": c", "event: e", "data", "id: 7", "dat: x"];
        let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
        proptest::collection::vec((line, end), 0..12).prop_map(|lines| {
            let text: String = lines.into_iter().map(|(line, end)| line + end).collect();
            (text + "\n\n").into_bytes()
        })
    }

    proptest! {
        #[test]
        fn events_are_those_that_another_reader_finds(stream in stream(), size in 1_usize..8) {
            use eventsource_stream::Eventsource as _;
            let pieces: Vec<Result<Vec<u8>, std::io::Error>> =
                stream.chunks(size).map(|piece| Ok(piece.to_vec())).collect();
            let other: Vec<_> = pollster::block_on(
                futures_util::stream::iter(pieces).eventsource().map(|event| event.unwrap().data).collect(),
            );
            prop_assert_eq!(read(&stream, size), other);
        }
    }
}
