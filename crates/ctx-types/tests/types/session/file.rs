use ctx_types::{Persist, Session, SessionOp};
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
fn a_sound_file_has_no_findings() {
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
fn a_new_session_is_complete() {
    let session = Session::new("s1");
    let root = json!({
        "id": "root", "parentId": null, "childrenIds": [], "content": "", "role": "system", "status": "complete",
    });
    let file = json!({ "id": "s1", "nodes": { "root": root }, "rootNodeId": "root", "activeLeafId": "root" });
    assert_eq!(bytes(&session), file.to_string());
    check(&file, "root*", &[]);
}

const NO_ROOT: &str = "error[CTX0124]: the session has no root; `root` is created in memory (at /rootNodeId)";
const NO_LEAF: &str = "error[CTX0120]: the session has no active leaf; `root`, the leaf of the last shown branch, is used (at /activeLeafId)";

#[test]
fn a_file_without_nodes_gets_a_root_in_memory() {
    check(&json!({}), "root*", &[NO_ROOT, NO_LEAF]);
    check(&json!({ "nodes": {}, "rootNodeId": null }), "root*", &[NO_ROOT, NO_LEAF]);
}

#[test]
fn keys_of_wrong_types_are_reported() {
    let findings = [
        "error[CTX0100]: expected an object of nodes, found a list of 1 (at /nodes)",
        "error[CTX0100]: expected the id of a node, found the number `5` (at /rootNodeId)",
        "error[CTX0100]: expected the id of a node, found true",
        "error[CTX0100]: expected a text, found an object (at /name)",
        NO_ROOT,
        NO_LEAF,
    ];
    let findings =
        findings.map(|finding| finding.replace("found true", "found the boolean `true` (at /activeLeafId)"));
    let findings: Vec<&str> = findings.iter().map(String::as_str).collect();
    check(&json!({ "nodes": [1], "rootNodeId": 5, "activeLeafId": true, "name": {} }), "root*", &findings);
}

#[test]
fn a_file_that_is_no_object_comes_back_as_it_was() {
    for value in [json!(null), json!("x"), json!([1]), json!(7)] {
        let (session, diagnostics) = load(&value);
        assert_eq!(session.write(), value);
        assert_eq!(serde_json::to_value(&session).unwrap(), value);
        assert_eq!((line(&session).as_str(), diagnostics.len()), ("root*", 3));
    }
}

#[test]
fn an_unknown_root_is_replaced_by_the_first_blank_node_without_a_parent() {
    let finding = "error[CTX0124]: root `gone` does not exist; `r` is used (at /rootNodeId)";
    let nodes = [("a", node("r", &[])), ("r", root(&["a"])), ("q", root(&[]))];
    let orphan = "error[CTX0121]: node `q`: it has no parent and is not the root; it is moved below the root (at /nodes/q/parentId)";
    check(&file("gone", "a", nodes), "r(a* q)", &[finding, orphan]);
}

#[test]
fn without_a_root_the_messages_hang_below_one_made_in_memory() {
    let nodes = [("a", json!({ "content": "text", "childrenIds": ["b"] })), ("b", node("a", &[]))];
    let finding = "error[CTX0124]: root `root` does not exist; `root` is created in memory (at /rootNodeId)";
    let orphan = "error[CTX0121]: node `a`: it has no parent and is not the root; it is moved below the root (at /nodes/a/parentId)";
    check(&file("root", "b", nodes), "root(a(b*))", &[finding, orphan]);
}

#[test]
fn a_root_with_a_parent_stays_the_root() {
    let nodes = [("root", node("a", &["a"])), ("a", node("root", &["root"]))];
    let findings = [
        "error[CTX0121]: the root has parent `a`; it is ignored (at /nodes/root/parentId)",
        "error[CTX0121]: node `a` lists the child `root`, which has another parent (at /nodes/a/childrenIds)",
    ];
    check(&file("root", "a", nodes), "root(a*)", &findings);
}

#[test]
fn a_dangling_leaf_is_replaced_by_the_end_of_the_branch_last_shown() {
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
fn a_node_whose_parent_does_not_exist_hangs_below_the_root() {
    let nodes = [
        ("root", root(&["a"])),
        ("x", node("gone", &["y"])),
        ("a", node("root", &[])),
        ("y", node("x", &[])),
    ];
    let finding = "error[CTX0121]: node `x`: its parent `gone` does not exist; it is moved below the root (at /nodes/x/parentId)";
    check(&file("root", "y", nodes), "root(a x(y*))", &[finding]);
}

#[test]
fn parents_that_lead_back_are_cut_at_the_first_node_of_the_file() {
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
fn children_that_do_not_exist_or_point_elsewhere_or_come_twice_are_left_out() {
    let nodes = [
        ("root", root(&["a", "gone", "a", "c", "b", "m"])),
        ("a", node("root", &[])),
        ("b", node("root", &["c"])),
        ("c", node("b", &[])),
        ("m", json!(5)),
    ];
    let findings = [
        "error[CTX0100]: expected an object, found the number `5` (at /nodes/m)",
        "error[CTX0121]: node `root` lists the child `gone`, which does not exist (at /nodes/root/childrenIds)",
        "error[CTX0121]: node `root` lists the child `a`, which it lists twice (at /nodes/root/childrenIds)",
        "error[CTX0121]: node `root` lists the child `c`, which has another parent (at /nodes/root/childrenIds)",
        "error[CTX0121]: node `root` lists the child `m`, which does not exist (at /nodes/root/childrenIds)",
    ];
    check(&file("root", "c", nodes), "root(a b(c*))", &findings);
}

#[test]
fn a_child_that_its_parent_does_not_list_comes_last() {
    let nodes = [("root", root(&["b"])), ("a", node("root", &[])), ("b", node("root", &[]))];
    let finding = "error[CTX0121]: `root` does not list its child `a` (at /nodes/root/childrenIds)";
    check(&file("root", "a", nodes), "root(b a*)", &[finding]);
}

#[test]
fn a_branch_last_shown_that_is_no_child_is_forgotten() {
    let mut above = root(&["a"]);
    above["lastSelectedChildId"] = json!("gone");
    let finding = "info[CTX0121]: the last shown branch `gone` is not a child of the node (at /nodes/root/lastSelectedChildId)";
    check(&file("root", "a", [("root", above), ("a", node("root", &[]))]), "root(a*)", &[finding]);
}

#[test]
fn the_key_names_a_node_whatever_its_id_says() {
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
fn malformed_nodes_stay_and_take_no_part() {
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
fn a_repair_is_written_only_where_an_operation_touches_it() {
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
fn a_long_chain_of_any_kind_is_read_without_recursion() {
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
fn a_key_as_long_as_a_file_is_quoted_in_part() {
    let key = "k".repeat(1 << 20);
    let children: Vec<String> = (0..2_000).map(|number| format!("missing {number}")).collect();
    let broken = json!({ "parentId": "root", "childrenIds": children, "content": "text" });
    let (_, found) = load(&file("root", "root", [("root", root(&[&key])), (&key, broken)]));
    let bytes: usize = found.iter().map(|finding| finding.message.to_string().len()).sum();
    assert_eq!((found.len(), bytes < 500), (2, true), "the second one counts the others");
}
