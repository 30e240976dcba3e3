//! Heads of requests and responses.

use tokio::io::AsyncWriteExt as _;

use crate::wire::{HOST, Wire, expect, json, post, rest, run};

#[test]
fn keeps_order_case_and_duplicates() {
    run(async {
        let wire = Wire::start().await;
        let request = format!(
            "POST /v1/messages?beta=true&x=%2F HTTP/1.1\r\nX-B: 1\r\nHOST: {HOST}\r\nx-a:\t2  \r\nX-b:3\r\n\
             Connection: keep-alive\r\nAccept-Encoding: gzip, br\r\nx-empty:\r\nX-Latin: \u{e9}\r\ncontent-LENGTH: 2\r\n\r\n{{}}"
        );
        let mut pair = wire.connect(request.as_bytes()).await;
        pair.answer(
            b"HTTP/1.1 299 Very  Fine\r\nSET-cookie: a\r\nx: 1\r\nSet-Cookie: b\r\nX: \xff\r\ncontent-length: 2\r\n\r\n{}",
        )
        .await;
        // The connections stay open.
        pair.ask(&wire, &post("/v1/messages", "", "{}")).await;
        pair.answer(&json("200 OK", "{}")).await;
    });
}

#[test]
fn passes_interim_responses() {
    run(async {
        let wire = Wire::start().await;
        let request = format!(
            "POST /v1/messages HTTP/1.1\r\nHost: {HOST}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        );
        let mut pair = wire.connect(request.as_bytes()).await;
        pair.answer(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n").await;
        pair.ask(&wire, b"{}").await;
        pair.answer(&json("200 OK", "{}")).await;
        assert_eq!(wire.log().await[0]["status"], 200);
    });
}

#[test]
fn passes_responses_without_body() {
    run(async {
        let wire = Wire::start().await;
        let head = format!("HEAD /v1/models HTTP/1.1\r\nHost: {HOST}\r\n\r\n");
        let get = format!("GET /v1/models HTTP/1.1\r\nHost: {HOST}\r\n\r\n");
        let mut pair = wire.connect(head.as_bytes()).await;
        pair.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n").await;
        for response in [
            "204 No Content\r\n",
            "304 Not Modified\r\ncontent-length: 50\r\n",
            "200 OK\r\ncontent-length: 0\r\n",
        ] {
            pair.ask(&wire, get.as_bytes()).await;
            pair.answer(format!("HTTP/1.1 {response}\r\n").as_bytes()).await;
        }
        // Only requests for a response of a model are recorded.
        assert_eq!(wire.log().await.len(), 0);
    });
}

#[test]
fn relays_pipelined_requests_in_order() {
    run(async {
        let wire = Wire::start().await;
        let requests = [post("/v1/messages", "", r#"{"n":1}"#), post("/v1/messages", "", r#"{"n":2}"#)];
        let mut client = wire.client().await;
        let both = requests.concat();
        let (sent, accepted) = tokio::join!(client.write_all(&both), wire.listener.accept());
        sent.unwrap();
        let mut server = accepted.unwrap().0;
        for (number, request) in requests.iter().enumerate() {
            expect(&mut server, &wire.forwarded(request)).await;
            let response = json("200 OK", &format!(r#"{{"n":{number}}}"#));
            server.write_all(&response).await.unwrap();
            expect(&mut client, &response).await;
        }
        let log = wire.log().await;
        assert_eq!([&log[0]["request"]["n"], &log[1]["request"]["n"]], [1, 2]);
    });
}

#[test]
fn tunnels_upgraded_connection() {
    run(async {
        let wire = Wire::start().await;
        let request = format!(
            "GET /v1/responses HTTP/1.1\r\nHost: {HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        let mut pair = wire.connect(request.as_bytes()).await;
        pair.answer(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x02hi").await;
        pair.ask(&wire, b"\x81\x82\0\0\0\0HI\r\n\r\nGET").await;
        pair.answer(b"\x88\0").await;
        drop(pair.server);
        assert_eq!(rest(&mut pair.client).await.unwrap(), b"");
        let log = wire.log().await;
        assert_eq!(
            (&log[0]["status"], &log[0]["error"]),
            (&101.into(), &"no complete request in the messages of the connection".into())
        );
        assert_eq!(log[0]["request"], serde_json::Value::Null);
    });
}

#[test]
fn refuses_invalid_heads_and_other_hosts() {
    run(async {
        let wire = Wire::start().await;
        let long = format!("GET / HTTP/1.1\r\nHost: {HOST}\r\nx: {}\r\n", "y".repeat(70_000));
        let cases = [
            ("BAD\r\n\r\n", "400"),
            ("GET / HTTP/1.1\nHost: x\r\n\r\n", "400"),
            ("GET http://example.com/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
            ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", "421"),
            ("GET / HTTP/1.1\r\nHost: [::2]:80\r\n\r\n", "421"),
            (&long, "431"),
        ];
        for (request, status) in cases {
            let mut client = wire.client().await;
            client.write_all(request.as_bytes()).await.unwrap();
            let response = String::from_utf8(rest(&mut client).await.unwrap()).unwrap();
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
        }
    });
}
