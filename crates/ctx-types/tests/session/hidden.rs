//! Which messages summaries stand for.

use ctx_types::{DisplayState, NodeId, display_path, hidden_set, visible_path};

use crate::{ids, tree};

/// Checks what each summary hides, as `node:summary`, and what is sent.
#[track_caller]
fn check(line: &str, hidden: &str, sent: &str) {
    let session = tree(line);
    let set = hidden_set(&session);
    let found: Vec<String> = set.iter().map(|(id, by)| format!("{id}:{by}")).collect();
    assert_eq!(found.join(" "), hidden, "{line}");
    assert_eq!(ids(visible_path(&session)).join(" "), sent, "{line}");
}

#[test]
fn a_summary_hides_what_it_lists() {
    check("root(a(b(sS[a,b](c*))))", "a:s b:s", "s c");
}

#[test]
fn a_disabled_summary_hides_nothing_and_is_not_sent() {
    check("root(a(b(~sS[a,b](c*))))", "", "a b c");
}

#[test]
fn disabled_messages_are_not_sent() {
    check("root(a(~b(c*)))", "", "a c");
}

#[test]
fn an_outer_summary_hides_an_inner_one_and_all_that_it_lists() {
    check("root(a(b(sS[a,b](c(tS[s,c](d*))))))", "a:t b:t s:t c:t", "t d");
    check("root(a(b(sS[a,b](c(tS[s,a,b,c](d*))))))", "a:t b:t s:t c:t", "t d");
}

#[test]
fn a_chain_of_summaries_hides_through_all_links() {
    check("root(a(sS[a](b(tS[s,b](c(uS[t,c](d*)))))))", "a:u s:u b:u t:u c:u", "u d");
}

#[test]
fn a_disabled_outer_summary_shows_the_inner_one() {
    check("root(a(b(sS[a,b](c(~tS[s,c](d*))))))", "a:s b:s", "s c d");
}

#[test]
fn a_disabled_inner_summary_changes_nothing_below_an_enabled_outer_one() {
    check("root(a(b(~sS[a,b](c(tS[s,c](d*))))))", "a:t b:t s:t c:t", "t d");
}

#[test]
fn summaries_beside_each_other_hide_their_own() {
    check("root(a(sS[a](b(tS[b](c*)))))", "a:s b:t", "s t c");
}

#[test]
fn a_summary_of_nothing_but_hidden_messages_is_hidden() {
    check("root(a(b(sS[a,b](c(tS[a,b,c](d*))))))", "a:t b:t s:t c:t", "t d");
    check("root(a(sS[a](tS[a](b*))))", "a:t s:t", "t b");
}

#[test]
fn overlapping_summaries_are_both_sent() {
    check("root(a(b(sS[a,b](c(tS[b,c](d*))))))", "a:s b:t c:t", "s t d");
}

#[test]
fn ids_off_the_path_are_ignored() {
    check("root(a(b(sS[a,x,gone](c*)) x))", "a:s", "b s c");
    check("root(a(sS[x](b*)) x)", "", "a s b");
}

#[test]
fn a_branch_beside_the_summary_shows_the_originals() {
    check("root(a(b(sS[a,b](c)) d*))", "", "a d");
    check("root(a(b*(sS[a,b](c))))", "", "a b");
}

#[test]
fn a_summary_never_hides_itself() {
    check("root(a(sS[a,s](b*)))", "a:s", "s b");
    check("root(a(sS[s](b*)))", "", "a s b");
}

#[test]
fn of_summaries_that_list_each_other_the_newer_one_counts() {
    check("root(a(sS[a,t](b(tS[s,b](c*)))))", "a:t s:t b:t", "t c");
    check("root(a(sS[a,t](b(tS[b,u](uS[s](c*))))))", "a:u s:u b:u t:u", "u c");
}

#[test]
fn a_summary_may_stand_above_what_it_lists() {
    check("root(sS[a,b](a(b(c*))))", "a:s b:s", "s c");
    check("root(uS[t,b](a(tS[a](b(c*)))))", "a:u t:u b:u", "u c");
    check("root(vS[u](uS[t](a(tS[a](c*)))))", "u:v a:v t:v", "v c");
}

#[test]
fn what_a_summary_hides_stays_hidden_if_that_summary_is_hidden_later() {
    check("root(vS[t](sS[a](a(tS[a](c*)))))", "s:v a:v t:v", "v c");
}

#[test]
fn an_empty_conversation_shows_nothing() {
    check("root*", "", "");
    check("root*(a)", "", "");
}

/// Checks what an application shows: `-` before what it does not, `!` what is switched off, `:summary`.
#[track_caller]
fn check_display(line: &str, expanded: &[&str], expected: &str) {
    let session = tree(line);
    let expanded: Vec<NodeId> = expanded.iter().map(|id| (*id).into()).collect();
    let shown = display_path(&session, &expanded);
    let shown = shown.iter().map(|shown| {
        let sign = if shown.is_shown { "" } else { "-" };
        match &shown.state {
            DisplayState::Visible => format!("{sign}{}", shown.id),
            DisplayState::Hidden { by } => format!("{sign}{}:{by}", shown.id),
            DisplayState::Disabled => format!("{sign}!{}", shown.id),
        }
    });
    assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{line}");
}

#[test]
fn an_expanded_summary_shows_what_it_hides() {
    let line = "root(a(b(sS[a,b](c(tS[c](d*))))))";
    check_display(line, &[], "-a:s -b:s s -c:t t d");
    check_display(line, &["s"], "a:s b:s s -c:t t d");
    check_display(line, &["s", "t"], "a:s b:s s c:t t d");
    check(line, "a:s b:s c:t", "s t d");
}

#[test]
fn an_expanded_outer_summary_shows_everything_inside() {
    let line = "root(a(~b(sS[a,b](c(tS[s,c](~d*))))))";
    check_display(line, &["t"], "a:t b:t s:t c:t t !d");
    check_display(line, &["s"], "-a:t -b:t -s:t -c:t t !d");
}
