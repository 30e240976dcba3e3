//! `ctx explain --html`: a context as one web page.

use crate::Folder;
use crate::assemble::{AGENT, CHAT};

/// Writes the page of a turn and returns it; what is printed is checked.
#[track_caller]
fn page(arguments: &str, files: &[(&str, &str)]) -> String {
    let folder = Folder::with(files);
    let answer = folder.ctx(&format!("explain --at 2026-01-31T12:00:00Z --html page.html {arguments}"));
    assert!(answer.starts_with("exit code 0\n=== errors\n"), "{answer}");
    assert!(answer.ends_with("wrote `page.html`\n"), "{answer}");
    std::fs::read_to_string(folder.path().join("page.html")).unwrap()
}

/// What stands between two marks, the first of each.
#[track_caller]
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn a_page_shows_messages_stages_decisions_and_the_cache() {
    let files = [("a.yaml", AGENT), ("c.json", CHAT)];
    let page = page("a.yaml --session c.json", &files);
    for part in [
        "<title>Context of Robin</title>",
        "<span class=\"piece macro\" title=\"macro:time from preset:identity · bytes 21–29 · 3 tokens\">12:00 PM</span>",
        "<li>created as message 0\n",
        "<h3>injection-assembler</h3>",
        "<td class=\"outcome\">hidden</td>",
        "The first message may change next turn, so the prompt cache has no effect.",
        "Message 0 may change: macro:time, the macro changes every turn.",
        "<li class=\"mono\">call call_1: season({})</li>",
        "<p>No problems found.</p>",
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    let again = self::page("a.yaml --session c.json", &files);
    assert_eq!(page, again, "equal inputs give equal bytes");
}

#[test]
fn what_strangers_wrote_stays_text() {
    let hostile = "\"><script>alert(1)</script></style></title><img src=x onerror=alert(2)>'`javascript:alert(3)\\u0000\\u001b\\u202e";
    let text = hostile.replace('"', "\\\"");
    let agent = format!(
        r#"{{ "name": "{text}", "presetMessages": [
            {{ "id": "{text}", "name": "{text}", "role": "system", "content": "{text}{{{{char}}}}{{{{{text}}}}}" }},
            {{ "type": "chat_history" }},
            {{ "id": "off{text}", "role": "system", "content": "x", "isEnabled": false }} ] }}"#
    );
    let chat = format!(
        r#"[{{ "role": "user", "content": "{text}", "name": "{text}" }},
            {{ "role": "assistant", "content": null, "tool_calls": [ {{ "id": "{text}", "type": "function",
                "function": {{ "name": "{text}", "arguments": "{text}" }} }} ] }},
            {{ "role": "tool", "tool_call_id": "{text}", "content": "{text}" }}]"#
    );
    let page = page("a.json --session c.json", &[("a.json", &agent), ("c.json", &chat)]);
    let (_, body) = page.split_once("</style>").unwrap();
    for forbidden in [
        "<script",
        "</style",
        "<img",
        "onerror=alert(2)>",
        "href=\"javascript",
        "\u{0}",
        "\u{1b}",
        "\u{202e}",
    ] {
        assert!(!body.contains(forbidden), "{forbidden:?} is in\n{body}");
    }
    assert!(body.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;"), "{body}");
    let title = between(&page, "<title>", "</title>");
    assert!(!title.contains('<'), "{title}");
}

#[test]
fn a_page_allows_its_own_style_and_nothing_else() {
    let page = page("--input Hi", &[]);
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\">");
    assert!(policy.starts_with("default-src &#x27;none&#x27;; style-src &#x27;sha256-"), "{policy}");
    assert!(policy.ends_with("&#x27;; base-uri &#x27;none&#x27;; form-action &#x27;none&#x27;"), "{policy}");
    for forbidden in ["<script", "http://", "https://", "url(", "@import", " style=", " onclick="] {
        assert!(!page.contains(forbidden), "{forbidden} is in\n{page}");
    }
}

#[test]
fn a_large_context_is_cut_and_says_so() {
    let long = "word ".repeat(8_000);
    let chat: Vec<_> = (0..401)
        .map(|n| serde_json::json!({ "role": if n % 2 == 0 { "user" } else { "assistant" }, "content": format!("{n}: {long}") }))
        .collect();
    let chat = serde_json::Value::Array(chat).to_string();
    let page = page("--session c.json --context-tokens 1000000000", &[("c.json", &chat)]);
    assert!(page.len() < 6_000_000, "{}", page.len());
    assert!(page.contains("<p class=\"gap\">1 more message in between;"), "the gap is told");
    assert!(page.contains("<span class=\"note\">… 7235 bytes more</span>"), "what is cut of a text is told");
    assert!(page.contains(" texts are cut by "), "what is cut in all is told");
}

#[test]
fn with_json_the_report_is_printed_too() {
    let folder = Folder::with(&[]);
    let answer = folder.ctx("explain --input Hi --html page.html --json");
    assert!(answer.contains("\"stages\""), "{answer}");
    assert_eq!(folder.names(), ["page.html"]);
}
