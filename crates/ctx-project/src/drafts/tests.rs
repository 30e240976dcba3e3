//! Edits of files, and the texts that they leave.

use ctx_operations::document_edit::block_range;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Draft, Edit, EditError, Rewrite, Splice};
use crate::locate::Places;

const AGENT: &str = "\
# Robin, a gardener
name: Robin   # inline
presetMessages:
  # who she is
  - id: who
    role: system
    content: |
      You are Robin.
      Be brief.

  # the conversation
  - {type: chat_history, id: 'history'}
  - id: last
    content: \"It is {{time}}.\"
other: [a, 'b', \"c\"]  # tail
";

/// Makes one edit, compares the text, and takes it back.
#[track_caller]
fn check(edit: &Edit, expected: &str) {
    let mut draft = Draft::open("agent.yaml", AGENT.as_bytes()).unwrap();
    draft.edit(edit).unwrap();
    assert_eq!(draft.text(), expected);
    assert!(draft.undo() && !draft.undo());
    assert_eq!(draft.text(), AGENT);
    assert!(draft.redo() && !draft.redo());
    assert_eq!(draft.text(), expected);
}

fn set(pointer: &str, value: Value) -> Edit {
    Edit::Set { pointer: pointer.to_owned(), value }
}

#[test]
fn a_text_takes_the_place_of_another_in_its_quotes() {
    check(
        &set("/presetMessages/2/content", json!("Now: {{date}}.")),
        &AGENT.replace("It is {{time}}.", "Now: {{date}}."),
    );
    check(&set("/name", json!("Ada")), &AGENT.replace("name: Robin", "name: Ada"));
}

/// What an alias repeats would change in two places, however it is written.
#[test]
fn a_text_in_quotes_that_an_alias_repeats_is_not_changed() {
    for (pointer, text) in [
        ("/a", "a: &x \"one\"\nb: *x\n"),
        ("/a", "a: &x # first\n  \"one\"\nb: *x\n"),
        ("/a/k", "a: &x {k: \"one\"}\nb: *x\n"),
        ("/a/k", "a: &x\n  k: \"one\"\nb: *x\n"),
        ("/a/k", "a: &x\n  k: \"one\"\nb:\n  <<: *x\n"),
        ("/a/0", "a: [&x \"one\", *x]\n"),
    ] {
        let mut draft = Draft::open("a.yaml", text.as_bytes()).unwrap();
        assert_eq!(draft.value().and_then(|value| value.pointer(pointer)), Some(&json!("one")));
        assert_eq!(draft.edit(&set(pointer, json!("two"))), Err(EditError::ChangesMore), "{text}");
        assert_eq!(draft.text(), text);
    }
}

#[test]
fn an_item_moves_with_the_comment_above_it() {
    let moved = "\
# Robin, a gardener
name: Robin   # inline
presetMessages:
  # the conversation
  - {type: chat_history, id: 'history'}
  # who she is
  - id: who
    role: system
    content: |
      You are Robin.
      Be brief.

  - id: last
    content: \"It is {{time}}.\"
other: [a, 'b', \"c\"]  # tail
";
    check(&Edit::Move { pointer: "/presetMessages/0".to_owned(), to: 1 }, moved);
}

#[test]
fn an_item_goes_with_the_comment_above_it() {
    let without = AGENT.replace("  # the conversation\n  - {type: chat_history, id: 'history'}\n", "");
    check(&Edit::Remove { pointer: "/presetMessages/1".to_owned() }, &without);
}

#[test]
fn a_new_item_goes_above_the_comment_of_the_next() {
    let value = json!({"id": "new", "content": "Hi"});
    let with = AGENT.replace("  # the conv", "  - id: new\n    content: Hi\n  # the conv");
    check(&Edit::Insert { pointer: "/presetMessages/1".to_owned(), value }, &with);
}

#[test]
fn a_key_keeps_its_value_and_its_comment() {
    let renamed = AGENT.replace("name: Robin", "title: Robin");
    check(&Edit::Rename { pointer: "/name".to_owned(), key: "title".to_owned() }, &renamed);
}

#[test]
fn what_cannot_be_done_changes_nothing() {
    let mut draft = Draft::open("agent.yaml", AGENT.as_bytes()).unwrap();
    let remove = |pointer: &str| Edit::Remove { pointer: pointer.to_owned() };
    let not_found = |pointer: &str| Err(EditError::NotFound(pointer.to_owned()));
    for pointer in ["/nothing", "/presetMessages/7", "/presetMessages/00", "/presetMessages/+0", ""] {
        assert_eq!(draft.edit(&remove(pointer)), not_found(pointer));
    }
    for pointer in ["/~2", "/a~", "name"] {
        assert_eq!(draft.edit(&remove(pointer)), Err(EditError::BadPointer(pointer.to_owned())));
    }
    let rename = Edit::Rename { pointer: "/name".to_owned(), key: "other".to_owned() };
    assert_eq!(draft.edit(&rename), Err(EditError::Taken("other".to_owned())));
    let mut aliased = Draft::open("a.yaml", b"a: &x {k: 1}\nb: *x\n").unwrap();
    assert_eq!(aliased.edit(&set("/b/k", json!(2))), Err(EditError::ChangesMore));
    let mut text = Draft::open("notes.txt", b"only words").unwrap();
    assert!(text.edit(&set("/a", json!(1))).is_err());
    assert_eq!((draft.text(), draft.revision(), aliased.revision()), (AGENT, 0, 0));
}

#[test]
fn what_a_text_cannot_express_is_written_anew_without_its_comments() {
    #[track_caller]
    fn check(before: &str, edits: &[Edit], (pointer, comments): (&str, usize), expected: &str) {
        let mut draft = Draft::open("a.yaml", before.as_bytes()).unwrap();
        assert_eq!(draft.edit_all(edits), Err(EditError::ChangesMore));
        assert_eq!(draft.rewrite(edits), Ok(Rewrite { pointer: pointer.to_owned(), comments }));
        assert_eq!(draft.text(), expected);
        assert!(draft.undo() && !draft.undo());
        assert_eq!(draft.text(), before);
    }
    let k = |value| set("/b/k", json!(value));
    check("# top\na: &x {k: 1}\nb: *x # b\n", &[k(2)], ("/b", 0), "# top\na: &x {k: 1}\nb: # b\n  k: 2\n");
    let list = "# top\nlist:\n  # one\n  - &x {k: 1} # two\n  - *x\nother: [*x] # tail\n";
    let moved = Edit::Move { pointer: "/list/1".to_owned(), to: 0 };
    let mut draft = Draft::open("a.yaml", list.as_bytes()).unwrap();
    assert_eq!(draft.edit(&moved), Err(EditError::ChangesMore));
    assert_eq!(draft.rewrite(&[moved]), Ok(Rewrite { pointer: "/list".to_owned(), comments: 2 }));
    assert_eq!(draft.value(), Some(&json!({ "list": [{ "k": 1 }, { "k": 1 }], "other": [{ "k": 1 }] })));
    assert!(
        draft.text().starts_with("# top\nlist:") && draft.text().ends_with(" # tail\n"),
        "{}",
        draft.text()
    );
    let mut json = Draft::open("a.json", b"{\"a\": 1}").unwrap();
    assert_eq!(json.rewrite(&[set("/a", json!(2))]), Err(EditError::ChangesMore));
}

/// Checks what an edit makes of a file.
#[track_caller]
fn check_edit(file: &str, edit: &Edit, expected: &str) {
    let mut draft = Draft::open("agent.yaml", file.as_bytes()).unwrap();
    assert_eq!(draft.edit(edit), Ok(()));
    assert_eq!(draft.text(), expected);
}

#[test]
fn lines_that_belong_to_no_item_stay_where_they_are() {
    let new =
        |at: &str| Edit::Insert { pointer: format!("/a/{at}"), value: json!({"id": "n", "text": "x\n\n"}) };
    let file = "a:\n- id: b\n  # tail\n\nlast: 1\n";
    check_edit(file, &new("0"), "a:\n- id: n\n  text: |+\n    x\n\n- id: b\n  # tail\n\nlast: 1\n");
    check_edit(file, &new("-"), "a:\n- id: b\n  # tail\n\n- id: n\n  text: |+\n    x\n\nlast: 1\n");
}

#[test]
fn a_text_in_a_block_is_typed_without_the_blank_lines_below() {
    let file = "a:\n  - text: |\n      R&D &x\n\n\n  # note\n  - &b text\n";
    let set = set("/a/0/text", json!("R&D &xy\n"));
    check_edit(file, &set, "a:\n  - text: |\n      R&D &xy\n\n\n  # note\n  - &b text\n");
}

#[test]
fn no_file_grows_beyond_what_can_be_read() {
    let file = "a: 'x'\n";
    let mut draft = Draft::open("agent.yaml", file.as_bytes()).unwrap();
    let large = set("/a", json!("y".repeat(8 << 20)));
    assert_eq!(draft.edit(&large), Err(EditError::TooLarge { limit: 8 << 20 }));
    assert_eq!(draft.text(), file);
    assert_eq!(draft.edit(&set("/a", json!("y".repeat(1 << 19)))), Ok(()));
}

/// Texts that are awkward in YAML or JSON.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,12}",
        Just("a: b # c".to_owned()),
        Just("- x".to_owned()),
        Just("yes".to_owned()),
        Just("12".to_owned()),
        Just("it's \"so\" \\ {{user}}".to_owned()),
        Just("two\nlines\n".to_owned()),
        Just("  led by blanks\nand more".to_owned()),
        Just("你好，\u{1F600}".to_owned()),
        "\\PC{0,10}",
    ]
}

/// One entry as an author may write it, with a comment above it or not.
fn entry() -> impl Strategy<Value = String> {
    let id = "[a-z]{1,5}";
    let quoted = || words().prop_map(|text| serde_json::to_string(&text).unwrap_or_default());
    let sign = prop_oneof![Just("|"), Just("|-"), Just("|+"), Just(">"), Just(">-")];
    let blanks = prop_oneof![Just(""), Just("\n"), Just("\n\n")];
    let block = (id, "[a-z]{1,8}( [a-z]{1,8}){0,3}", sign, blanks).prop_map(|(id, text, sign, blanks)| {
        format!("  - id: {id}   # inline\n    role: system\n    content: {sign}\n      {text}\n\n      more {text}\n{blanks}")
    });
    let flow = (id, quoted()).prop_map(|(id, text)| format!("  - {{id: {id}, content: {text}}}  # flow\n"));
    let plain = (id, quoted()).prop_map(|(id, text)| {
        format!("  - id: '{id}'\n    content: {text}\n    injectionStrategy: {{type: depth, depth: 3}}\n")
    });
    let above = prop_oneof![Just(""), Just("  # note\n"), Just("\n  # note\n  # more\n")];
    (above, prop_oneof![block, flow, plain]).prop_map(|(above, entry)| format!("{above}{entry}"))
}

fn yaml_file() -> impl Strategy<Value = String> {
    (prop::collection::vec(entry(), 1..7), prop_oneof![Just(""), Just("# tail\n"), Just("last: 1  # tail\n")])
        .prop_map(|(entries, tail)| {
            format!("# head\nname: 'x'  # name\npresetMessages:\n{}{tail}", entries.concat())
        })
}

fn json_file() -> impl Strategy<Value = String> {
    let entry = ("[a-z]{1,5}", words(), 0..3_usize).prop_map(|(id, text, form)| {
        let text = serde_json::to_string(&text).unwrap_or_default();
        match form {
            0 => format!("{{\"id\": \"{id}\", \"content\": {text}}}"),
            1 => format!("{{ \"id\":\"{id}\",\n      \"content\" : {text}, \"n\": 123456789012345678901 }}"),
            _ => format!("{{\n      \"id\": \"{id}\",\n      \"content\": {text}\n    }}"),
        }
    });
    prop::collection::vec(entry, 1..7).prop_map(|entries| {
        format!("{{\n  \"name\": \"x\",\n  \"presetMessages\": [\n    {}\n  ]\n}}\n", entries.join(",\n    "))
    })
}

/// The same entries as tables with heads of their own, or as a list in lines.
fn toml_file() -> impl Strategy<Value = String> {
    let text = || words().prop_map(|text| toml_edit::Value::from(text).to_string());
    let above = || prop_oneof![Just(""), Just("# note\n"), Just("\n# note\n# more\n")];
    let own = "[presetMessages.injectionStrategy] # own\ntype = 'depth'\ndepth = 0x3\n";
    let table = (above(), "[a-z]{1,5}", text(), prop_oneof![Just(""), Just(own)]).prop_map(
        |(above, id, text, own)| {
            format!("{above}[[presetMessages]] # inline\nid = '{id}'\ncontent = {text}\n{own}")
        },
    );
    let line = (above(), "[a-z]{1,5}", text())
        .prop_map(|(above, id, text)| format!("{above}  {{ id = \"{id}\", content = {text} }}, # inline\n"));
    let tables = prop::collection::vec(table, 1..7).prop_map(|entries| entries.concat());
    let lines = prop::collection::vec(line, 1..7);
    let list = lines.prop_map(|lines| format!("presetMessages = [\n{}]\n", lines.concat()));
    let tail = prop_oneof![Just(""), Just("[other] # tail\nlast = 1_000\n")];
    (prop_oneof![tables, list], tail)
        .prop_map(|(entries, tail)| format!("# head\nname = 'x'  # name\n{entries}{tail}"))
}

#[derive(Clone, Debug)]
enum Wish {
    Text(usize, String),
    Depth(usize, i64),
    Remove(usize),
    Insert(usize, String),
    Move(usize, usize),
    Rename(usize),
}

impl Wish {
    /// The edit of a file with so many entries.
    fn edit(self, length: usize) -> Edit {
        let at = |at: usize| format!("/presetMessages/{}", at % length.max(1));
        match self {
            Self::Text(entry, text) => set(&format!("{}/content", at(entry)), json!(text)),
            Self::Depth(entry, depth) => {
                set(&format!("{}/injectionStrategy", at(entry)), json!({"type": "depth", "depth": depth}))
            }
            Self::Remove(entry) => Edit::Remove { pointer: at(entry) },
            Self::Insert(entry, text) => Edit::Insert {
                pointer: format!("/presetMessages/{}", entry % (length + 1)),
                value: json!({"id": "new", "role": "user", "content": text}),
            },
            Self::Move(from, to) => Edit::Move { pointer: at(from), to: to % length.max(1) },
            Self::Rename(entry) => {
                Edit::Rename { pointer: format!("{}/id", at(entry)), key: "key".to_owned() }
            }
        }
    }
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        (0..8_usize, words()).prop_map(|(entry, text)| Wish::Text(entry, text)),
        (0..8_usize, 0..9_i64).prop_map(|(entry, depth)| Wish::Depth(entry, depth)),
        (0..8_usize).prop_map(Wish::Remove),
        (0..8_usize, words()).prop_map(|(entry, text)| Wish::Insert(entry, text)),
        (0..8_usize, 0..8_usize).prop_map(|(from, to)| Wish::Move(from, to)),
        (0..8_usize).prop_map(Wish::Rename),
    ]
}

/// Returns whether a change of a text changes no byte but those of a value.
fn is_within(text: &str, pointer: &str, change: &Splice) -> bool {
    let places = Places::find(text, [pointer]);
    let Some(place) = places.at(pointer).filter(|_| !change.range.is_empty() || !change.text.is_empty())
    else {
        return true;
    };
    let range = block_range(text, place.range.start).unwrap_or_else(|| place.range.clone());
    range.start <= change.range.start && change.range.end <= range.end
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// Edits give the value that was asked for, every comment of what stays is still there, and undo leads back to the
    /// first byte.
    #[test]
    fn edits_change_what_they_name_and_can_be_taken_back(
        (name, file) in prop_oneof![
            yaml_file().prop_map(|file| ("agent.yaml", file)),
            json_file().prop_map(|file| ("agent.json", file)),
            toml_file().prop_map(|file| ("ctx.toml", file)),
        ],
        wishes in prop::collection::vec(wish(), 1..6),
    ) {
        let mut draft = Draft::open(name, file.as_bytes()).unwrap();
        let (mut steps, mut made) = (0, Vec::new());
        for wish in wishes {
            let length = draft.value().unwrap()["presetMessages"].as_array().map_or(0, Vec::len);
            if length == 0 {
                break;
            }
            let edit = wish.edit(length);
            let mut wanted = draft.value().unwrap().clone();
            if edit.apply(&mut wanted).is_err() {
                continue;
            }
            let before = (draft.text().to_owned(), draft.revision());
            let may_lose = name.ends_with("json") || matches!(edit, Edit::Remove { .. });
            prop_assert_eq!(draft.edit(&edit), Ok(()), "{:?}\n{}", edit, before.0);
            prop_assert_eq!(draft.value(), Some(&wanted));
            let comments = |text: &str| ["# head", "# note", "# more", "# tail"].map(|one| text.matches(one).count()).iter().sum::<usize>();
            prop_assert!(may_lose || comments(draft.text()) >= comments(&before.0), "{:?}\n{}\n{}", edit, before.0, draft.text());
            if let Edit::Set { pointer, .. } = &edit && pointer.ends_with("/content") {
                let splice = Splice::between(&before.0, draft.text());
                prop_assert!(is_within(&before.0, pointer, &splice), "{:?}\n{}\n{}", edit, before.0, draft.text());
            }
            if let (Edit::Move { pointer, to }, true) = (&edit, name.ends_with("yaml")) {
                let (list, from) = pointer.rsplit_once('/').unwrap();
                let back = Edit::Move { pointer: format!("{list}/{to}"), to: from.parse().unwrap() };
                let mut moved = draft.clone();
                prop_assert_eq!(moved.edit(&back), Ok(()));
                prop_assert_eq!(moved.text(), before.0.as_str());
            }
            steps += usize::from(draft.revision() > before.1);
            made.push(edit);
        }
        // All at once they give the same.
        let mut at_once = Draft::open(name, file.as_bytes()).unwrap();
        prop_assert_eq!(at_once.edit_all(&made), Ok(()));
        prop_assert_eq!(at_once.value(), draft.value());
        let last = draft.text().to_owned();
        for _ in 0..steps {
            prop_assert!(draft.undo());
        }
        prop_assert_eq!(draft.text(), &file);
        while draft.redo() {}
        prop_assert_eq!(draft.text(), &last);
    }
}

#[test]
fn edits_that_belong_together_are_one_step_or_none() {
    let mut draft = Draft::open("agent.yaml", AGENT.as_bytes()).unwrap();
    let name = set("/name", json!("Ada"));
    let nowhere = Edit::Remove { pointer: "/nothing".to_owned() };
    assert_eq!(draft.edit_all(&[name.clone(), nowhere]), Err(EditError::NotFound("/nothing".to_owned())));
    assert_eq!((draft.text(), draft.revision()), (AGENT, 0));
    draft.edit_all(&[name, set("/other/0", json!("z"))]).unwrap();
    assert_eq!(draft.revision(), 1);
    assert!(draft.undo() && !draft.can_undo() && draft.can_redo());
    assert_eq!(draft.text(), AGENT);
}

/// Many edits of a long list: one reading for each would take minutes.
#[test]
fn many_edits_at_once_read_the_text_a_few_times() {
    for name in ["agent.yaml", "agent.json"] {
        let entries: Vec<Value> =
            (0..600).map(|entry| json!({ "id": format!("e{entry}"), "content": "so" })).collect();
        let value = json!({ "presetMessages": entries });
        let text = match name {
            "agent.json" => serde_json::to_string_pretty(&value).unwrap(),
            _ => ctx_preset_import::write_document(&value),
        };
        let mut draft = Draft::open(name, text.as_bytes()).unwrap();
        let at = |entry: usize| format!("/presetMessages/{entry}");
        let texts = (0..200).map(|entry| set(&format!("{}/content", at(entry)), json!("it's: so")));
        let moves = (0..200).map(|entry| Edit::Move { pointer: at(entry), to: 560 - entry });
        let removals = (0..200).map(|_| Edit::Remove { pointer: at(3) });
        let new = (0..200).map(|entry| Edit::Insert { pointer: at(entry), value: json!({ "id": "new" }) });
        let edits: Vec<Edit> = texts.chain(moves).chain(removals).chain(new).collect();
        let mut wanted = value.clone();
        for edit in &edits {
            edit.apply(&mut wanted).unwrap();
        }
        draft.edit_all(&edits).unwrap();
        assert_eq!((draft.value(), draft.revision()), (Some(&wanted), 1));
    }
}

#[test]
fn a_text_that_cannot_be_read_is_edited_as_a_whole() {
    let mut draft = Draft::open("agent.yaml", b"name: [Ada\n").unwrap();
    assert_eq!(draft.value(), None);
    assert_eq!(draft.edit(&set("/name", json!("Eve"))), Err(EditError::Unreadable));
    draft.set_text("name: Ada\n");
    assert_eq!(draft.value(), Some(&json!({ "name": "Ada" })));
    assert!(draft.undo());
    assert_eq!((draft.text(), draft.value()), ("name: [Ada\n", None));
}

#[test]
fn defaults_are_read_as_toml() {
    let draft = Draft::open("ctx.toml", b"model = \"gpt-5\"\n").unwrap();
    assert_eq!(draft.value(), Some(&json!({ "model": "gpt-5" })));
}

#[test]
fn steps_that_are_joined_are_taken_back_at_once() {
    let mut draft = Draft::open("agent.yaml", AGENT.as_bytes()).unwrap();
    draft.join_steps();
    for name in ["A", "Ad", "Ada"] {
        draft.edit(&set("/name", json!(name))).unwrap();
        draft.join_steps();
    }
    assert!(draft.undo() && !draft.can_undo());
    assert_eq!(draft.text(), AGENT);
    assert!(draft.redo());
    assert_eq!(draft.text(), AGENT.replace("name: Robin", "name: Ada"));
}

#[test]
fn joined_steps_may_touch_overlap_or_be_apart() {
    for texts in [
        ["abcdef", "aXdef", "aYf"],
        ["abcdef", "abcdeX", "Ybcde X"],
        ["abc", "abXYc", "abc"],
        ["é", "éx", "x"],
    ] {
        let mut draft = Draft::open("a.txt", texts[0].as_bytes()).unwrap();
        for text in &texts[1..] {
            draft.set_text(text);
        }
        draft.join_steps();
        assert!(draft.undo() && !draft.can_undo());
        assert_eq!(draft.text(), texts[0]);
        assert!(draft.redo());
        assert_eq!(draft.text(), texts[2]);
    }
}
