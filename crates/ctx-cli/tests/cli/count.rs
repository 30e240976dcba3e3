//! `ctx count`: tokens of texts and conversations.

use insta::assert_snapshot;

use crate::assemble::{CHAT, json};
use crate::{Folder, ctx};

#[test]
fn a_text_is_counted_whole() {
    let files = [("t.txt", "Hello, world!\n"), ("half.json", "[{ \"role\": ")];
    assert_snapshot!(ctx("count --model gpt-5 t.txt", &files), @"
    exit code 0
    === output
    4 tokens, 14 bytes of text
    exact (o200k_base), for `gpt-5`
    ");
    assert_snapshot!(ctx("count t.txt", &files), @"
    exit code 0
    === output
    about 4 tokens, 14 bytes of text
    estimated (o200k_base); no model set
    ");
    assert_snapshot!(ctx("count half.json --model claude-sonnet-4", &files), @"
    exit code 0
    === output
    about 5 tokens, 11 bytes of text
    estimated (o200k_base), for `claude-sonnet-4`
    ");
}

/// Base64 of the head of a picture of 512 by 512 pixels, and of 30 KB behind it.
fn picture() -> String {
    let rest = (0..5_000_u32).map(|at| format!("{:08x}", at.wrapping_mul(2_654_435_761)));
    "iVBORw0KGgoAAAANSUhEUgAAAgAAAAIACAIAAAB7GkOt".to_owned() + &rest.collect::<String>()
}

#[test]
fn pictures_in_a_text_are_no_prose() {
    let text = format!("See ![a cat](data:image/png;base64,{}) there.\n", picture());
    let chat = serde_json::json!([{ "role": "user", "content": &text }]).to_string();
    let files = [("t.md", text.as_str()), ("c.json", &chat)];
    assert_snapshot!(ctx("count --model gpt-4o t.md", &files), @"
    exit code 0
    === output
    about 267 tokens, 40088 bytes of text; images use 255 of the tokens
    estimated (o200k_base), for `gpt-4o`
    ");
    assert_snapshot!(json(&ctx("count --json --model gpt-4o t.md", &files)), @r#"{"kind":"text","tokens":267,"bytes":40088,"media":255,"model":"gpt-4o","encoding":"o200k_base","isExact":false}"#);
    // A message has 3 tokens for its borders beside them.
    assert_eq!(json(&ctx("count --json --model gpt-4o c.json", &files))["tokens"], 270);
}

#[test]
fn of_a_conversation_each_message_is_counted() {
    assert_snapshot!(ctx("count --model gpt-5 c.json", &[("c.json", CHAT)]), @"
    exit code 0
    === output
     #   role        tokens   source       text
    ───────────────────────────────────────────────────────────────
     0   user             4   history:n1   Hello
     1   assistant        5   history:n2   Hi!
     2   user             9   history:n3   When do I sow basil?
     3   assistant        8   history:n4   call_1 → season({})
     4   tool            11   history:n5   call_1 ← early spring …

    5 messages, 37 tokens

    exact (o200k_base), for `gpt-5`
    ");
}

#[test]
fn json_names_the_encoding_and_whether_it_is_exact() {
    let files = [("t.txt", "Hello, world!\n"), ("c.json", CHAT)];
    assert_snapshot!(json(&ctx("count --json t.txt", &files)), @r#"{"kind":"text","tokens":4,"bytes":14,"model":null,"encoding":"o200k_base","isExact":false}"#);
    let chat = json(&ctx("count --json --model gpt-4 c.json", &files));
    assert_eq!(chat["encoding"], "cl100k_base");
    assert_eq!(chat["isExact"], true);
    let messages = chat["messages"].as_array().unwrap();
    let sum: u64 = messages.iter().map(|message| message["tokens"].as_u64().unwrap()).sum();
    assert_eq!((messages.len(), Some(sum)), (5, chat["tokens"].as_u64()));
}

#[test]
fn standard_input_is_counted_too() {
    let folder = Folder::with(&[]);
    let text = folder.ctx_reading("count --model gpt-5", "Hello, world!\n");
    assert_eq!(text, folder.ctx_reading("count --model gpt-5 -", "Hello, world!\n"));
    assert!(text.contains("4 tokens"), "{text}");
    assert!(folder.ctx_reading("count -", CHAT).contains("5 messages, about "));
    assert!(folder.ctx("count --models -").starts_with("exit code 2\n"));
}

#[test]
fn a_conversation_longer_than_the_window_is_counted_all_the_same() {
    let models = r#"[{ "pattern": "^small$", "contextWindow": 20, "encoding": "o200k_base" }]"#;
    let files = [("m.json", models), ("c.json", CHAT), ("ctx.toml", "model = 'small'\nmodels = 'm.json'")];
    let told = ctx("count c.json", &files);
    let end = "\n5 messages, about 37 tokens\n\nestimated (o200k_base), for `small`\n";
    assert!(told.starts_with("exit code 0\n") && told.ends_with(end), "{told}");
}

#[test]
fn what_is_no_text_cannot_be_counted() {
    let folder = Folder::with(&[]);
    folder.write("t.bin", b"ab\xff\0");
    let told = folder.ctx("count t.bin");
    let expected = "exit code 3\n=== errors\nerror[CTX0601]: the document is not text: invalid byte at 2\n --> t.bin:1:3\n";
    assert!(told.starts_with(expected), "{told}");
}

/// As agents and conversations are read.
#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let folder = Folder::with(&[("plain.txt", "Hello, basil")]);
    folder.write("marked.txt", b"\xEF\xBB\xBFHello, basil");
    let wide: Vec<u8> = "\u{feff}Hello, basil".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("wide.txt", &wide);
    let plain = folder.ctx("count plain.txt");
    assert!(plain.contains(", 12 bytes of text\n"), "{plain}");
    assert_eq!(plain, folder.ctx("count marked.txt"));
    assert_eq!(plain, folder.ctx("count wide.txt"));
}
