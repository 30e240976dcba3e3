//! `ctx anchors list`: which anchors there are, and what goes to each.

use insta::assert_snapshot;

use crate::ctx;

const AGENT: &str = "\
presetMessages:
  - { id: lore, type: placeholder }
  - { id: profile, type: user_profile, content: 'I am {{user}}' }
  - { id: off, type: scenario, isEnabled: false }
  - { id: weather, anchorTarget: lore, content: rain }
  - { anchorTarget: lore, anchorPoint: before, order: 5, content: sun }
  - { id: lost, anchorTarget: loer, content: lost }
";

#[test]
fn with_an_agent_its_own_are_listed_too() {
    assert_snapshot!(ctx("anchors list a.yaml", &[("a.yaml", AGENT)]), @"
    exit code 0
    === output
     anchor              kind          entry   purpose and entries
    ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
     chat_history        placeholder           Position of the conversation's messages
                                               not declared; the history follows the preset
     user_profile        template      1       User profile; its content is a template
     world_info_before   placeholder           Position of worldbook entries before the character
     world_info_after    placeholder           Position of worldbook entries after the character
     char_description    template              Character's description; its content is a template
     char_personality    template              Character's personality; its content is a template
     scenario            template              Scenario; its content is a template
     dialogue_examples   placeholder           Position of the dialogue examples
     author_note         placeholder           Position of the author's note and the worldbook entries around it
     lore                ad-hoc        0       declared by the preset
                                               after: preset:weather
                                               before: preset#4 (order 5)
     loer                missing               target of an entry, but not declared
                                               after: preset:lost
    ");
}

#[test]
fn programs_read_json() {
    let answer = ctx("anchors list --json a.yaml", &[("a.yaml", AGENT)]);
    let (_, json) = answer.split_once("=== output\n").unwrap();
    let rows: serde_json::Value = serde_json::from_str(json).unwrap();
    let row = |id: &str| rows.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().to_string();
    assert_snapshot!(row("lore"), @r#"{"id":"lore","kind":"ad-hoc","description":"declared by the preset","entry":0,"placed":[{"entry":3,"source":"preset:weather","side":"after","order":100.0},{"entry":4,"source":"preset#4","side":"before","order":5.0}]}"#);
    assert_snapshot!(row("loer"), @r#"{"id":"loer","kind":"missing","description":"target of an entry, but not declared","entry":null,"placed":[{"entry":5,"source":"preset:lost","side":"after","order":100.0}]}"#);
    assert_snapshot!(row("user_profile"), @r#"{"id":"user_profile","kind":"template","description":"User profile; its content is a template","entry":1,"placed":[]}"#);
    assert_snapshot!(row("scenario"), @r#"{"id":"scenario","kind":"template","description":"Scenario; its content is a template","entry":null,"placed":[]}"#);
}

#[test]
fn long_and_hostile_ids_do_no_harm() {
    let agent = serde_json::json!([
        { "type": "placeholder", "id": format!("\u{1b}[2J{}", "很长的名字".repeat(20)) },
        { "type": "chat_history" },
    ]);
    let answer = ctx("anchors list a.json", &[("a.json", &agent.to_string())]);
    let rows: Vec<&str> = answer.lines().skip(2).collect();
    assert_snapshot!(rows.iter().rev().take(4).rev().copied().collect::<Vec<_>>().join("\n"), @"
    �[2J很长的名字很长的名字很长的名字很长的名字很长的名   ad-hoc        0       declared by the preset
    字很长的名字很长的名字很长的名字很长的名字很长的名字
    很长的名字很长的名字很长的名字很长的名字很长的名字很
    长的名字很长的名字很长的名字很长的名字很长的名字
    ");
}
