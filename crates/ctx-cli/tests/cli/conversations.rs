//! Findings about conversations lead to their place in each form, and odd ones are still shown.

use insta::assert_snapshot;

use crate::ctx;

#[test]
fn a_list_of_messages() {
    let chat = "[\n  {\"role\": \"narrator\", \"content\": \"x\"},\n  \"not a message\",\n  {\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]}\n]";
    assert_snapshot!(ctx("check c.json", &[("c.json", chat)]), @r#"
    exit code 1
    === output
    checked `c.json` as a list of chat messages
    1 file checked: 1 error, 1 warning
    === errors
    warning[CTX0631]: unknown role `narrator`; the message is sent as `user`
     --> c.json:2:12
      |
    2 |   {"role": "narrator", "content": "x"},
      |            ^^^^^^^^^^
      |
      = help: use `system`, `developer`, `user`, `assistant` or `tool`

    error[CTX0100]: expected an object, found the string `not a message`
     --> c.json:3:3
      |
    3 |   "not a message",
      |   ^^^^^^^^^^^^^^^
      |
      = help: correct the value; it is ignored until then

    info[CTX0634]: the call of `f` has no id; `call-2-0` is used
     --> c.json:4:40
      |
    4 |   {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
      |                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn messages_in_an_object() {
    let chat = "model: gpt-5\nmessages:\n  - {role: user, content: 7}\n";
    assert_snapshot!(ctx("check c.yaml", &[("c.yaml", chat)]), @"
    exit code 1
    === output
    checked `c.yaml` as an OpenAI Chat Completions request body
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0530]: `content` must be a string or a list of parts
     --> c.yaml:3:27
      |
    3 |   - {role: user, content: 7}
      |                           ^
      |
      = help: correct the field; the provider rejects the request
    ");
}

#[test]
fn lines_with_a_broken_one() {
    let chat = "{\"role\":\"user\",\"content\":\"Hi\"}\n\n{\"role\":\"user\",\"content\":\n{\"role\":\"bot\",\"content\":\"\\ud83d\"}\n";
    assert_snapshot!(ctx("check c.jsonl", &[("c.jsonl", chat)]), @r#"
    exit code 1
    === output
    checked `c.jsonl` as a list of chat messages
    1 file checked: 1 error, 2 warnings
    === errors
    error[CTX0617]: line 3 is skipped: EOF while parsing a value
     --> c.jsonl:3:1
      |
    3 | {"role":"user","content":
      | ^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: fix the line; it is kept unchanged

    warning[CTX0615]: 1 unpaired surrogate is replaced with U+FFFD
     --> c.jsonl:4:1
      |
    4 | {"role":"bot","content":"\ud83d"}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: export the file again: an application cut a string inside an emoji or similar character

    warning[CTX0631]: unknown role `bot`; the message is sent as `user`
     --> c.jsonl:4:9
      |
    4 | {"role":"bot","content":"\ud83d"}
      |         ^^^^^
      |
      = help: use `system`, `developer`, `user`, `assistant` or `tool`
    "#);
}

#[test]
fn a_silly_tavern_chat() {
    let chat = "{\"user_name\":\"U\",\"character_name\":\"C\",\"chat_metadata\":{}}\n{\"name\":\"U\",\"is_user\":true,\"mes\":\"Hi\"}\n{\"name\":\"C\",\"is_user\":\"no\",\"is_system\":true,\"mes\":8}\n";
    assert_snapshot!(ctx("check c.jsonl", &[("c.jsonl", chat)]), @r#"
    exit code 1
    === output
    checked `c.jsonl` as a SillyTavern chat
    1 file checked: 2 errors, 0 warnings
    === errors
    info[CTX0635]: 1 message hidden in SillyTavern is disabled
     --> c.jsonl:3:1
      |
    3 | {"name":"C","is_user":"no","is_system":true,"mes":8}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: to send them, enable them

    error[CTX0100]: expected true or false, found the string `no`
     --> c.jsonl:3:23
      |
    3 | {"name":"C","is_user":"no","is_system":true,"mes":8}
      |                       ^^^^
      |
      = help: correct the value; it is ignored until then

    error[CTX0100]: expected a string, found the number `8`
     --> c.jsonl:3:51
      |
    3 | {"name":"C","is_user":"no","is_system":true,"mes":8}
      |                                                   ^
      |
      = help: correct the value; it is ignored until then
    "#);
}

const TREE: &str = r#"{
  "rootNodeId": "root",
  "activeLeafId": "gone",
  "nodes": {
    "root": { "id": "root", "parentId": null, "childrenIds": ["a"], "role": "system", "content": "" },
    "a": { "id": "a", "parentId": "b", "childrenIds": ["b"], "role": "user", "content": "A" },
    "b": { "id": "x", "parentId": "a", "childrenIds": ["a"], "role": "assistant", "content": "B" }
  }
}"#;

#[test]
fn a_session_with_broken_links() {
    assert_snapshot!(ctx("check c.json", &[("c.json", TREE)]), @r#"
    exit code 1
    === output
    checked `c.json` as a session
    1 file checked: 4 errors, 0 warnings
    === errors
    error[CTX0120]: active leaf `gone` does not exist; `b`, the leaf of the last shown branch, is used
     --> c.json:3:19
      |
    3 |   "activeLeafId": "gone",
      |                   ^^^^^^
      |
      = help: set `activeLeafId` to the id of the last message, or select the branch in the application that wrote the file

    error[CTX0122]: node `a`: its parents form a cycle; it is moved below the root
     --> c.json:6:35
      |
    6 |     "a": { "id": "a", "parentId": "b", "childrenIds": ["b"], "role": "user", "content": "A" },
      |                                   ^^^
      |
      = help: set `parentId` of the message to the id of the message before it

    error[CTX0123]: node `b` has the field `id` set to `x`; the key is used
     --> c.json:7:18
      |
    7 |     "b": { "id": "x", "parentId": "a", "childrenIds": ["a"], "role": "assistant", "content": "B" }
      |                  ^^^
      |
      = help: give each message a unique id, equal to its key

    error[CTX0121]: node `b` lists the child `a`, which has another parent
     --> c.json:7:55
      |
    7 |     "b": { "id": "x", "parentId": "a", "childrenIds": ["a"], "role": "assistant", "content": "B" }
      |                                                       ^^^^^
      |
      = help: correct `parentId`, `childrenIds`, or `lastSelectedChildId` at the reported place
    "#);
    assert_snapshot!(ctx("assemble --session c.json", &[("c.json", TREE)]), @r#"
    exit code 1
    === output
     #   role        tokens   source      text
    ───────────────────────────────────────────
     0   user             4   history:a   A
     1   assistant        4   history:b   B

    2 messages, about 8 tokens
    === errors
    error[CTX0123]: node `b` has the field `id` set to `x`; the key is used
     --> c.json:7:18
      |
    7 |     "b": { "id": "x", "parentId": "a", "childrenIds": ["a"], "role": "assistant", "content": "B" }
      |                  ^^^
      |
      = help: give each message a unique id, equal to its key

    error[CTX0122]: node `a`: its parents form a cycle; it is moved below the root
     --> c.json:6:35
      |
    6 |     "a": { "id": "a", "parentId": "b", "childrenIds": ["b"], "role": "user", "content": "A" },
      |                                   ^^^
      |
      = help: set `parentId` of the message to the id of the message before it

    error[CTX0121]: node `b` lists the child `a`, which has another parent
     --> c.json:7:55
      |
    7 |     "b": { "id": "x", "parentId": "a", "childrenIds": ["a"], "role": "assistant", "content": "B" }
      |                                                       ^^^^^
      |
      = help: correct `parentId`, `childrenIds`, or `lastSelectedChildId` at the reported place

    error[CTX0120]: active leaf `gone` does not exist; `b`, the leaf of the last shown branch, is used
     --> c.json:3:19
      |
    3 |   "activeLeafId": "gone",
      |                   ^^^^^^
      |
      = help: set `activeLeafId` to the id of the last message, or select the branch in the application that wrote the file
    "#);
}

#[test]
fn a_session_in_two_halves() {
    let halves = r#"{
  "index": { "id": "s", "name": 5, "updatedAt": "1", "messageCount": 1 },
  "detail": {
    "id": "s", "updatedAt": "2", "rootNodeId": "root", "activeLeafId": "n",
    "nodes": {
      "root": { "id": "root", "parentId": null, "childrenIds": ["n"], "role": "system", "content": "" },
      "n": { "id": "n", "parentId": "root", "childrenIds": [], "role": "wizard", "content": "Hi" }
    }
  }
}"#;
    assert_snapshot!(ctx("check c.json", &[("c.json", halves)]), @r#"
    exit code 1
    === output
    checked `c.json` as a session as `index` and `detail`
    1 file checked: 2 errors, 0 warnings
    === errors
    error[CTX0100]: expected a string, found the number `5`
     --> c.json:2:33
      |
    2 |   "index": { "id": "s", "name": 5, "updatedAt": "1", "messageCount": 1 },
      |                                 ^
      |
      = help: put the value in quotes to make it a string; it is ignored until then

    error[CTX0100]: unknown role `wizard`; the message is sent as `user`
     --> c.json:7:72
      |
    7 |       "n": { "id": "n", "parentId": "root", "childrenIds": [], "role": "wizard", "content": "Hi" }
      |                                                                        ^^^^^^^^
      |
      = help: use `system`, `developer`, `user`, `assistant` or `tool`
    "#);
}

#[test]
fn ids_that_stand_twice() {
    let chat = "[{\"id\":\"m\",\"role\":\"user\",\"content\":\"one\"},\n{\"id\":\"m\",\"role\":\"user\",\"content\":\"two\"}]";
    assert_snapshot!(ctx("check c.json", &[("c.json", chat)]), @r#"
    exit code 1
    === output
    checked `c.json` as a list of chat messages
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0123]: duplicate id `m`; the later message is renamed to `n1`
     --> c.json:2:1
      |
    2 | {"id":"m","role":"user","content":"two"}]
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: give each message a unique id, equal to its key
    "#);
    let agent = "presetMessages:\n  - {id: e, content: one}\n  - {id: e, content: two}\n";
    assert_snapshot!(ctx("check a.yaml", &[("a.yaml", agent)]), @"
    exit code 0
    === output
    checked `a.yaml` as an agent
    1 file checked: 0 errors, 1 warning
    === errors
    warning[CTX0208]: duplicate id `e`, also used by entry 0
     --> a.yaml:3:10
      |
    3 |   - {id: e, content: two}
      |          ^
      |
      = help: give each entry a unique id, so that reports can name it
    ");
}

#[test]
fn what_is_left_out_is_named() {
    let chat = "[{\"role\":\"user\",\"content\":\" \"},{\"role\":\"user\",\"content\":\"\"},{\"role\":\"user\",\"content\":\"Hi\",\"isEnabled\":false},{\"role\":\"user\",\"content\":\"Ho\"}]";
    assert_snapshot!(ctx("assemble --session c.json", &[("c.json", chat)]), @"
    exit code 0
    === output
     #   role   tokens   source       text
    ───────────────────────────────────────
     0   user        4   history:n4   Ho

    1 message, about 4 tokens

    moved, merged, or dropped:
      dropped history:n1 and 1 more: blank
      hidden history:n3: disabled
    ");
}
