//! Transcripts from a server: what is asked, what is kept, what failures mean.

use ctx_chat::{ApiKey, AudioTranscriber, Endpoint};
use ctx_types::ports::{Asset, PortError, PortErrorKind, Transcriber as _};
use ctx_types::{Attachment, Text};
use serde_json::json;

use crate::client::{block_on, endpoint};
use crate::server::{Answer, Server, Step};

const KEY: &str = "sk-TESTCANARY";

fn file(mime_type: &str, bytes: &[u8]) -> Attachment {
    let file = Attachment::from_value(&json!({ "id": "1", "name": "talk", "mimeType": mime_type }));
    Attachment { loaded: Some(Asset::new(bytes)), ..file }
}

fn transcriber(server: &Server) -> AudioTranscriber {
    let endpoint = Endpoint { key: Some(ApiKey::new(KEY, "a test").unwrap()), ..endpoint(server) };
    AudioTranscriber::new(endpoint, "whisper-1").unwrap()
}

fn ask(server: &Server, file: &Attachment) -> Result<Text, PortError> {
    block_on(transcriber(server).transcribe(file))
}

#[test]
fn a_recording_is_sent_as_a_form_and_asked_for_once() {
    let server = Server::script([Answer::json(200, &json!({ "text": "The mill is open." }))]);
    let (transcriber, file) =
        (transcriber(&server), file("audio/x-wav", b"RIFF ctx-0000000000000000 \xff\0"));
    assert!(transcriber.cached(&file).is_none());
    for _ in 0..2 {
        assert_eq!(block_on(transcriber.transcribe(&file)).unwrap(), "The mill is open.");
    }
    assert_eq!(transcriber.cached(&file).unwrap().unwrap(), "The mill is open.");
    let requests = server.requests();
    let [request] = &requests[..] else { panic!("asked more than once") };
    assert_eq!(request.path, "/v1/audio/transcriptions");
    assert_eq!(request.header("authorization"), Some("Bearer sk-TESTCANARY"));
    let boundary = "ctx-0000000000000001";
    assert_eq!(request.header("content-type").unwrap(), format!("multipart/form-data; boundary={boundary}"));
    let mut expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"response_format\"\r\n\r\njson\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file.wav\"\r\n\
         Content-Type: audio/wav\r\n\r\n"
    )
    .into_bytes();
    expected.extend(b"RIFF ctx-0000000000000000 \xff\0");
    expected.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
    assert_eq!(request.body, expected);
}

#[track_caller]
fn check(answer: Answer, expected: PortErrorKind) {
    let server = Server::script([answer]);
    let error = ask(&server, &file("audio/mpeg", b"x")).unwrap_err();
    assert_eq!(error.kind, expected, "{error}");
    assert!(!error.to_string().contains(KEY), "{error}");
}

#[test]
fn failures_say_what_helps() {
    check(Answer::error(401, "bad_key", &format!("no such key: {KEY}")), PortErrorKind::Denied);
    check(Answer::error(413, "size", "too large"), PortErrorKind::TooLarge);
    check(Answer::error(429, "rate", "slowly"), PortErrorKind::Unavailable);
    check(Answer::error(400, "format", "no sound in it"), PortErrorKind::Invalid);
    check(Answer::json(200, &json!({ "words": [] })), PortErrorKind::Invalid);
    check(Answer::stream(vec![Step::Bytes(b"<html>".to_vec())]), PortErrorKind::Invalid);
    check(Answer::stream(vec![Step::Close]), PortErrorKind::Unavailable);
    check(Answer::stream(vec![Step::Stall]), PortErrorKind::TimedOut);
}

#[test]
fn what_no_server_takes_is_not_sent() {
    let server = Server::script([]);
    let error = |file: &Attachment| ask(&server, file).unwrap_err().kind;
    assert_eq!(error(&file("image/png", b"x")), PortErrorKind::Unsupported);
    assert_eq!(error(&file("audio/midi", b"x")), PortErrorKind::Unsupported);
    assert_eq!(error(&file("audio/wav", &vec![0; (25 << 20) + 1])), PortErrorKind::TooLarge);
    assert_eq!(error(&Attachment { loaded: None, ..file("audio/wav", b"") }), PortErrorKind::NotFound);
    assert!(server.requests().is_empty());
}
