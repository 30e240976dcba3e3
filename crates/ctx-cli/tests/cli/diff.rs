//! `ctx diff`: what two contexts share at their beginning.

use insta::assert_snapshot;
use serde_json::json;

use crate::assemble::json as read;
use crate::{Folder, ctx};

const AGENT: &str = "\
name: Ada
presetMessages:
  - {id: identity, role: system, content: 'You are {{char}}. It is {{time}}.'}
  - {id: rules, role: system, content: Be brief.}
  - {type: chat_history}
";
const CHAT: &str = r#"[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}]"#;

/// A folder with an agent, a conversation, and its context at two times.
fn two_turns() -> Folder {
    let folder =
        Folder::with(&[("a.yaml", AGENT), ("c.json", CHAT), ("b.yaml", &AGENT.replace("brief", "kind"))]);
    for (name, at) in [("before.json", "12:00"), ("after.json", "12:05")] {
        let turn = format!("--session c.json --input Well? --at 2026-01-31T{at}:00Z");
        let answer = folder.ctx(&format!("assemble a.yaml {turn} --json"));
        folder.write(name, read(&answer).to_string().as_bytes());
    }
    folder
}

#[test]
fn equal_contexts_share_everything() {
    assert_snapshot!(two_turns().ctx("diff before.json before.json"), @"
    exit code 0
    === output
    shared        all: 4 messages
    billed again  no tokens
    ");
}

#[test]
fn agents_are_assembled_at_one_time() {
    assert_snapshot!(two_turns().ctx("diff a.yaml b.yaml --session c.json --at 2026-01-31T12:00:00Z"), @"
    exit code 0
    === output
    shared            0 messages of 3, and the start of the next; about 16 of 28 tokens (57%)
    prefix ended by   preset:rules, changed
    first difference  message 0, byte 38 of the text
      first           `brief.` from preset:rules
      second          `kind.` from preset:rules
    billed again      about 12 tokens, 9 of them in unchanged messages
    ");
}

/// Checks what ends the prefix of two requests, and their planned break.
#[track_caller]
fn check_prefix_end(first: &str, second: &str, expected: &str) {
    let printed = ctx("diff a.json b.json", &[("a.json", first), ("b.json", second)]);
    let names = ["prefix ended by", "planned break"];
    let found = printed.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
    assert_eq!(found.collect::<Vec<_>>().join("\n"), expected, "{printed}");
}

#[test]
fn names_text_that_ends_the_prefix() {
    let request = |parts: &[&str]| {
        let message = |part: &&str| {
            let (kind, text) = part.split_once(' ').unwrap();
            let (kind, id) = kind.split_once(':').unwrap();
            json!({ "role": "user", "content": text, "source": { "kind": kind, "id": id } })
        };
        json!({ "messages": parts.iter().map(message).collect::<Vec<_>>() })
    };
    let check = |first: &[&str], second: &[&str], expected: &str| {
        check_prefix_end(&request(first).to_string(), &request(second).to_string(), expected);
    };
    let (rules, note) = ("preset:rules Be kind.", "preset:note Be calm.");
    let [one, two, three] = ["history:n1 Hi", "history:n2 Hello!", "history:n3 Well?"];
    check(&[rules, one, note], &[rules, one, note, two], "");
    let (longer, shorter) = (request(&[rules, one]).to_string(), request(&[rules]).to_string());
    let added = ctx("diff a.json b.json", &[("a.json", &shorter), ("b.json", &longer)]);
    assert!(added.contains("first difference  message 1, only in the second request\n"), "{added}");
    check(&[rules, note, one], &[rules, one, two, note, three], "prefix ended by   preset:note, moved down");
    check(&[rules, one, note], &[rules, one, two, three, note], "prefix ended by   preset:note, moved down");
    check(&[rules, one], &["preset:rules Be brief.", one, two], "prefix ended by   preset:rules, changed");
    check(&[rules, one, two], &[rules, two, three], "prefix ended by   history:n1, removed");
    check(
        &[rules, one],
        &[rules, "worldbook:b.0 The sea.", one, two],
        "prefix ended by   worldbook:b.0, inserted",
    );
    let mut cut = request(&[rules, three]);
    cut["report"]["prefix"]["plannedBreak"] =
        json!({ "reason": "the conversation exceeds the budget", "tokens": 9 });
    let expected =
        "prefix ended by   history:n1, removed\nplanned break     the conversation exceeds the budget";
    let (first, cut) = (request(&[rules, one, three]).to_string(), cut.to_string());
    check_prefix_end(&first, &cut, expected);
    let printed = ctx("--lang zh diff a.json b.json", &[("a.json", &first), ("b.json", &cut)]);
    assert!(printed.contains("对话超出预算"), "{printed}");
}

#[test]
fn json_has_the_same_as_data() {
    let comparison = read(&two_turns().ctx("diff before.json after.json --json"));
    assert_eq!(comparison["difference"]["owners"][0], "macro:time of preset:identity");
    assert_eq!(comparison["sharedMessages"], 0);
}

#[test]
fn what_is_neither_context_nor_agent_is_said() {
    let folder = two_turns();
    folder.write("odd.json", b"[1, 2");
    let told = folder.ctx("diff odd.json before.json");
    assert!(told.starts_with("exit code 3\n=== errors\nerror[CTX0602]: invalid JSON: "), "{told}");
}

#[test]
fn agents_are_assembled_with_a_worldbook_and_a_table_of_models() {
    let folder = two_turns();
    folder.write("w.json", br#"{"entries":{"0":{"key":["Well"],"content":"A well is deep.","position":0}}}"#);
    folder.write("m.json", br#"[{"pattern":"^mine$","encoding":"cl100k_base","contextWindow":4000}]"#);
    let turn = "--session c.json --input Well? --at 2026-01-31T12:00:00Z --model mine --models m.json";
    assert_snapshot!(folder.ctx(&format!("diff before.json a.yaml {turn} --worldbook w.json")), @"
    exit code 0
    === output
    shared            0 messages of 4, and the start of the next; about 16 of 39 tokens (41%)
    prefix ended by   worldbook:w.0, inserted
    first difference  message 0, byte 44 of the text
      first           `` from merged:preset:identity+preset:rules
      second          `  ---  A well is deep.` from separator
    billed again      about 23 tokens, 14 of them in unchanged messages
    ");
}

/// A request of Anthropic's API with a clock in its system prompt.
fn body(clock: &str, messages: usize) -> serde_json::Value {
    let system = format!("{} It is {clock}.", "The harbor has three piers. ".repeat(200));
    let message = |index: usize| {
        let role = if index.is_multiple_of(2) { "user" } else { "assistant" };
        json!({ "role": role, "content": format!("Line {index}") })
    };
    json!({
        "model": "claude-opus-5",
        "system": [{ "type": "text", "text": system, "cache_control": { "type": "ephemeral" } }],
        "messages": (0..messages).map(message).collect::<Vec<_>>(),
    })
}

#[test]
fn compares_request_bodies() {
    let files = [("a.json", body("10:15", 1).to_string()), ("b.json", body("10:16", 3).to_string())];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    assert_snapshot!(ctx("diff a.json b.json", &files), @"
    exit code 0
    === output
    shared            0 of 4 blocks
    first difference  system part 1, byte 5,669 of the request
    change            a time, date, or id changed
    first             `… The harbor has three piers.  It is 10:15.`
    second            `… The harbor has three piers.  It is 10:16.`
    read again        1,408 tokens ($0.0081)
    reusable          0 of 1,417 tokens
    cost              $0.0088, then $0.0088
    ");
}

#[test]
fn analyzes_a_log() {
    let usage =
        json!({ "input_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 1200 });
    let lines = [
        json!({ "at": "2026-11-29T10:15:00Z", "request": body("10:15", 1) }).to_string(),
        json!({ "at": "2026-11-29T10:15:20Z", "request": body("10:15", 3) }).to_string(),
        json!({ "at": "2026-11-29T10:16:00Z", "request": body("10:16", 5), "usage": usage }).to_string(),
        json!({ "at": "2026-11-29T10:30:00Z", "request": body("10:16", 7) }).to_string(),
        "not JSON \u{1b}[31m".to_owned(),
    ];
    let log = lines.join("\n");
    assert_snapshot!(ctx("diff log.jsonl", &[("log.jsonl", &log)]), @"
    exit code 0
    === output
     #   time       model           tokens   reused      cost   cache break
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     1   10:15:00   claude-opus-5    1,411       ~0   $0.0088
     2   10:15:20   claude-opus-5    1,417   ~1,408   $0.0007
     3   10:16:00   claude-opus-5    1,205        0   $0.0075   system part 1: a time, date, or id changed (`… The harbor…
     4   10:30:00   claude-opus-5    1,429       ~0   $0.0089   system part 1: the cache had expired

    causes of cache misses, by cost:
      1,205 tokens ($0.0069): system prompt, a time, date, or id changed; 1 request, first request 3
      1,191 tokens ($0.0068): system prompt, the cache had expired; 1 request, first request 4

    4 requests, 5,462 tokens: 0% were read from caches, 25% could be; $0.0260, of which $0.0138 for cache misses

    1 line skipped, first line 5: no JSON
    ");
    let printed = ctx("diff empty.jsonl", &[("empty.jsonl", "{}")]);
    assert_snapshot!(printed, @"
    exit code 3
    === errors
    error: `empty.jsonl` has no requests; a log has one per line, and to compare two files, name both
    ");
}
