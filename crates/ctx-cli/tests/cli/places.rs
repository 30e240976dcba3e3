//! Findings show the very words that they are about, in every form of file.

use insta::assert_snapshot;

use crate::{Folder, ctx};

/// Checks a file, and drops the summary line.
#[track_caller]
fn place(name: &str, content: &str) -> String {
    let answer = ctx(&format!("check {name}"), &[(name, content)]);
    answer.split_once("=== errors\n").map_or(answer.clone(), |(_, findings)| findings.to_owned())
}

#[test]
fn the_macro_itself_is_marked() {
    let content = "{{user}} {{usr}} and {{usr}}, {{getvar}}, {{chr";
    assert_snapshot!(place("a.yaml", &format!("presetMessages:\n  - content: '{content}'\n")), @"
    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:2:24
      |
    2 |   - content: '{{user}} {{usr}} and {{usr}}, {{getvar}}, {{chr'
      |                        ^^^^^^^
      |
      = help: did you mean `user`?

    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:2:36
      |
    2 |   - content: '{{user}} {{usr}} and {{usr}}, {{getvar}}, {{chr'
      |                                    ^^^^^^^
      |
      = help: did you mean `user`?

    warning[CTX0301]: `getvar` takes 1 argument, but 0 given
     --> a.yaml:2:45
      |
    2 |   - content: '{{user}} {{usr}} and {{usr}}, {{getvar}}, {{chr'
      |                                             ^^^^^^^^^^
      |
      = help: write it like `{{getvar::mood}}`
    ");
}

#[test]
fn a_macro_in_a_block_is_marked_in_its_line() {
    let block = "presetMessages:\n  - content: |\n      One\n      two {{usr}}\n  - content: >-\n      three\n      {{usr}} four\n";
    assert_snapshot!(place("a.yaml", block), @"
    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:4:11
      |
    4 |       two {{usr}}
      |           ^^^^^^^
      |
      = help: did you mean `user`?

    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:7:7
      |
    7 |       {{usr}} four
      |       ^^^^^^^
      |
      = help: did you mean `user`?
    ");
}

#[test]
fn a_macro_behind_wide_letters_and_escapes_is_marked() {
    assert_snapshot!(place("a.json", r#"{"presetMessages":[{"content":"你好 \ud83d\ude00 \n{{usr::\"x\"}}"}]}"#), @r#"
    warning[CTX0300]: unknown macro `usr`
     --> a.json:1:50
      |
    1 | {"presetMessages":[{"content":"你好 \ud83d\ude00 \n{{usr::\"x\"}}"}]}
      |                                                    ^^^^^^^^^^^^^^
      |
      = help: did you mean `user`?
    "#);
}

#[test]
fn a_macro_that_is_spelled_with_escapes_gives_the_whole_text() {
    assert_snapshot!(place("a.json", r#"{"presetMessages":[{"content":"\u007b{usr}}"}]}"#), @r#"
    warning[CTX0300]: unknown macro `usr`
     --> a.json:1:31
      |
    1 | {"presetMessages":[{"content":"\u007b{usr}}"}]}
      |                               ^^^^^^^^^^^^^^
      |
      = help: did you mean `user`?
    "#);
}

#[test]
fn a_list_of_entries_is_its_own_root() {
    assert_snapshot!(place("a.json", r#"[{"type":"chat_history"},{"content":"{{usr}}"}]"#), @r#"
    warning[CTX0300]: unknown macro `usr`
     --> a.json:1:38
      |
    1 | [{"type":"chat_history"},{"content":"{{usr}}"}]
      |                                      ^^^^^^^
      |
      = help: did you mean `user`?
    "#);
}

#[test]
fn entries_under_messages_and_groups_beside_them_are_found() {
    let file = "groups:\n  - { id: g, selectionMode: radio, enabled: 'yes' }\nmessages:\n  - { content: '{{usr}}', groupId: g }\n  - { content: b, groupId: gg }\n";
    assert_snapshot!(place("a.yaml", file), @"
    error[CTX0100]: expected true or false, found the string `yes`
     --> a.yaml:2:45
      |
    2 |   - { id: g, selectionMode: radio, enabled: 'yes' }
      |                                             ^^^^^
      |
      = help: correct the value; it is ignored until then

    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:4:17
      |
    4 |   - { content: '{{usr}}', groupId: g }
      |                 ^^^^^^^
      |
      = help: did you mean `user`?

    info[CTX0209]: unknown group `gg`; the entry is ungrouped
     --> a.yaml:5:28
      |
    5 |   - { content: b, groupId: gg }
      |                            ^^
      |
      = help: did you mean `g`?
    ");
}

/// Checks which line and what of it is marked where a file is checked.
#[track_caller]
fn marked(name: &str, file: &str, expected: &str) {
    let told = ctx(&format!("check {name}"), &[(name, file)]);
    assert!(told.contains(expected), "{told}");
}

#[test]
fn the_right_bytes_are_marked() {
    marked(
        "a.yaml",
        "presetMessages:\n  - type: 'user_profil'  # quoted\n",
        "2 |   - type: 'user_profil'  # quoted\n  |           ^^^^^^^^^^^^^\n",
    );
    marked(
        "b.yaml",
        "presetMessages: [{ enabld: 1, isEnable: true }]\n",
        "isEnable: true }]\n  |                               ^^^^^^^^\n",
    );
    marked("c.yaml", "presetMessages: [{ content: a },\n  { content: b }\n", "c.yaml:1:17\n");
    marked("e.yaml", "presetMessages: [{ content: a },\n  { content: b }\n", "or close the bracket");
    marked("f.yaml", "presetMessages: [{ content: a }\nname: x\n", "  = help: close the list with `]`");
    marked("d.json", r#"{"entries":"x"}"#, "found an object with the keys `entries`\n");
}

#[test]
fn the_agent_in_an_export_is_found() {
    let file = r#"{
  "type": "AIO_Agent_Export",
  "agents": [
    { "name": 7, "presetMessages": [ { "content": "{{usr}}" } ] },
    { "name": "second" }
  ]
}"#;
    assert_snapshot!(place("a.json", file), @r#"
    error[CTX0100]: expected a string, found the number `7`
     --> a.json:4:15
      |
    4 |     { "name": 7, "presetMessages": [ { "content": "{{usr}}" } ] },
      |               ^
      |
      = help: put the value in quotes to make it a string; it is ignored until then

    warning[CTX0300]: unknown macro `usr`
     --> a.json:4:52
      |
    4 |     { "name": 7, "presetMessages": [ { "content": "{{usr}}" } ] },
      |                                                    ^^^^^^^
      |
      = help: did you mean `user`?

    warning[CTX0620]: only the first of 2 agents is read; `second` not
     --> a.json:5:5
      |
    5 |     { "name": "second" }
      |     ^^^^^^^^^^^^^^^^^^^^
      |
      = help: split the export into one file per agent; the others are kept under `imported`
    "#);
}

#[test]
fn entries_after_a_greeting_that_moved_are_found() {
    let file = "\
presetMessages:
  - { name: First Message, content: Hi! }
  - { name: Main, content: 'Hello {{usr}}' }
";
    assert_snapshot!(place("a.yaml", file), @"
    info[CTX0653]: 1 greeting moves from the preset's entries to `greetings`
     --> a.yaml:2:5
      |
    2 |   - { name: First Message, content: Hi! }
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:3:35
      |
    3 |   - { name: Main, content: 'Hello {{usr}}' }
      |                                   ^^^^^^^
      |
      = help: did you mean `user`?
    ");
}

#[test]
fn content_parts_are_found() {
    let file = "presetMessages:\n  - content:\n      - { type: text, text: fine }\n      - { type: text, text: 'x {{usr}}' }\n";
    assert_snapshot!(place("a.yaml", file), @"
    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:4:32
      |
    4 |       - { type: text, text: 'x {{usr}}' }
      |                                ^^^^^^^
      |
      = help: did you mean `user`?
    ");
}

#[test]
fn a_part_of_a_depth_is_marked() {
    let file = "presetMessages:\n  - content: x\n    injectionStrategy: { type: advanced_depth, depthConfig: '3, x, 10~5' }\n";
    assert_snapshot!(place("a.yaml", file), @"
    info[CTX0707]: moving text breaks the prompt cache; tokens billed again in 50 turns, about: `preset#0` 220000
     --> a.yaml:1:1
      |
    1 | presetMessages:
      | ^^^^^^^^^^^^^^^
      |
      = help: set `prefix: auto` to keep sent text in place, or `prefix: moving` to accept the cost

    warning[CTX0111]: invalid depth `x`; it is ignored
     --> a.yaml:3:65
      |
    3 |     injectionStrategy: { type: advanced_depth, depthConfig: '3, x, 10~5' }
      |                                                                 ^
      |
      = help: write a depth such as `3`, or `10~5` for 10, 15, 20, and so on
    ");
}

#[test]
fn an_entry_is_marked_where_it_begins() {
    let file = "presetMessages:\n  - type: placeholder\n    name: Lore\n  - { type: placeholder }\n";
    assert_snapshot!(place("a.yaml", file), @"
    warning[CTX0203]: the placeholder has no id
     --> a.yaml:2:5
      |
    2 |   - type: placeholder
      |     ^^^^^^^^^^^^^^^^^
      |
      = help: add an `id`: it is the anchor's name

    warning[CTX0203]: the placeholder has no id
     --> a.yaml:4:5
      |
    4 |   - { type: placeholder }
      |     ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: add an `id`: it is the anchor's name
    ");
}

#[test]
fn in_a_very_long_line_the_column_is_that_of_the_file() {
    let file = format!(
        r#"[{{"content":"{} {{{{usr}}}} {}","role":"user"}}]"#,
        "é ".repeat(4_000),
        "x".repeat(9_000)
    );
    assert_snapshot!(place("a.json", &file), @"
    exit code 0
    === output
    checked `a.json` as a list of chat messages
    1 file checked: 0 errors, 0 warnings
    ");
}

#[test]
fn byte_order_marks_and_carriage_returns_move_nothing() {
    assert_snapshot!(place("a.yaml", "\u{feff}presetMessages:\r\n  - content: x {{usr}}\r\n    role: user\r\n"), @"
    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:2:16
      |
    2 |   - content: x {{usr}}
      |                ^^^^^^^
      |
      = help: did you mean `user`?
    ");
    let folder = Folder::with(&[]);
    let wide = "\u{feff}presetMessages:\n  - content: x {{usr}}\n".encode_utf16();
    folder.write("a.yaml", &wide.flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    assert_snapshot!(folder.ctx("check a.yaml"), @"
    exit code 0
    === output
    checked `a.yaml` as an agent
    1 file checked: 0 errors, 1 warning
    === errors
    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:2:16
      |
    2 |   - content: x {{usr}}
      |                ^^^^^^^
      |
      = help: did you mean `user`?
    ");
}

#[test]
fn control_characters_are_replaced() {
    assert_snapshot!(place("a.json", "[{\"content\":\"\u{9b}31m \u{7f} {{\u{9b}2J\u{202e}}}\",\"role\":\"user\"}]"), @"
    exit code 0
    === output
    checked `a.json` as a list of chat messages
    1 file checked: 0 errors, 0 warnings
    ");
}

#[test]
fn what_a_preset_cannot_say_is_found_in_the_agents_file() {
    let file = r#"{
  "type": "AIO_Agent_Export",
  "agents": [
    { "name": "Ada", "presetMessages": [
      { "type": "chat_history" },
      { "content": "Be brief.", "modelMatch": { "enabled": true, "patterns": ["gpt"] } }
    ] }
  ]
}"#;
    let told = crate::ctx("export a.json --to st-preset --out preset.json", &[("a.json", file)]);
    let (_, told) = told.split_once("=== errors\n").unwrap();
    assert_snapshot!(told, @r#"
    warning[CTX0628]: SillyTavern prompts have no model filter; this one applies to all models
     --> a.json:6:7
      |
    6 |       { "content": "Be brief.", "modelMatch": { "enabled": true, "patterns": ["gpt"] } }
      |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: change it in the agent, or edit the prompt in SillyTavern
    "#);
}
