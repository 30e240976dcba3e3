//! Connections that end early.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::wire::{HOST, Wire, json, post, rest, run};

#[test]
fn ends_client_where_server_ends() {
    let responses: [&[u8]; 5] = [
        b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{\"a\":",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n12\r\ndata: {\"a\":1}\n\nd",
        b"HTTP/1.1 200 OK\r\ncont",
        b"",
    ];
    for response in responses {
        run(async {
            let wire = Wire::start().await;
            let mut pair = wire.connect(&post("/v1/responses", "", r#"{"model":"m"}"#)).await;
            pair.server.write_all(response).await.unwrap();
            drop(pair.server);
            // A head passes as a whole.
            let expected = if response.ends_with(b"cont") { b"" } else { response };
            assert_eq!(rest(&mut pair.client).await.unwrap(), expected);
            let log = wire.log().await;
            assert_eq!(log[0]["error"], "the provider closed the connection");
            assert_eq!(log[0]["request"]["model"], "m");
        });
    }
}

#[test]
fn resets_client_only_if_end_would_look_complete() {
    let heads =
        [("HTTP/1.1 200 OK\r\n\r\n{", true), ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{", false)];
    for (head, is_reset) in heads {
        run(async {
            let wire = Wire::start().await;
            let mut pair = wire.connect(&post("/v1/responses", "", "{}")).await;
            pair.answer(head.as_bytes()).await;
            pair.server.set_zero_linger().unwrap();
            drop(pair.server);
            assert_eq!(rest(&mut pair.client).await.is_err(), is_reset);
        });
    }
}

#[test]
fn ends_response_without_length_with_connection() {
    run(async {
        let wire = Wire::start().await;
        let mut pair = wire.connect(&post("/v1/messages", "", "{}")).await;
        pair.answer(b"HTTP/1.0 200 OK\r\n\r\n{\"a\":1}").await;
        drop(pair.server);
        assert_eq!(rest(&mut pair.client).await.unwrap(), b"");
        let log = wire.log().await;
        assert_eq!((&log[0]["response"]["a"], &log[0]["error"]), (&1.into(), &serde_json::Value::Null));
    });
}

#[test]
fn cancels_server_when_client_leaves() {
    run(async {
        let wire = Wire::start().await;
        // Before the response, within it, and within the request.
        let mut pair = wire.connect(&post("/v1/messages", "", r#"{"n":1}"#)).await;
        drop(pair.client);
        assert_eq!(pair.server.read(&mut [0; 9]).await.unwrap(), 0);
        let mut pair = wire.connect(&post("/v1/messages", "", r#"{"n":2}"#)).await;
        pair.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{").await;
        drop(pair.client);
        assert_eq!(pair.server.read(&mut [0; 9]).await.unwrap(), 0);
        let request = format!("POST /v1/messages HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 9\r\n\r\n{{");
        let mut pair = wire.connect(request.as_bytes()).await;
        drop(pair.client);
        assert_eq!(pair.server.read(&mut [0; 9]).await.unwrap(), 0);
        let log = wire.log().await;
        assert!(log.iter().all(|line| line["error"] == "the client closed the connection"), "{log:?}");
        assert_eq!(log.len(), 3);
    });
}

#[test]
fn passes_response_that_comes_before_end_of_request() {
    run(async {
        let wire = Wire::start().await;
        let request = format!("POST /v1/messages HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 9\r\n\r\n{{");
        let mut pair = wire.connect(request.as_bytes()).await;
        pair.answer(&json("413 Too Large", "{}")).await;
        pair.ask(&wire, b"\"a\":\"b\"}").await;
        pair.ask(&wire, &post("/v1/messages", "", "{}")).await;
        pair.answer(b"HTTP/1.1 400 Bad\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
        assert_eq!(rest(&mut pair.client).await.unwrap(), b"");
        let log = wire.log().await;
        assert_eq!([&log[0]["status"], &log[1]["status"]], [413, 400]);
    });
}

#[test]
fn ends_idle_connections_together() {
    run(async {
        let wire = Wire::start().await;
        for is_client in [true, false] {
            let mut pair = wire.connect(&post("/v1/messages", "", "{}")).await;
            pair.answer(&json("200 OK", "{}")).await;
            let (closed, mut open) =
                if is_client { (pair.client, pair.server) } else { (pair.server, pair.client) };
            drop(closed);
            assert_eq!(rest(&mut open).await.unwrap(), b"");
        }
    });
}

#[test]
fn reports_unreachable_server() {
    run(async {
        let mut wire = Wire::start().await;
        let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        drop(std::mem::replace(&mut wire.listener, free));
        let mut client = wire.client().await;
        client.write_all(&post("/v1/messages", "", "{}")).await.unwrap();
        let response = String::from_utf8(rest(&mut client).await.unwrap()).unwrap();
        assert!(response.starts_with("HTTP/1.1 502 ") && response.contains("cannot connect"), "{response}");
        assert!(wire.log().await[0]["error"].as_str().unwrap().starts_with("cannot connect"));
    });
}

#[test]
fn records_request_that_runs_at_end() {
    run(async {
        let wire = Wire::start().await;
        let mut pair = wire.connect(&post("/v1/messages", "", "{}")).await;
        pair.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{").await;
        let log = wire.log().await;
        assert_eq!(log[0]["error"], "the proxy ended before the response");
        assert_eq!(log[0]["response"], "{");
        drop(pair);
    });
}
