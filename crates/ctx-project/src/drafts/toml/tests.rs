//! Edits of `ctx.toml`, and the texts that they leave.

use serde_json::{Value, json};

use crate::drafts::{Draft, Edit, EditError};

const CONFIG: &str = "\
#:schema ./ctx.schema.json
# my defaults

model = 'gpt-5' # the new one
worldbooks = [
  # herbs
  \"herbs.json\", # small
  \"trees.json\",
]
when = 2026-05-03T09:00:00Z
keep.most = 0x10

# short
[[processors]] # first
id = \"token-limiter\"
config = { keep = 4, note = '''so''' }

# joins
[[processors]]
id = \"merge-system-to-head\"

[compress.limits]
trigger = 1_000
";

/// Makes edits as one step, compares the text, and takes them back; with line ends of both kinds.
#[track_caller]
fn check(edits: &[Edit], expected: &str) {
    for end in ["\n", "\r\n"] {
        let [before, expected] = [CONFIG, expected].map(|text| text.replace('\n', end));
        let mut draft = Draft::open("ctx.toml", before.as_bytes()).unwrap();
        draft.edit_all(edits).unwrap();
        assert_eq!(draft.text(), expected);
        assert!(draft.undo() && !draft.can_undo());
        assert_eq!(draft.text(), before);
    }
}

fn set(pointer: &str, value: Value) -> Edit {
    Edit::Set { pointer: pointer.to_owned(), value }
}

fn remove(pointer: &str) -> Edit {
    Edit::Remove { pointer: pointer.to_owned() }
}

fn insert(pointer: &str, value: Value) -> Edit {
    Edit::Insert { pointer: pointer.to_owned(), value }
}

fn moved(pointer: &str, to: usize) -> Edit {
    Edit::Move { pointer: pointer.to_owned(), to }
}

#[test]
fn a_value_keeps_its_quotes_and_its_comment() {
    check(&[set("/model", json!("o4"))], &CONFIG.replace("gpt-5", "o4"));
    check(&[set("/model", json!("it's"))], &CONFIG.replace("'gpt-5'", "\"it's\""));
    check(&[set("/keep/most", json!(17))], &CONFIG.replace("0x10", "17"));
    check(&[set("/processors/0/config/note", json!("no"))], &CONFIG.replace("'''so'''", "'''\nno'''"));
    check(&[set("/when", json!("soon"))], &CONFIG.replace("2026-05-03T09:00:00Z", "\"soon\""));
}

#[test]
fn of_an_object_only_what_differs_is_written() {
    let config = json!({ "keep": 5, "note": "so" });
    check(&[set("/processors/0/config", config)], &CONFIG.replace("keep = 4", "keep = 5"));
    let processors = json!([
        { "id": "token-limiter", "config": { "keep": 4, "note": "so" } },
        { "id": "merge-system-to-head", "enabled": false },
    ]);
    let id = "id = \"merge-system-to-head\"\n";
    check(&[set("/processors", processors)], &CONFIG.replace(id, &format!("{id}enabled = false\n")));
    let books = json!(["herbs.json", "grass.json", "new.json"]);
    check(
        &[set("/worldbooks", books)],
        &CONFIG.replace("  \"trees.json\",\n", "  \"grass.json\",\n  \"new.json\",\n"),
    );
}

#[test]
fn keys_come_go_and_are_renamed() {
    check(&[remove("/model")], &CONFIG.replace("model = 'gpt-5' # the new one\n", ""));
    let renamed = Edit::Rename { pointer: "/model".to_owned(), key: "model name".to_owned() };
    check(&[renamed], &CONFIG.replace("model =", "\"model name\" ="));
    check(&[set("/keep/least", json!(2))], &CONFIG.replace("0x10\n", "0x10\nkeep.least = 2\n"));
    check(&[set("/compress/limits/most", json!(1.5))], &format!("{CONFIG}most = 1.5\n"));
    check(&[set("/chat", json!({ "tools": ["a"] }))], &format!("{CONFIG}\n[chat]\ntools = [\"a\"]\n"));
}

#[test]
fn removes_comment_of_replaced_key() {
    let mut draft = Draft::open("ctx.toml", b"[serve]\n# never send\nallow = true\n").unwrap();
    draft.edit(&set("/serve", json!({ "stream": true }))).unwrap();
    assert_eq!(draft.text(), "[serve]\nstream = true\n");
}

#[test]
fn items_go_where_their_comments_go() {
    let (herbs, trees) = ("  # herbs\n  \"herbs.json\", # small\n", "  \"trees.json\",\n");
    let both = format!("{herbs}{trees}");
    check(&[moved("/worldbooks/0", 1)], &CONFIG.replace(&both, &format!("{trees}{herbs}")));
    check(&[remove("/worldbooks/0")], &CONFIG.replace(herbs, ""));
    let new = insert("/worldbooks/-", json!("new.json"));
    check(&[new], &CONFIG.replace(trees, &format!("{trees}  \"new.json\",\n")));
    check(&[remove("/worldbooks/0"), remove("/worldbooks/0")], &CONFIG.replace(&both, ""));
}

#[test]
fn tables_go_with_the_comments_above_them() {
    let at = |text: &str| CONFIG.find(text).unwrap();
    let (head, rest) = CONFIG.split_at(at("\n# short"));
    let (first, rest) = rest.split_at(at("\n# joins") - head.len());
    let (second, tail) = rest.split_at(at("\n[compress") - head.len() - first.len());
    check(&[moved("/processors/1", 0)], &[head, second, first, tail].concat());
    check(&[remove("/processors/0")], &[head, second, tail].concat());
    let new = "\n[[processors]]\nid = \"regex-processor\"\n";
    let value = || json!({ "id": "regex-processor" });
    check(&[insert("/processors/1", value())], &[head, first, new, second, tail].concat());
    check(&[insert("/processors/-", value())], &[head, first, second, new, tail].concat());
    let none = [head, "processors = []\n", tail].concat();
    check(&[remove("/processors/0"), remove("/processors/0")], &none);
    let texts = [head, "processors = [\"a\", \"b\"]\n", tail].concat();
    check(&[set("/processors", json!(["a", "b"]))], &texts);
}

#[test]
fn what_cannot_be_said_changes_nothing() {
    let mut draft = Draft::open("ctx.toml", CONFIG.as_bytes()).unwrap();
    assert_eq!(draft.edit(&set("/model", Value::Null)), Err(EditError::NoNull));
    assert_eq!(draft.edit(&set("/model", json!(u64::MAX))), Err(EditError::ChangesMore));
    let below = EditError::NotFound("/model/name".to_owned());
    assert_eq!(draft.edit(&set("/model/name", json!(1))), Err(below));
    assert_eq!((draft.text(), draft.revision()), (CONFIG, 0));
    let mut apart = Draft::open("ctx.toml", b"a.b = 1\nc = 2\na.d = 3\n").unwrap();
    assert_eq!(apart.edit(&set("/c", json!(3))), Err(EditError::ChangesMore));
}

#[test]
fn a_text_without_a_last_line_end_gets_none() {
    let mut open = Draft::open("ctx.toml", b"# last\nmodel = \"a\"").unwrap();
    open.edit(&set("/model", json!("b"))).unwrap();
    assert_eq!(open.text(), "# last\nmodel = \"b\"");
}
