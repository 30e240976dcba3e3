//! Requests in the messages of WebSocket connections.

use flate2::{Compress, Compression, FlushCompress};

use crate::wire::{HOST, Wire, run};

/// Writes one direction of a connection.
struct Side {
    mask: Option<[u8; 4]>,
    compress: Option<Compress>,
    keeps_context: bool,
}

impl Side {
    fn new(is_client: bool, is_compressed: bool, keeps_context: bool) -> Self {
        let compress = is_compressed.then(|| Compress::new(Compression::default(), false));
        Self { mask: is_client.then_some([7, 0, 255, 1]), compress, keeps_context }
    }

    fn frame(&self, first: u8, data: &[u8]) -> Vec<u8> {
        let flag = if self.mask.is_some() { 0x80 } else { 0 };
        let mut frame = vec![first];
        match data.len() {
            length @ 0..126 => frame.push(flag | length as u8),
            length @ 65_536.. => frame.extend([&[flag | 0x7f][..], &(length as u64).to_be_bytes()].concat()),
            length => frame.extend([&[flag | 0x7e][..], &(length as u16).to_be_bytes()].concat()),
        }
        frame.extend(self.mask.into_iter().flatten());
        let mask = self.mask.unwrap_or_default();
        frame.extend(data.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        frame
    }

    /// Writes a text in two frames, with a ping between them.
    fn text(&mut self, text: &str) -> Vec<u8> {
        let (mut data, mut flag) = (text.as_bytes().to_vec(), 0);
        if let Some(compress) = &mut self.compress {
            let mut compressed = Vec::with_capacity(data.len() + 1_000);
            compress.compress_vec(&data, &mut compressed, FlushCompress::Sync).unwrap();
            compressed.truncate(compressed.len() - 4);
            if !self.keeps_context {
                compress.reset();
            }
            (data, flag) = (compressed, 0x40);
        }
        let (start, end) = data.split_at(data.len() / 2);
        [self.frame(flag | 1, start), self.frame(0x89, b"ping"), self.frame(0x80, end)].concat()
    }
}

#[track_caller]
fn check(extensions: &str, contexts: [bool; 2]) {
    run(async {
        let wire = Wire::start().await;
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
        let request = format!(
            "GET /v1/responses HTTP/1.1\r\nHost: {HOST}\r\n{upgrade}Authorization: Bearer canary-0123456789\r\n\r\n"
        );
        let mut pair = wire.connect(request.as_bytes()).await;
        pair.answer(format!("HTTP/1.1 101 Switching Protocols\r\n{upgrade}{extensions}\r\n").as_bytes())
            .await;
        let is_compressed = !extensions.is_empty();
        let mut client = Side::new(true, is_compressed, contexts[0]);
        let mut server = Side::new(false, is_compressed, contexts[1]);
        for number in 0..3_u64 {
            // The second is long, and hard to compress.
            let long = (0..9_000 * number).map(|at| (at * at % 7_919).to_string() + " ");
            let long = long.collect::<String>();
            let create = format!(r#"{{"type":"response.create","model":"m","input":"{number} {long}"}}"#);
            pair.ask(&wire, &client.text(&create)).await;
            pair.ask(&wire, &client.text(r#"{"type":"response.other"}"#)).await;
            let events = [
                r#"{"type":"response.created"}"#.to_owned(),
                format!(
                    r#"{{"type":"response.completed","response":{{"usage":{{"input_tokens":{number}}}}}}}"#
                ),
            ];
            for event in &events[..if number == 2 { 1 } else { 2 }] {
                pair.answer(&server.text(event)).await;
            }
        }
        drop(pair);
        let (text, summary) = wire.finish().await;
        assert!(summary.requests == 3 && !text.contains("canary"), "{text}");
        for (number, line) in text.lines().enumerate() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(line["request"]["input"].as_str().unwrap().starts_with(&format!("{number} ")), "{line}");
            if number == 2 {
                assert_eq!(
                    (&line["events"][0]["type"], &line["error"]),
                    (&"response.created".into(), &"the connection ended".into())
                );
            } else {
                assert_eq!(
                    (line["events"].as_array().unwrap().len(), &line["usage"]["input_tokens"]),
                    (2, &number.into())
                );
            }
        }
    });
}

#[test]
fn records_each_request_of_connection() {
    check("", [true; 2]);
    check("Sec-WebSocket-Extensions: permessage-deflate\r\n", [true; 2]);
    check(
        "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n",
        [false; 2],
    );
}
