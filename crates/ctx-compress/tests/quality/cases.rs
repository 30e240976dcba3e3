//! Cases written by hand: one thing said in two ways, two things said in nearly one way.

use ctx_compress::quality::QualityReport;
use ctx_types::{Message, Role, Source};

/// Checks what a summary of a text lost and invented, as `kind text` in order.
#[track_caller]
fn check(original: &str, summary: &str, lost: &[&str], invented: &[&str]) {
    // A line is a message; lines of users and assistants take turns.
    let message = |(at, text): (usize, &str)| {
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        Message::new(role, text, Source::history(format!("n{at}"), role))
    };
    let original: Vec<Message> = original.lines().enumerate().map(message).collect();
    let report = QualityReport::of_summary(&original, summary);
    let shown = |facts: &[ctx_compress::quality::Fact]| {
        facts.iter().map(|fact| format!("{} {}", fact.kind, fact.text)).collect::<Vec<_>>()
    };
    assert_eq!(
        (shown(&report.lost), shown(&report.invented)),
        (strings(lost), strings(invented)),
        "{summary}"
    );
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn amounts_are_the_same_in_other_spellings() {
    check("The rent is $1,500 a month.", "Rent: 1.5k dollars monthly.", &[], &[]);
    check(
        "The rent is 1,500 dollars.",
        "The rent is 1,550 dollars.",
        &["number 1,500 dollars"],
        &["number 1,550 dollars"],
    );
    check("We drove 5 km in 90 minutes.", "They drove 5,000 m in 1.5 hours.", &[], &[]);
    check("It weighs 5 kg.", "It weighs 5 lb.", &["number 5 kg"], &["number 5 lb"]);
    check("About five thousand people came.", "5000 people came.", &[], &[]);
    check("来了五千人，花了一万二千元。", "来了5000人，花费12,000元。", &[], &[]);
    check("成功率是百分之九十五。", "成功率为95%。", &[], &[]);
    check("预算是3.5万元。", "预算为35,000元。", &[], &[]);
}

#[test]
fn numbers_within_ids_are_no_numbers() {
    check(
        "The order is plm_4187.",
        "They ordered 4187 pieces of ORD-9.",
        &["identifier plm_4187"],
        &["identifier ORD-9"],
    );
    check("We need 4187 pieces.", "The order is plm_4187.", &["number 4187"], &["identifier plm_4187"]);
    check("The invoice is INV-2024-0031.", "The invoice is inv-2024-0031.", &[], &[]);
}

#[test]
fn days_are_the_same_in_other_spellings() {
    check("We meet on March 5, 2026.", "The meeting is on 2026-03-05.", &[], &[]);
    check("We meet on 5 March.", "3月5日见面。", &[], &[]);
    check("我们3月5日见面。", "They meet on March 5th.", &[], &[]);
    check("二〇二六年三月五日交货。", "Delivery on 5 Mar 2026.", &[], &[]);
    check("It is due 2026-03-05.", "It is due on 2026-03-06.", &["date 2026-03-05"], &["date 2026-03-06"]);
    check(
        "It is due on March 5, 2026.",
        "It is due on March 5, 2027.",
        &["date March 5, 2026"],
        &["date March 5, 2027"],
    );
    check("It is due on 03/05/2026.", "It is due on 3 May 2026.", &[], &[]);
    check("We meet next Tuesday.", "The meeting is on Thursday.", &["date Tuesday"], &["date Thursday"]);
}

#[test]
fn times_are_the_same_in_other_spellings() {
    check("The train leaves at 7:30 p.m.", "The train leaves at 19:30.", &[], &[]);
    check("火车晚上七点半开。", "火车19:30发车。", &[], &[]);
    check("The shop opens at nine in the morning.", "It opens at 9 am.", &[], &[]);
    check("The shop opens at 9:00.", "The shop opens at 9:15.", &["date 9:00"], &["date 9:15"]);
}

#[test]
fn names_may_be_shortened_if_they_stay_clear() {
    check("I met Marta Okafor in Lisbon.", "The user met Okafor in Lisbon.", &[], &[]);
    check(
        "I met Marta Okafor and Dario Okafor.",
        "The user met Okafor.",
        &["name Marta Okafor", "name Dario Okafor"],
        &[],
    );
    check(
        "I met Marta Okafor and Tomas Haddad.",
        "Tomas Haddad met Marta Haddad.",
        &["name Marta Okafor"],
        &["name Marta Haddad"],
    );
    check("My sister Greta lives in Porto.", "Her sister lives in Porto.", &["name Greta"], &[]);
    check("My sister lives in Porto.", "Her sister Greta lives in Porto.", &[], &["name Greta"]);
    check("I met İlker Demir at İzmir.", "The user met İlker at İzmir.", &[], &[]);
    check("Yesterday I met ΝΊΚΟΣ Pappas.", "The user met Νίκος.", &[], &[]);
    check("It is in /data/İA/ΟΔΟΣ.", "See /data/İA/ΟΔΟΣ, please.", &[], &[]);
    check("负责人是「陈思远」。", "负责人是「陈思源」。", &["quote 「陈思远」"], &["quote 「陈思源」"]);
}

#[test]
fn compares_quotations_word_for_word() {
    check(
        "He said “I will never sell the old house”.",
        "He will never sell the old house.",
        &["quote “I will never sell the old house”"],
        &[],
    );
    check(
        "I am reading “The Silent Harbour”.",
        "The user reads “The Hollow Harbour”.",
        &["quote “The Silent Harbour”"],
        &["quote “The Hollow Harbour”"],
    );
    check(
        "我在看《沉默的车站》和《遥远的果园》。",
        "用户在看《沉默的果园》。",
        &["quote 《沉默的车站》", "quote 《遥远的果园》"],
        &["quote 《沉默的果园》"],
    );
}

#[test]
fn paths_may_be_shortened_if_they_stay_clear() {
    check("The fault is in src/billing/retry.rs.", "The fault is in retry.rs.", &[], &[]);
    check(
        "Compare src/billing/retry.rs with src/router/retry.rs.",
        "Compare retry.rs.",
        &["path src/billing/retry.rs", "path src/router/retry.rs"],
        &[],
    );
    check(
        "The fault is in src/billing/retry.rs.",
        "The fault is in src/billing/limits.rs.",
        &["path src/billing/retry.rs"],
        &["path src/billing/limits.rs"],
    );
}

#[test]
fn code_is_compared_as_it_is_written() {
    check(
        "Call `getUserName` in commit 3f2a9c17b.",
        "They call getUserName since 3f2a9c1.",
        &["identifier 3f2a9c17b"],
        &[],
    );
    check("Use v1.2.3 of the library.", "Use v1.2 of it.", &["identifier v1.2.3"], &["identifier v1.2"]);
    check("See https://example.com/a/b.", "See http://example.com/a/b/.", &[], &[]);
    check("Set MAX_RETRIES to 5000.", "MAX_RETRIES is 500.", &["number 5000"], &["number 500"]);
}

#[test]
fn order_and_headings_do_not_matter() {
    let summary = "## Overview\n**Current Focus:** the trip\n- 4 people go to Lisbon\n\n### Key Decisions\n1. Fly on 2026-03-05\n2. Pay $1,200\n\n### Next Steps\nNone.";
    check("We pay $1,200.\nYes.\nWe fly on 5 March 2026 to Lisbon.\nAll four of us.", summary, &[], &[]);
}

#[test]
fn a_correction_is_kept_if_only_the_new_value_is_told() {
    check("Not Tuesday, Wednesday.", "It is on Wednesday.", &["date Tuesday"], &[]);
    check("The visit is not on May 3, it is on May 10.", "The visit is on May 10.", &["date May 3"], &[]);
    check("The visit is not on May 3, it is on May 10.", "The visit is on May 3.", &["date May 10"], &[]);
}
