use ctx_types::Persist;
use ctx_types::session::{Session, SessionOp};
use serde_json::{Value, json};

use crate::session::{assert_sound, bytes, line, load, tree};

#[track_caller]
fn check(file: &Value, expected: &str, findings: &[&str]) {
    let (session, diagnostics) = load(file);
    assert_eq!(bytes(&session), file.to_string());
    assert_eq!(line(&session), expected);
    let found: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found, findings);
    assert_sound(&session);
}

fn file<const N: usize>(root: &str, leaf: &str, nodes: [(&str, Value); N]) -> Value {
    let nodes: serde_json::Map<String, Value> =
        nodes.map(|(id, node)| (id.to_owned(), node)).into_iter().collect();
    json!({ "nodes": nodes, "rootNodeId": root, "activeLeafId": leaf })
}

fn node(parent: &str, children: &[&str]) -> Value {
    json!({ "parentId": parent, "childrenIds": children, "content": "text" })
}

fn root(children: &[&str]) -> Value {
    json!({ "parentId": null, "childrenIds": children, "content": "" })
}

#[test]
fn accepts_valid_file_without_diagnostics() {
    let file = json!({
        "x": [1.0, null], "activeLeafId": "b", "name": "Talk", "updatedAt": 5,
        "nodes": {
            "b": { "role": "user", "parentId": "a", "id": "b", "childrenIds": [], "lastSelectedChildId": null },
            "root": { "id": "root", "childrenIds": ["a"], "parentId": null, "content": "", "z": {} },
            "a": { "childrenIds": ["b"], "id": "a", "parentId": "root", "lastSelectedChildId": "b" },
        },
        "rootNodeId": "root", "history": [], "id": "s",
    });
    check(&file, "root(a(>b*))", &[]);
    let (session, _) = load(&file);
    assert_eq!(session.header.name.as_deref(), Some("Talk"));
    assert_eq!(session.nodes().map(|(id, _)| &**id).collect::<Vec<_>>(), ["b", "root", "a"]);
    assert_eq!(session.header.kept.get("updatedAt"), Some(&json!(5)));
}

#[test]
fn writes_complete_new_session() {
    let session = Session::new("s1");
    let root = json!({
        "id": "root", "parentId": null, "childrenIds": [], "content": "", "role": "system", "status": "complete",
    });
    let file = json!({ "id": "s1", "nodes": { "root": root }, "rootNodeId": "root", "activeLeafId": "root" });
    assert_eq!(bytes(&session), file.to_string());
    check(&file, "root*", &[]);
}

#[test]
fn keeps_file_that_is_not_an_object() {
    for value in [json!(null), json!("x"), json!([1]), json!(7)] {
        let (session, diagnostics) = load(&value);
        assert_eq!(session.write(), value);
        assert_eq!(serde_json::to_value(&session).unwrap(), value);
        assert_eq!((line(&session).as_str(), diagnostics.len()), ("root*", 3));
    }
}

#[test]
fn replaces_unknown_root_with_blank_parentless_node() {
    let finding = "error[CTX0124]: root `gone` does not exist; `r` is used (at /rootNodeId)";
    let nodes = [("a", node("r", &[])), ("r", root(&["a"])), ("q", root(&[]))];
    let orphan = "error[CTX0121]: node `q`: it has no parent and is not the root; it is moved below the root (at /nodes/q/parentId)";
    check(&file("gone", "a", nodes), "r(a* q)", &[finding, orphan]);
}

#[test]
fn ignores_parent_of_root() {
    let nodes = [("root", node("a", &["a"])), ("a", node("root", &["root"]))];
    let findings = [
        "error[CTX0121]: the root has parent `a`; it is ignored (at /nodes/root/parentId)",
        "error[CTX0121]: node `a` lists the child `root`, which has another parent (at /nodes/a/childrenIds)",
    ];
    check(&file("root", "a", nodes), "root(a*)", &findings);
}

#[test]
fn replaces_missing_leaf_with_last_shown_leaf() {
    let finding = |leaf: &str| {
        format!(
            "error[CTX0120]: active leaf `gone` does not exist; `{leaf}`, the leaf of the last shown branch, is used (at /activeLeafId)"
        )
    };
    for (line_before, leaf) in
        [("root(a(b c) d)", "d"), ("root(>a(b c) d)", "c"), ("root(>a(>b c) d)", "b"), ("root", "root")]
    {
        let mut file = tree(&line_before.replacen("root", "root*", 1)).write();
        file["activeLeafId"] = json!("gone");
        let expected = line_before.replacen(leaf, &format!("{leaf}*"), 1);
        check(&file, &expected, &[&finding(leaf)]);
    }
}

#[test]
fn breaks_parent_cycle_at_first_node() {
    let nodes = [
        ("root", root(&[])),
        ("d", node("b", &[])),
        ("b", node("a", &["c", "d"])),
        ("a", node("c", &["b"])),
        ("c", node("b", &["a"])),
    ];
    let findings = [
        "error[CTX0122]: node `b`: its parents form a cycle; it is moved below the root (at /nodes/b/parentId)",
        "error[CTX0121]: node `a` lists the child `b`, which has another parent (at /nodes/a/childrenIds)",
    ];
    check(&file("root", "a", nodes), "root(b(c(a*) d))", &findings);
    let nodes = [("root", root(&["a"])), ("a", node("a", &["a"]))];
    let findings = [
        "error[CTX0122]: node `a`: it is its own parent; it is moved below the root (at /nodes/a/parentId)",
        "error[CTX0121]: node `a` lists the child `a`, which has another parent (at /nodes/a/childrenIds)",
    ];
    check(&file("root", "a", nodes), "root(a*)", &findings);
}

#[test]
fn ignores_invalid_last_shown_branch() {
    let mut above = root(&["a"]);
    above["lastSelectedChildId"] = json!("gone");
    let finding = "info[CTX0121]: the last shown branch `gone` is not a child of the node (at /nodes/root/lastSelectedChildId)";
    check(&file("root", "a", [("root", above), ("a", node("root", &[]))]), "root(a*)", &[finding]);
}

#[test]
fn prefers_node_key_over_its_id() {
    let nodes = [
        ("root", json!({ "id": "root", "childrenIds": ["a", "b", "c"] })),
        ("a", json!({ "id": "b", "parentId": "root" })),
        ("b", json!({ "id": "b", "parentId": "root" })),
        ("c", json!({ "id": "x/~", "parentId": "root" })),
    ];
    let findings = [
        "error[CTX0123]: node `a` has the field `id` set to `b`, which belongs to another node; the key is used (at /nodes/a/id)",
        "error[CTX0123]: node `c` has the field `id` set to `x/~`; the key is used (at /nodes/c/id)",
    ];
    check(&file("root", "c", nodes), "root(a b c*)", &findings);
}

#[test]
fn keeps_malformed_nodes_out_of_the_tree() {
    let nodes = [
        ("m", json!("text")),
        ("root", root(&["a"])),
        ("a", node("root", &["n"])),
        ("n", json!(null)),
        ("b", node("m", &[])),
    ];
    let (session, _) = load(&file("root", "m", nodes));
    assert_eq!(line(&session), "root(a b*)");
    assert_eq!(session.nodes().count(), 3);
    assert_eq!((session.node("m"), session.depth("n")), (None, None));
}

#[test]
fn writes_repairs_only_for_edited_nodes() {
    let nodes = [
        ("root", json!({ "id": "root", "childrenIds": ["a", "gone"] })),
        ("a", json!({ "parentId": "root" })),
        ("x", json!({ "parentId": 5 })),
    ];
    let (mut session, _) = load(&file("gone", "gone", nodes));
    assert_eq!(line(&session), "root(a x*)");
    session.apply(&SessionOp::Toggle { id: "a".into(), enabled: false }).unwrap();
    let file = session.write();
    assert_eq!(file["nodes"]["a"].to_string(), r#"{"parentId":"root","isEnabled":false}"#);
    assert_eq!((&file["rootNodeId"], &file["activeLeafId"]), (&json!("gone"), &json!("gone")));
    session.apply(&SessionOp::ActivateLeaf { id: "a".into() }).unwrap();
    let file = session.write();
    assert_eq!((&file["rootNodeId"], &file["activeLeafId"]), (&json!("root"), &json!("a")));
    assert_eq!(file["nodes"]["root"]["childrenIds"], json!(["a", "x"]));
    assert_eq!(file["nodes"]["x"], json!({ "parentId": 5 }));
}

#[test]
fn reads_long_parent_chain_without_recursion() {
    let count = 50_000;
    let nodes: serde_json::Map<String, Value> = (0..count)
        .map(|index| (format!("n{index}"), json!({ "parentId": format!("n{}", (index + 1) % count) })))
        .collect();
    let (session, diagnostics) = load(&json!({ "nodes": nodes, "activeLeafId": "n1" }));
    assert_eq!(session.path().len(), count);
    assert_eq!(diagnostics.len(), 1_001);
}

/// Quoting such a key in full would exhaust memory.
#[test]
fn truncates_long_key_in_diagnostics() {
    let key = "k".repeat(1 << 20);
    let children: Vec<String> = (0..2_000).map(|number| format!("missing {number}")).collect();
    let broken = json!({ "parentId": "root", "childrenIds": children, "content": "text" });
    let (_, found) = load(&file("root", "root", [("root", root(&[&key])), (&key, broken)]));
    let bytes: usize = found.iter().map(|finding| finding.message.to_string().len()).sum();
    assert_eq!((found.len(), bytes < 500), (2, true), "the second diagnostic counts the rest");
}
