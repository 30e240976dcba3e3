//! How many tokens a context may have: one rule wherever the number stands, and one true thing said once.

use insta::assert_snapshot;

use crate::assemble::CHAT;
use crate::{Folder, ctx};

/// What a command line is told about its model and its limit.
#[track_caller]
fn said(arguments: &str) -> String {
    let answer = ctx(&format!("assemble --input Hi --format text {arguments}"), &[]);
    let (_, said) = answer.split_once("Hi\n").unwrap();
    said.to_owned()
}

#[test]
fn a_model_that_nobody_knows_is_said_to_be_unknown() {
    assert_snapshot!(said("--model gtp-4o"), @"
    === errors
    warning[CTX0400]: unknown model `gtp-4o`; tokens are estimated
     = help: did you mean `gpt-4o`?

    warning[CTX0410]: the context window of `gtp-4o` is unknown; the context has no token limit
     = help: add the model to a table for `--models FILE`, or assemble with `--context-tokens N`
    ");
    assert_snapshot!(said("--model mine --context-tokens 100"), @"
    === errors
    warning[CTX0400]: unknown model `mine`; tokens are estimated
     = help: add the model to a table for `--models FILE`
    ");
}

#[test]
fn counting_asks_for_no_window() {
    let folder = Folder::with(&[("c.json", CHAT)]);
    let answer = folder.ctx("count c.json --model mine");
    assert!(answer.contains("CTX0400") && !answer.contains("CTX0410"), "{answer}");
}
