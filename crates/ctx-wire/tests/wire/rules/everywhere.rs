//! What holds in every dialect.

use ctx_types::{Attachment, MediaKind, Message, Severity};
use ctx_wire::{Dialect, Options, lint};
use proptest::prelude::*;
use serde_json::json;

use super::case::*;

/// Every kind of message that a conversation has.
fn conversation() -> Vec<Message> {
    vec![
        system("rules"),
        with_files(user("look at <|im_end|> these"), &[PNG, PDF, WAV, MP4, TXT]),
        calling("Let me look.", &["c1", "c2"]),
        with_files(result("c1", "here"), &[PNG]),
        result("c2", "{}"),
        answer("There."),
        system("now in French"),
        user("so?"),
    ]
}

#[test]
fn what_cannot_be_sent_is_always_told() {
    for dialect in Dialect::ALL {
        let body = encode(dialect, &conversation(), &Options::default());
        for (name, mime_type, _) in [PNG, PDF, WAV, MP4] {
            let told =
                body.diagnostics.iter().filter(|found| found.message.to_string().contains(name)).count();
            assert_eq!(dialect.takes(mime_type), told == 0, "{name} in {dialect}: {:?}", body.diagnostics);
        }
    }
}

#[test]
fn a_file_without_bytes_is_told() {
    let file = Attachment::from_value(&json!({ "name": "a.pdf", "mimeType": "application/pdf" }));
    let message = user("see").with(|message| message.attachments = vec![file]);
    for dialect in Dialect::ALL {
        let found = encode(dialect, std::slice::from_ref(&message), &Options::default()).diagnostics;
        let told = found.iter().any(|found| found.message.to_string().contains("it is not loaded"));
        assert!(told, "{dialect}: {found:?}");
    }
}

#[test]
fn the_linter_finds_no_error_in_a_sound_conversation() {
    for dialect in Dialect::ALL {
        let body = encode(dialect, &conversation(), &Options::default()).to_value();
        assert_eq!(lint::detect(&body), Some(dialect), "{body:#}");
        let errors = lint::check(&body, dialect).into_iter();
        let errors: Vec<_> = errors.filter(|found| found.severity == Severity::Error).collect();
        assert_eq!(errors, [], "{dialect}: {body:#}");
    }
}

#[test]
fn names_of_dialects_are_read_as_they_are_written() {
    let names: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::name).collect();
    assert_eq!(names, ["openai", "openai-responses", "anthropic", "gemini", "completion"]);
    for dialect in Dialect::ALL {
        assert_eq!(Dialect::parse(dialect.name()), Some(dialect));
    }
}

/// The types of media that a dialect takes: the matrix of the providers' pages.
#[test]
fn each_dialect_takes_its_types() {
    let row = |mime_type: &str| Dialect::ALL.map(|dialect| dialect.takes(mime_type));
    // In the order of `Dialect::ALL`: chat, responses, Anthropic, Gemini, completion.
    assert_eq!(row("image/png"), [true, true, true, true, false]);
    assert_eq!(row("image/GIF"), [true, true, true, false, false]);
    assert_eq!(row("image/heic"), [false, false, false, true, false]);
    assert_eq!(row("image/tiff"), [false; 5]);
    assert_eq!(row("application/pdf"), [true, true, true, true, false]);
    assert_eq!(row("text/csv; charset=utf-8"), [true, true, true, true, false]);
    assert_eq!(row("application/json"), [true, true, true, true, false]);
    assert_eq!(row("application/msword"), [false, true, false, false, false]);
    assert_eq!(row("audio/x-wav"), [true, false, false, true, false]);
    assert_eq!(row("audio/mp3"), [true, false, false, true, false]);
    assert_eq!(row("audio/ogg"), [false, false, false, true, false]);
    assert_eq!(row("video/mp4"), [false, false, false, true, false]);
    assert_eq!(row("application/zip"), [false; 5]);
    let addresses = |kind| Dialect::ALL.map(|dialect: Dialect| dialect.takes_address(kind));
    assert_eq!(addresses(MediaKind::Image), [true, true, true, true, false]);
    assert_eq!(addresses(MediaKind::Document), [false, true, true, true, false]);
    assert_eq!(addresses(MediaKind::Audio), [false, false, false, true, false]);
}

fn any_message() -> impl Strategy<Value = Message> {
    let text = "[a-z <|]{0,12}";
    prop_oneof![
        text.prop_map(|text| system(&text)),
        text.prop_map(|text| user(&text)),
        text.prop_map(|text| answer(&text)),
        (text, "[ab]").prop_map(|(text, id)| calling(&text, &[&id])),
        (text, "[ab]?").prop_map(|(text, id)| result(&id, &text)),
        text.prop_map(|text| with_files(user(&text), &[PNG, WAV])),
    ]
}

proptest! {
    /// Whatever the messages are, encoders write something, the same each time, and findings have sound places.
    #[test]
    fn encoders_are_total(messages in prop::collection::vec(any_message(), 0..10)) {
        for dialect in Dialect::ALL {
            let encoded = encode(dialect, &messages, &Options::default());
            prop_assert_eq!(encoded.to_bytes(), encode(dialect, &messages, &Options::default()).to_bytes());
            let body = encoded.to_value();
            prop_assert_eq!(encoded.to_bytes(), serde_json::to_vec(&body).unwrap());
            // Any body can be checked.
            drop(lint::check(&body, dialect));
        }
    }

    /// No word of the user is lost in any dialect.
    #[test]
    fn words_are_kept(words in prop::collection::vec("[a-z]{3,9}", 1..6)) {
        let messages: Vec<Message> = words.iter().map(|word| user(word)).collect();
        for dialect in Dialect::ALL {
            let written = encode(dialect, &messages, &Options::default()).to_string();
            for word in &words {
                prop_assert!(written.contains(word.as_str()), "`{}` in {}", word, written);
            }
        }
    }
}
