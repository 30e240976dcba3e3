//! Files that are written again come back as they were, but for what changed.

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

#[test]
fn another_file_gets_the_same_bytes() {
    let folder = Folder::with(&[("chat.json", &session())]);
    run(&folder, &MASK.replace("--write", "--out other.json"));
    assert_eq!(read(&folder, "chat.json"), session());
    assert_eq!(read(&folder, "other.json"), run(&folder, MASK));
}

const LONG: &str = "123456789012345678901";

/// Checks that a run tells of a number that loses digits, where it is.
#[track_caller]
fn check_told(folder: &Folder, arguments: &str, place: &str) {
    let told = folder.ctx(arguments);
    let message = format!("`{LONG}` has too many digits and becomes `1.2345678901234568e+20`");
    assert!(told.starts_with("exit code 0"), "{told}");
    assert!(told.contains(&format!("warning[CTX0910]: {message}\n")), "{told}");
    assert!(told.contains(&format!("--> {place}\n")), "{told}");
}

#[test]
fn digits_that_an_import_loses_are_told() {
    let folder = Folder::with(&[("chat.json", &session())]);
    let place = "chat.json:2:10";
    check_told(&folder, "session import chat.json --id c --store s.db", place);
    check_told(&folder, "import chat.json --out new", place);
    // What is edited in place loses none.
    assert!(run(&folder, MASK).contains(LONG));
}

#[test]
fn digits_that_another_form_of_a_session_loses_are_told() {
    let folder = Folder::with(&[("chat.yaml", &format!("# A conversation.\n{}\n", session()))]);
    let mask = MASK.replace("chat.json", "chat.yaml");
    let out = mask.replace("--write", "--out new.json");
    check_told(&folder, &out, "chat.yaml:3:10");
    let told = folder.ctx(&mask);
    assert!(told.starts_with("exit code 2") && !told.contains("session import"), "{told}");
    assert!(told.contains(&format!("write `{LONG}` as a string to keep its digits")), "{told}");
}
