//! Requests and responses in the messages of a WebSocket connection (RFC 6455, RFC 7692).

use std::sync::Arc;
use std::time::SystemTime;

use flate2::{Decompress, FlushDecompress};
use serde::Deserialize;

use crate::content_encoding::MAX_DECODED;
use crate::exchange::{BodyCopy, Exchange, ReadTime, ResponseCopy, WebSocketCopy};

/// End of each compressed message, which is not sent.
const DEFLATE_END: [u8; 4] = [0, 0, 0xff, 0xff];

/// Type of a message with a request.
const REQUEST: &str = "response.create";

/// Types of the last message of a response.
const LAST: [&str; 5] =
    ["response.completed", "response.failed", "response.incomplete", "response.cancelled", "error"];

/// A text message.
#[derive(Debug)]
struct TextMessage {
    text: String,
    at: SystemTime,
}

#[derive(Deserialize)]
struct MessageType {
    r#type: Option<String>,
}

/// Splits a connection into its requests. Without any, returns the connection with an error.
pub(crate) fn split(mut connection: Exchange) -> Vec<Exchange> {
    let response = std::mem::replace(&mut connection.response, ResponseCopy::Events(Vec::new()));
    let ResponseCopy::WebSocket(WebSocketCopy { received, extensions, sent_times, received_times }) =
        response
    else {
        return vec![Exchange { response, ..connection }];
    };
    let side = |copy: &BodyCopy, times: &[ReadTime], name: &str| {
        let is_compressed = extensions.contains("permessage-deflate");
        let keeps_context = !extensions.contains(&format!("{name}_no_context_takeover"));
        text_messages(&copy.bytes, times, is_compressed.then_some(keeps_context))
    };
    let requests = side(&connection.request, &sent_times, "client");
    let requests = requests.into_iter().filter(|message| message.kind().as_deref() == Some(REQUEST));
    let mut events = side(&received, &received_times, "server").into_iter().peekable();
    let is_complete = connection.request.is_complete() && received.is_complete();
    let exchanges: Vec<Exchange> = requests
        .map(|request| {
            let (mut answered, mut end, mut first, mut is_last) = (Vec::new(), request.at, None, false);
            while let Some(event) = events.next_if(|_| !is_last) {
                (end, is_last) = (event.at, event.is_last());
                first.get_or_insert(event.at);
                answered.push(Arc::from(event.text));
            }
            let elapsed = |at: SystemTime| at.duration_since(request.at).unwrap_or_default();
            let mut body = connection.request.empty();
            body.add(request.text.as_bytes());
            Exchange {
                at: request.at,
                api: connection.api,
                host: connection.host.clone(),
                path: connection.path.clone(),
                headers: connection.headers.clone(),
                thread: connection.thread.clone(),
                request: body,
                status: connection.status,
                first: first.map(elapsed),
                took: elapsed(end),
                response: ResponseCopy::Events(answered),
                error: (!is_last).then(|| "the connection ended".to_owned()),
            }
        })
        .collect();
    if exchanges.is_empty() || !is_complete {
        connection.request.take();
        connection.error = Some("no complete request in the messages of the connection".to_owned());
        return vec![connection];
    }
    exchanges
}

impl TextMessage {
    fn kind(&self) -> Option<String> {
        serde_json::from_str::<MessageType>(&self.text).ok()?.r#type
    }

    fn is_last(&self) -> bool {
        self.kind().is_some_and(|kind| LAST.contains(&kind.as_str()))
    }
}

/// Reads the text messages of one direction. `keeps_context` is set for compressed connections. Stops at invalid bytes.
fn text_messages(bytes: &[u8], times: &[ReadTime], keeps_context: Option<bool>) -> Vec<TextMessage> {
    let (mut messages, mut message, mut head, mut at) = (Vec::new(), Vec::new(), 0, 0);
    let mut inflater = Decompress::new(false);
    while let Some(frame) = Frame::parse(&bytes[at..]) {
        at += frame.length;
        // Control frames can be between the frames of a message.
        if frame.opcode() >= 8 {
            continue;
        }
        if frame.opcode() != 0 {
            head = frame.first;
            message.clear();
        }
        message.extend(frame.data);
        if frame.first & 0x80 == 0 {
            continue;
        }
        let mut data = std::mem::take(&mut message);
        if let Some(keeps_context) = keeps_context.filter(|_| head & 0x40 != 0) {
            let Some(inflated) = inflate(&mut inflater, &data) else { break };
            data = inflated;
            if !keeps_context {
                inflater.reset(false);
            }
        }
        let read = times.partition_point(|time| time.bytes < at as u64);
        let time = times.get(read).or(times.last()).map_or(SystemTime::UNIX_EPOCH, |time| time.at);
        if head & 0xf == 1
            && let Ok(text) = String::from_utf8(data)
        {
            messages.push(TextMessage { text, at: time });
        }
    }
    messages
}

/// A frame of a message.
struct Frame {
    /// Flags and opcode.
    first: u8,
    data: Vec<u8>,
    /// Size with its head.
    length: usize,
}

impl Frame {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let [first, second, ..] = *bytes else { return None };
        let (size, start) = match second & 0x7f {
            126 => (u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 4),
            127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?), 10),
            size => (u64::from(size), 2),
        };
        let mask = if second & 0x80 == 0 { None } else { Some(bytes.get(start..start + 4)?) };
        let start = start + mask.map_or(0, <[u8]>::len);
        let length = start.checked_add(usize::try_from(size).ok()?)?;
        let data = bytes.get(start..length)?.iter();
        let data = match mask {
            Some(mask) => data.zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect(),
            None => data.copied().collect(),
        };
        Some(Self { first, data, length })
    }

    fn opcode(&self) -> u8 {
        self.first & 0xf
    }
}

/// Decompresses a message.
fn inflate(inflater: &mut Decompress, message: &[u8]) -> Option<Vec<u8>> {
    let input = [message, &DEFLATE_END].concat();
    let (mut inflated, begun) = (Vec::new(), inflater.total_in());
    loop {
        inflated.reserve(input.len().max(4_096));
        let (used, length) = (usize::try_from(inflater.total_in() - begun).ok()?, inflated.len());
        inflater.decompress_vec(&input[used..], &mut inflated, FlushDecompress::Sync).ok()?;
        if inflated.len() as u64 > MAX_DECODED {
            return None;
        }
        // Output can wait for more memory after the end of the input.
        if inflater.total_in() - begun == used as u64 && inflated.len() == length {
            return Some(inflated);
        }
    }
}
