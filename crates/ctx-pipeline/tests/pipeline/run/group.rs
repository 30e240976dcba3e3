use ctx_types::{Message, Role};

use crate::run::case::{Step, check, messages};

#[track_caller]
fn check_edit(before: &str, edit: impl Fn(&mut Vec<Message>) + Send + Sync + 'static, expected: &[&str]) {
    check([Step::edit("edit", edit)], before, expected);
}

fn with(after: &'static str) -> impl Fn(&mut Vec<Message>) + Send + Sync + 'static {
    move |all| *all = messages(after)
}

fn broken(member: &str) -> String {
    format!(
        "error[CTX0454]: processor `edit` failed: it removed, duplicated, or separated `{member}` from its tool call group"
    )
}

fn moved(id: &str) -> String {
    format!("moved history:{id}: placed before a tool call, which stays with its results")
}

#[test]
fn keeps_order_of_foreign_messages() {
    check_edit(
        "u1 c1:x,y t1:x t2:y c2:z t3:z",
        with("u1 c1:x,y s1 s2 t1:x s3 t2:y c2:z s4 t3:z s5"),
        &[
            "u1 s1 s2 s3 c1:x,y t1:x t2:y s4 c2:z t3:z s5",
            &moved("s1"),
            &moved("s2"),
            &moved("s3"),
            &moved("s4"),
        ],
    );
}

#[test]
fn rejoins_group_split_by_other_messages() {
    check_edit(
        "u1 c1:x t1:x u2 a1",
        with("u1 c1:x u2 a1 t1:x"),
        &["u1 u2 a1 c1:x t1:x", &moved("u2"), &moved("a1")],
    );
}

#[test]
fn allows_removing_or_moving_complete_groups() {
    check_edit("u1 c1:x t1:x u2", with("u1 u2"), &["u1 u2"]);
    check_edit("u1 c1:x t1:x u2", with("u2 c1:x t1:x u1"), &["u2 c1:x t1:x u1"]);
    check_edit("c1:x t1:x c2:y t2:y", with("c2:y t2:y c1:x t1:x"), &["c2:y t2:y c1:x t1:x"]);
    check_edit("u1 c1:x t1:x", with(""), &[""]);
}

#[test]
fn rejects_lost_group_member() {
    check_edit("u1 c1:x,y t1:x t2:y", with("u1 c1:x,y t1:x"), &["u1 c1:x,y t1:x t2:y", &broken("t2")]);
    check_edit("u1 c1:x t1:x", with("u1 t1:x"), &["u1 c1:x t1:x", &broken("c1")]);
    check_edit("u1 c1:x t1:x", with("c1:x u1"), &["u1 c1:x t1:x", &broken("t1")]);
}

#[test]
fn checks_groups_against_repaired_pairs() {
    let repair = Step::new("edit", |cx| {
        cx.draft.repair_pairs(messages("u1 c1:x,y t1:x t2:y u2"));
        cx.draft.messages_mut().truncate(4);
        Ok(())
    });
    check([repair], "u1 c1:x,y t1:x t2:y t3:y u2", &["u1 c1:x,y t1:x t2:y"]);
    let breaks = Step::new("edit", |cx| {
        cx.draft.repair_pairs(messages("u1 c1:x,y t1:x t2:y u2"));
        cx.draft.messages_mut().truncate(3);
        Ok(())
    });
    check([breaks], "u1 c1:x,y t1:x t2:y t3:y", &["u1 c1:x,y t1:x t2:y t3:y", &broken("t2")]);
}

#[test]
fn rejects_duplicated_group_member() {
    check_edit("c1:x t1:x", with("c1:x t1:x t1:x"), &["c1:x t1:x", &broken("t1")]);
    check_edit("c1:x t1:x", with("c1:x t1:x u1 c1:x"), &["c1:x t1:x", &broken("c1")]);
    check_edit("c1:x t1:x", with("c1:x t1:x c1:x t1:x"), &["c1:x t1:x", &broken("c1")]);
}

#[test]
fn rejects_split_tool_call() {
    check_edit("c1:x,y t1:x t2:y", with("c1:x t1:x c2:y t2:y"), &["c1:x,y t1:x t2:y", &broken("c1")]);
}

#[test]
fn rejects_converting_part_of_group_to_text() {
    let untool = |messages: &mut Vec<Message>| messages[0].tool_calls.clear();
    check_edit("c1:x t1:x", untool, &["c1:x t1:x", &broken("c1")]);
    let speak = |messages: &mut Vec<Message>| messages[1].role = Role::User;
    check_edit("c1:x t1:x", speak, &["c1:x t1:x", &broken("t1")]);
}

#[test]
fn allows_converting_complete_group_to_text() {
    let untool = |messages: &mut Vec<Message>| {
        messages[0].tool_calls.clear();
        messages[1].role = Role::User;
        messages[1].tool_call_id = None;
    };
    check_edit("c1:x t1:x u1", untool, &["c1:x t1:x u1"]);
}

#[test]
fn allows_reordering_results_after_their_call() {
    check_edit("c1:x,y t1:x t2:y", with("c1:x,y t2:y t1:x"), &["c1:x,y t2:y t1:x"]);
    check_edit("c1:x t1:x", with("t1:x c1:x"), &["c1:x t1:x", &broken("c1")]);
}

#[test]
fn rejects_interleaved_groups() {
    check_edit("c1:x t1:x c2:y t2:y", with("c1:x c2:y t1:x t2:y"), &["c1:x t1:x c2:y t2:y", &broken("c2")]);
    check_edit(
        "c1:x,z t1:x t3:z c2:y t2:y",
        with("c1:x,z t1:x c2:y t2:y t3:z"),
        &["c1:x,z t1:x t3:z c2:y t2:y", &broken("c2")],
    );
}

#[test]
fn accepts_added_missing_result() {
    check_edit("c1:x,y t1:x", with("c1:x,y t2:y t1:x"), &["c1:x,y t2:y t1:x"]);
    check_edit("c1:x,y t1:x", with("c1:x,y t2:x t1:x"), &["c1:x,y t1:x", &broken("t2")]);
    check_edit("c1:x,y t1:x", with("c1:x,y t2:z t1:x"), &["c1:x,y t1:x", &broken("t2")]);
}

#[test]
fn matches_members_without_ids_by_calls() {
    check_edit("c:x,y t:x t:y", with("c:x,y s1 t:x t:y"), &["s1 c:x,y t:x t:y", &moved("s1")]);
    check_edit("c:x,y t:x t:y", with("c:x,y t:y"), &["c:x,y t:x t:y", &broken("x")]);
    check_edit("c:x t:x u1 c:x t:x", with("c:x t:x"), &["c:x t:x"]);
    check_edit("c:x t:x u1 c:x t:x", with("c:x t:x u1 c:x s1 t:x"), &["c:x t:x u1 s1 c:x t:x", &moved("s1")]);
}

#[test]
fn allows_changing_member_texts() {
    let shout = |messages: &mut Vec<Message>| messages[1].content = ctx_types::Content::Text("SUN".into());
    check_edit("c1:x t1:x", shout, &["c1:x SUN"]);
}

#[test]
fn ends_run_when_core_processor_breaks_group() {
    let breaks = Step::edit("loader", |messages| messages.truncate(1)).core();
    let (run, result) = crate::run::case::run([breaks], "c1:x t1:x", &crate::run::case::Host::default());
    assert_eq!(
        result.unwrap_err().to_string(),
        "core processor `loader` failed: it removed, duplicated, or separated `t1` from its tool call group"
    );
    assert_eq!(run.draft.messages().len(), 2);
}
