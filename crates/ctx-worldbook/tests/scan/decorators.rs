use serde_json::{Value, json};

use crate::case::check;

#[test]
fn activates_and_excludes_entries_in_sillytavern() {
    let case = json!({
        "entries": [
            { "content": "@@activate\nx" },
            { "content": "@@dont_activate\nx", "constant": true },
            { "content": "@@depth 3\nx", "key": ["a"] },
        ],
        "chat": [],
    });
    check(
        case,
        &[
            "0: forced by `@@activate` (pass 1)",
            "1: no, excluded by `@@dont_activate`",
            "2: no, no key matches",
        ],
    );
}

/// Checks a constant entry with decorators after two assistant messages.
#[track_caller]
fn card(decorators: &str, expected: &str) {
    let entry = json!({ "constant": true, "content": format!("{decorators}\nx") });
    card_entry(&entry, expected);
}

#[track_caller]
fn card_entry(entry: &Value, expected: &str) {
    let case = json!({
        "books": { "Card": { "dialect": "ccv3", "entries": [entry] } },
        "answers": 2, "greeting": 1, "icon": "cat", "chat": ["the moon", "and the sun"],
    });
    check(case, &[expected]);
}

const ACTIVE: &str = "0: constant (pass 1)";

#[test]
fn counts_assistant_messages_in_character_cards() {
    card("@@activate_only_after 2", ACTIVE);
    card("@@activate_only_after 3", "0: no, waits until the agent has sent 3 messages");
    card("@@activate_only_every 2", ACTIVE);
    card("@@activate_only_every 3", "0: no, active only every 3 messages of the agent");
}

#[test]
fn counts_all_messages_in_risuai() {
    let risuai = |decorator: &str, expected: &str| {
        let entry = json!({ "constant": true, "content": format!("{decorator}\nx") });
        let books = json!({ "Lore": { "dialect": "risuai", "entries": [entry] } });
        check(json!({ "books": books, "answers": 1, "chat": ["a", "b", "c"] }), &[expected]);
    };
    risuai("@@activate_only_after 3", ACTIVE);
    risuai("@@activate_only_after 4", "0: no, waits until the conversation has 4 messages");
    risuai("@@activate_only_every 3", ACTIVE);
    risuai("@@activate_only_every 2", "0: no, active only every 2 messages");
}

#[test]
fn matches_greetings_and_user_icons() {
    card("@@is_greeting 1", ACTIVE);
    card("@@is_greeting 0", "0: no, only for greeting 0");
    card("@@is_user_icon cat", ACTIVE);
    card("@@is_user_icon dog", "0: no, only for user avatar `dog`");
}

#[test]
fn checks_additional_and_excluded_keys() {
    card("@@additional_keys star, moon", ACTIVE);
    card("@@additional_keys star", "0: no, no secondary key matches");
    card("@@exclude_keys star", ACTIVE);
    card("@@exclude_keys star,sun", "0: no, excluding key `sun` matches");
}

#[test]
fn applies_scan_depth_decorator() {
    let moon = |decorators: &str| json!({ "key": ["moon"], "content": format!("{decorators}\nx") });
    card_entry(&moon("@@scan_depth 2"), "0: key `moon` in message 0 (pass 1)");
    card_entry(&moon("@@scan_depth 1"), "0: no, no key matches");
}

#[test]
fn applies_settings_of_character_card_worldbook() {
    let entries = json!([{ "key": ["moon"] }, { "key": ["moon"], "scanDepth": 2 }, { "key": ["sun"] }]);
    let case = |dialect: &str| {
        json!({
            "settings": { "recursive": true }, "chat": ["the moon", "x", "y"],
            "books": { "Card": { "dialect": dialect, "scan_depth": 3, "recursive_scanning": false, "entries": entries } },
        })
    };
    let none = |uid: u8| format!("{uid}: no, no key matches");
    check(case("ccv3"), &["0: key `moon` in message 0 (pass 1)", &none(1), &none(2)]);
    check(case("sillytavern"), &[&none(0), &none(1), &none(2)]);
}
