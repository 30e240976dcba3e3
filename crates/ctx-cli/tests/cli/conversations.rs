//! Findings about conversations lead to their place in each form, and odd ones are still shown.

use insta::assert_snapshot;

use crate::ctx;

#[test]
fn a_list_of_messages() {
    let chat = "[\n  {\"role\": \"narrator\", \"content\": \"x\"},\n  \"not a message\",\n  {\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]}\n]";
    assert_snapshot!(ctx("check c.json", &[("c.json", chat)]), @r#"
    exit code 1
    === output
    `c.json` is checked as a list of chat messages
    1 file checked: 1 error, 1 warning
    === errors
    warning[CTX0631]: the role `narrator` is not known; it is treated as `user`
     --> c.json:2:12
      |
    2 |   {"role": "narrator", "content": "x"},
      |            ^^^^^^^^^^
      |
      = help: use `system`, `developer`, `user`, `assistant` or `tool`

    error[CTX0100]: expected an object, found the text `not a message`
     --> c.json:3:3
      |
    3 |   "not a message",
      |   ^^^^^^^^^^^^^^^
      |
      = help: the value is kept but ignored

    info[CTX0634]: the call of `f` has no id and gets `call-2-0`
     --> c.json:4:40
      |
    4 |   {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
      |                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn messages_in_an_object() {
    let chat = "model: gpt-5\nmessages:\n  - {role: user, content: 7}\n";
    assert_snapshot!(ctx("check c.yaml", &[("c.yaml", chat)]), @r"
    exit code 1
    === output
    `c.yaml` is checked as a request body
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0530]: `content` is neither a string nor a list of parts
     --> c.yaml:3:27
      |
    3 |   - {role: user, content: 7}
      |                           ^
      |
      = help: the provider will reject the request
    ");
}

#[test]
fn lines_with_a_broken_one() {
    let chat = "{\"role\":\"user\",\"content\":\"Hi\"}\n\n{\"role\":\"user\",\"content\":\n{\"role\":\"bot\",\"content\":\"\\ud83d\"}\n";
    assert_snapshot!(ctx("check c.jsonl", &[("c.jsonl", chat)]), @r#"
    exit code 1
    === output
    `c.jsonl` is checked as a list of chat messages
    1 file checked: 1 error, 2 warnings
    === errors
    error[CTX0617]: line 3 is not read: EOF while parsing a value
     --> c.jsonl:3:1
      |
    3 | {"role":"user","content":
      | ^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: the line is kept as it is

    warning[CTX0615]: 1 unpaired surrogate is replaced by U+FFFD
     --> c.jsonl:4:1
      |
    4 | {"role":"bot","content":"\ud83d"}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: an application cut a text in the middle of an emoji or another supplementary character

    warning[CTX0631]: the role `bot` is not known; it is treated as `user`
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
    `c.jsonl` is checked as a SillyTavern chat
    1 file checked: 2 errors, 0 warnings
    === errors
    info[CTX0635]: a message that SillyTavern hides from the model is switched off
     --> c.jsonl:3:1
      |
    3 | {"name":"C","is_user":"no","is_system":true,"mes":8}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: switch them on to send them

    error[CTX0100]: expected true or false, found the text `no`
     --> c.jsonl:3:23
      |
    3 | {"name":"C","is_user":"no","is_system":true,"mes":8}
      |                       ^^^^
      |
      = help: the value is kept but ignored

    error[CTX0100]: expected a text, found the number `8`
     --> c.jsonl:3:51
      |
    3 | {"name":"C","is_user":"no","is_system":true,"mes":8}
      |                                                   ^
      |
      = help: the value is kept but ignored
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
    `c.json` is checked as a session
    1 file checked: 4 errors, 0 warnings
    === errors
    error[CTX0120]: the active leaf `gone` does not exist; `b`, the end of the branch last shown, is used
     --> c.json:3:19
      |
    3 |   "activeLeafId": "gone",
      |                   ^^^^^^

    error[CTX0122]: node `a`: its parents lead back to it; it is read as a child of the root
     --> c.json:6:35
      |
    6 |     "a": { "id": "a", "parentId": "b", "childrenIds": ["b"], "role": "user", "content": "A" },
      |                                   ^^^

    error[CTX0123]: node `b` has the field `id` set to `x`; the key is used
     --> c.json:7:18
      |
    7 |     "b": { "id": "x", "parentId": "a", "childrenIds": ["a"], "role": "assistant", "content": "B" }
      |                  ^^^

    error[CTX0121]: node `b` lists the child `a`, which has another parent
     --> c.json:7:55
      |
    7 |     "b": { "id": "x", "parentId": "a", "childrenIds": ["a"], "role": "assistant", "content": "B" }
      |                                                       ^^^^^
    "#);
    assert_snapshot!(ctx("assemble --session c.json", &[("c.json", TREE)]), @r#"
    exit code 0
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

    error[CTX0122]: node `a`: its parents lead back to it; it is read as a child of the root
     --> c.json:6:35
      |
    6 |     "a": { "id": "a", "parentId": "b", "childrenIds": ["b"], "role": "user", "content": "A" },
      |                                   ^^^

    error[CTX0121]: node `b` lists the child `a`, which has another parent
     --> c.json:7:55
      |
    7 |     "b": { "id": "x", "parentId": "a", "childrenIds": ["a"], "role": "assistant", "content": "B" }
      |                                                       ^^^^^

    error[CTX0120]: the active leaf `gone` does not exist; `b`, the end of the branch last shown, is used
     --> c.json:3:19
      |
    3 |   "activeLeafId": "gone",
      |                   ^^^^^^
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
    `c.json` is checked as a session as `index` and `detail`
    1 file checked: 2 errors, 0 warnings
    === errors
    error[CTX0100]: expected a text, found the number `5`
     --> c.json:2:33
      |
    2 |   "index": { "id": "s", "name": 5, "updatedAt": "1", "messageCount": 1 },
      |                                 ^
      |
      = help: in quotes it is a string; the value is kept but ignored

    error[CTX0100]: expected one of `system`, `developer`, `user`, `assistant`, `tool`, found the text `wizard`
     --> c.json:7:72
      |
    7 |       "n": { "id": "n", "parentId": "root", "childrenIds": [], "role": "wizard", "content": "Hi" }
      |                                                                        ^^^^^^^^
      |
      = help: the value is kept but ignored
    "#);
}

#[test]
fn ids_that_stand_twice() {
    let chat = "[{\"id\":\"m\",\"role\":\"user\",\"content\":\"one\"},\n{\"id\":\"m\",\"role\":\"user\",\"content\":\"two\"}]";
    assert_snapshot!(ctx("check c.json", &[("c.json", chat)]), @r#"
    exit code 1
    === output
    `c.json` is checked as a list of chat messages
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0123]: the id `m` is used twice; the later message is renamed to `n1`
     --> c.json:2:1
      |
    2 | {"id":"m","role":"user","content":"two"}]
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
    let agent = "presetMessages:\n  - {id: e, content: one}\n  - {id: e, content: two}\n";
    assert_snapshot!(ctx("check a.yaml", &[("a.yaml", agent)]), @"
    exit code 0
    === output
    `a.yaml` is checked as an agent
    1 file checked: 0 errors, 1 warning
    === errors
    warning[CTX0208]: entry 0 also has the id `e`
     --> a.yaml:3:10
      |
    3 |   - {id: e, content: two}
      |          ^
      |
      = help: give each entry its own id, so that reports can name it
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

    moved, merged or left out:
      dropped history:n1 and 1 more: it is blank
      hidden history:n3: it is switched off
    ");
}
