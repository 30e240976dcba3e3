//! Bodies of all lengths and forms.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::wire::{HOST, Wire, json, post, run};

/// A body with its header.
#[derive(Clone, Debug)]
struct TestBody {
    header: String,
    bytes: Vec<u8>,
}

fn any_body() -> impl Strategy<Value = TestBody> {
    let size = prop_oneof![0..40_usize, 30_000..70_000_usize, Just(700_000_usize)];
    let chunks = vec((1..9_000_usize, "(;[a-z]=\"[a-z]{0,5}\")?"), 1..6);
    (size, proptest::option::of((chunks, any::<bool>())), any::<u8>()).prop_map(|(size, chunks, seed)| {
        let data: Vec<u8> = (0..size).map(|at| ((at * 31) as u8) ^ seed).collect();
        let Some((chunks, has_trailer)) = chunks else {
            return TestBody { header: format!("CONTENT-length: {size}\r\n"), bytes: data };
        };
        let (mut bytes, mut rest) = (Vec::new(), data.as_slice());
        for (length, extension) in chunks.iter().cycle() {
            let (chunk, after) = rest.split_at((*length).min(rest.len()));
            if chunk.is_empty() {
                break;
            }
            bytes.extend_from_slice(format!("{:X}{extension}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
            rest = after;
        }
        bytes.extend_from_slice(if has_trailer {
            b"0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n"
        } else {
            b"000\r\n\r\n"
        });
        TestBody { header: "Transfer-Encoding: chunked\r\n".to_owned(), bytes }
    })
}

fn message(first: &str, body: &TestBody) -> Vec<u8> {
    [first.as_bytes(), body.header.as_bytes(), b"\r\n", &body.bytes].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn passes_bodies_of_all_lengths(bodies in vec((any_body(), any_body()), 1..4)) {
        run(async {
            let wire = Wire::start().await;
            let mut pair = None;
            for (request, response) in &bodies {
                let request = message(&format!("PUT /v1/files HTTP/1.1\r\nHost: {HOST}\r\n"), request);
                let pair = match &mut pair {
                    Some(pair) => pair,
                    none => {
                        // The first bytes open the connection.
                        let head = request.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
                        let pair = none.insert(wire.connect(&request[..head]).await);
                        pair.ask(&wire, &request[head..]).await;
                        pair.answer(&message("HTTP/1.1 200 Fine\r\n", response)).await;
                        continue;
                    }
                };
                pair.ask(&wire, &request).await;
                pair.answer(&message("HTTP/1.1 200 Fine\r\n", response)).await;
            }
        });
    }
}

#[test]
fn passes_each_part_of_stream_at_once() {
    run(async {
        let wire = Wire::start().await;
        let mut pair = wire.connect(&post("/v1/messages", "", r#"{"stream":true}"#)).await;
        pair.answer(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        )
        .await;
        let event = "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n";
        // Each byte arrives before the next is sent, even within a chunk size or a character.
        let chunk = format!("{:x}\r\n{event}\r\n9\r\n: \u{1f600}\r\n\r\n", event.len());
        for byte in chunk.as_bytes() {
            pair.answer(&[*byte]).await;
        }
        let end = "data: {\"usage\":{\"input_tokens\":null,\"output_tokens\":7}}\n\ndata: [DONE]\n\n";
        pair.answer(format!("{:x}\r\n{end}\r\n0\r\n\r\n", end.len()).as_bytes()).await;
        let log = wire.log().await;
        assert_eq!(log[0]["events"].as_array().unwrap().len(), 3);
        assert_eq!(log[0]["events"][2], "[DONE]");
        assert_eq!(log[0]["usage"], serde_json::json!({ "input_tokens": 9, "output_tokens": 7 }));
        assert_eq!(log[0]["error"], serde_json::Value::Null);
    });
}

#[test]
fn decodes_only_the_copy() {
    let json_body = r#"{"model":"m","messages":[]}"#;
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 27, 0xd9, 0, 0][..], json_body.as_bytes()].concat();
    let brotli = b"\x0b\x0d\x80{\"model\":\"m\",\"messages\":[]}\x03".to_vec();
    let gzip = [
        &b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xabV\xcaMIP\xb2R\xcaU\xd2Q"[..],
        b"", // Truncated: the start is not JSON.
    ]
    .concat();
    let encoded = [("br", brotli, json_body), ("ZSTD", zstd, json_body), ("x-gzip", gzip, "")];
    for (encoding, bytes, expected) in encoded {
        run(async {
            let wire = Wire::start().await;
            let head = format!(
                "POST /v1/chat/completions HTTP/1.1\r\nHost: {HOST}\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
                bytes.len()
            );
            let mut pair = wire.connect(&[head.as_bytes(), &bytes].concat()).await;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
                bytes.len()
            );
            pair.answer(&[head.as_bytes(), &bytes].concat()).await;
            let log = wire.finish().await.0;
            let has_both = log.contains(&format!("\"request\":{json_body},"))
                && log.contains(&format!("\"response\":{json_body}"));
            assert_eq!(has_both, !expected.is_empty(), "{log}");
        });
    }
}

#[test]
fn names_unknown_encoding() {
    run(async {
        let wire = Wire::start().await;
        let mut pair =
            wire.connect(&post("/v1/messages", "Content-Encoding: secret-squeeze\r\n", "xyz")).await;
        pair.answer(&json("200 OK", "{}")).await;
        let log = wire.log().await;
        assert_eq!(log[0]["error"], "request: cannot decode `secret-squeeze`");
        assert_eq!(
            [&log[0]["request"], &log[0]["response"]],
            [&serde_json::Value::Null, &serde_json::json!({})]
        );
    });
}
