//! Files that are written again come back as they were, but for what changed.

use serde_json::Value;

use crate::Folder;

/// A conversation as somebody laid it out: one line a message, numbers that no program holds, escapes, blanks.
fn session() -> String {
    let head = "{ \"id\": \"s\", \"list\": [\"a\", \"b\"],\n  \"big\": 123456789012345678901,\t\"small\": 1E-5,\n  \"rootNodeId\": \"r\", \"activeLeafId\": \"n12\",\n  \"nodes\": {\n    \"r\": {\"id\": \"r\", \"parentId\": null, \"childrenIds\": [\"n1\"], \"role\": \"system\", \"content\": \"\"}";
    let line = |number: u32| {
        let (before, next) =
            (if number == 1 { "r".to_owned() } else { format!("n{}", number - 1) }, number + 1);
        let children = if number == 12 { String::new() } else { format!("\"n{next}\"") };
        let role = if number % 2 == 1 { "user" } else { "assistant" };
        format!(
            ",\n    \"n{number}\": {{\"id\": \"n{number}\", \"parentId\": \"{before}\", \"childrenIds\": [{children}], \"role\": \"{role}\", \"content\": \"Caf\\u00e9 number {number} is open until ten, and Ada Bell has table {number}.\", \"trace\": 98765432109876543210{number} }}"
        )
    };
    let lines: String = (1..=12).map(line).collect();
    format!("{head}{lines}\n  }}\n}}")
}

fn run(folder: &Folder, arguments: &str) -> String {
    let told = folder.ctx(arguments);
    assert!(told.starts_with("exit code 0"), "{told}");
    read(folder, "chat.json")
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap()
}

const MASK: &str =
    "compress run --session chat.json --mask --from 1 --to 6 --write --at 2026-01-31T12:00:00Z";

/// The words that an edit took out of a text, or wrote anew.
fn gone(before: &str, after: &str) -> Vec<String> {
    let divided = |text: &str| text.replace(',', " ,").replace('}', " }");
    let (before, after) = (divided(before), divided(after));
    let diff = similar::TextDiff::from_words(&before, &after);
    let deleted = diff.iter_all_changes().filter(|change| change.tag() == similar::ChangeTag::Delete);
    deleted.map(|change| change.value().to_owned()).collect()
}

#[test]
fn a_summary_changes_only_what_it_has_to() {
    let folder = Folder::with(&[("chat.json", &session())]);
    let after = run(&folder, MASK);
    // The message below the summary has another one above it, and so has that another one below.
    assert_eq!(gone(&session(), &after), ["[\"n7\"]", "\"n6\""]);
}

#[test]
fn what_is_taken_back_leaves_nothing_but_the_log() {
    let folder = Folder::with(&[("chat.json", &session())]);
    let masked = run(&folder, MASK);
    let undone = run(&folder, "session undo chat.json");
    assert_eq!(gone(&session(), &undone), [""; 0]);
    let redone: Value = serde_json::from_str(&run(&folder, "session redo chat.json")).unwrap();
    let masked: Value = serde_json::from_str(&masked).unwrap();
    assert_eq!(redone["nodes"], masked["nodes"]);
}

#[test]
fn another_file_gets_the_same_bytes() {
    let folder = Folder::with(&[("chat.json", &session())]);
    run(&folder, &MASK.replace("--write", "--out other.json"));
    assert_eq!(read(&folder, "chat.json"), session());
    assert_eq!(read(&folder, "other.json"), run(&folder, MASK));
}

#[test]
fn a_migrated_file_keeps_its_layout() {
    let agent = "{\"id\": \"a\", \"big\": 123456789012345678901, \"presetMessages\": [\n  {\"role\": \"system\", \"content\": \"x\", \"injectionStrategy\": {\"depth\": 2}}\n]}";
    let folder = Folder::with(&[("chat.json", agent)]);
    assert_eq!(
        run(&folder, "migrate chat.json --write"),
        agent.replace("\"depth\": 2", "\"depth\": 2, \"type\": \"depth\"")
    );
}
