//! What fits a budget, from the newest on.

use std::sync::atomic::{AtomicUsize, Ordering};

use ctx_tokens::{Fit, fit_newest};
use ctx_types::{EncodingId, Text, TokenCounter, TokenFigure};
use proptest::prelude::*;

/// One token for each two bytes, rounded up; knows how many bytes it was made to look at.
#[derive(Default)]
struct Halves {
    looked_at: AtomicUsize,
}

impl TokenCounter for Halves {
    fn encoding(&self) -> EncodingId {
        EncodingId(77)
    }

    fn count(&self, text: &str) -> u32 {
        self.looked_at.fetch_add(text.len(), Ordering::Relaxed);
        u32::try_from(text.len().div_ceil(2)).unwrap()
    }

    fn count_till_limit(&self, text: &str, limit: u32) -> Option<u32> {
        let seen = text.len().min(2 * limit as usize + 1);
        self.looked_at.fetch_add(seen, Ordering::Relaxed);
        u32::try_from(seen.div_ceil(2)).ok().filter(|count| *count <= limit)
    }
}

/// Fits texts of the given lengths, oldest first, with one token beside each; returns what was looked at too.
fn fit(lengths: &[usize], budget: u64) -> (Fit, usize) {
    let texts: Vec<Text> = lengths.iter().map(|length| Text::from("x".repeat(*length))).collect();
    let counter = Halves::default();
    let fit = fit_newest(texts.iter().rev().map(|text| ([text], 1)), budget, &counter);
    (fit, counter.looked_at.load(Ordering::Relaxed))
}

#[track_caller]
fn check(lengths: &[usize], budget: u64, count: usize, used: TokenFigure, looked_at: usize) {
    let expected = Fit { count, used, is_all: count == lengths.len() };
    assert_eq!(fit(lengths, budget), (expected, looked_at), "{lengths:?} in {budget}");
}

#[test]
fn nothing_is_counted_if_all_bytes_fit() {
    check(&[10, 10, 10], 33, 3, TokenFigure::AtMost(33), 0);
}

#[test]
fn everything_may_fit_though_its_bytes_do_not() {
    check(&[10, 10, 10], 32, 3, TokenFigure::Exact(18), 30);
}

#[test]
fn the_text_that_crosses_the_budget_is_read_up_to_the_limit() {
    check(&[1_000_000, 10, 10], 20, 2, TokenFigure::Exact(12), 10 + 10 + 15);
}

#[test]
fn what_is_older_than_the_first_that_does_not_fit_is_not_taken() {
    check(&[2, 100, 2], 10, 1, TokenFigure::Exact(2), 2 + 15);
}

#[test]
fn a_budget_of_nothing_takes_nothing() {
    check(&[2], 0, 0, TokenFigure::Exact(0), 0);
    check(&[], 0, 0, TokenFigure::Exact(0), 0);
}

#[test]
fn a_budget_that_is_just_reached_is_kept() {
    check(&[4, 4], 6, 2, TokenFigure::Exact(6), 8);
    check(&[4, 4], 5, 1, TokenFigure::Exact(3), 4 + 3);
}

#[test]
fn a_unit_of_several_texts_fits_whole_or_not_at_all() {
    let [call, result, old] = ["xx", "xxxxxxxx", "xxxx"].map(Text::from);
    let units = [(vec![&call, &result], 2), (vec![&old], 1)];
    for (budget, count) in [(6, 0), (7, 1), (9, 1), (10, 2)] {
        let fit = fit_newest(units.clone(), budget, &Halves::default());
        assert_eq!(fit.count, count, "in {budget}");
    }
}

#[test]
fn counts_that_are_known_are_used_before_bytes() {
    let texts = [Text::from("xxxxxxxxxx"), Text::from("xxxxxxxxxx")];
    let counter = Halves::default();
    assert_eq!(texts.iter().map(|text| counter.count_text(text)).sum::<u32>(), 10);
    let fit = fit_newest(texts.iter().map(|text| ([text], 0)), 10, &counter);
    assert_eq!(fit, Fit { count: 2, used: TokenFigure::Exact(10), is_all: true });
    assert_eq!(counter.looked_at.load(Ordering::Relaxed), 20, "counted once");
}

#[test]
fn a_long_past_is_not_looked_at() {
    let text = Text::from("xxxxxxxx");
    let taken = AtomicUsize::new(0);
    let counter = Halves::default();
    let endless = std::iter::repeat_with(|| {
        taken.fetch_add(1, Ordering::Relaxed);
        ([&text], 0)
    });
    let fit = fit_newest(endless.take(1_000_000), 100, &counter);
    assert_eq!(fit.count, 25);
    assert!(taken.load(Ordering::Relaxed) < 50);
}

proptest! {
    #[test]
    fn as_many_fit_as_a_plain_sum_says(lengths in prop::collection::vec(0..40_usize, 0..12), budget in 0..150_u64) {
        let mut left = budget;
        let mut expected = 0;
        for length in lengths.iter().rev() {
            let Some(rest) = left.checked_sub(length.div_ceil(2) as u64 + 1) else { break };
            left = rest;
            expected += 1;
        }
        let (fit, _) = fit(&lengths, budget);
        prop_assert_eq!(fit.count, expected);
        prop_assert_eq!(fit.is_all, expected == lengths.len());
        match fit.used {
            TokenFigure::Exact(used) => prop_assert_eq!(used, budget - left),
            TokenFigure::AtMost(most) => prop_assert!(budget - left <= most && most <= budget && fit.is_all),
        }
    }
}
