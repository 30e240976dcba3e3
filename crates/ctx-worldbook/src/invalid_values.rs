//! Invalid values of the right type.

use ctx_types::internal::{excerpt, nearest};
use ctx_types::worldbook::{Numeric, Worldbook, WorldbookEntry};
use ctx_types::{Diagnostic, Fix, Phrase, phrase};
use serde_json::Value;

use crate::book::MAX_FINDINGS;
use crate::codes;

/// Generation types of SillyTavern.
pub(crate) const TRIGGERS: [&str; 6] = ["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"];

/// Pointers contain only the field.
pub(crate) fn in_entry(id: &str, noun: &WorldbookEntry) -> Vec<Diagnostic> {
    let counts = [
        ("depth", noun.depth),
        ("scanDepth", noun.scan_depth),
        ("sticky", noun.sticky),
        ("cooldown", noun.cooldown),
        ("delay", noun.delay),
        ("delayUntilRecursionLevel", noun.delay_until_recursion_level),
    ];
    let counts = counts.into_iter().filter_map(|(field, number)| count(id, field, number?));
    let is_used = noun.use_probability.is_none_or(|flag| flag.0);
    let probability = noun.probability.filter(|_| is_used).and_then(|percent| {
        let nearest = percent.0.clamp(0.0, 100.0);
        out_of_range(id, "probability", percent.0, nearest, "a percentage from 0 to 100")
    });
    let weight = noun.group_weight.and_then(|weight| {
        out_of_range(id, "groupWeight", weight.0, weight.0.max(0.0), "a number of at least 0")
    });
    counts.chain(probability).chain(weight).chain(triggers(id, noun)).collect()
}

pub(crate) fn in_book(noun: &Worldbook) -> Vec<Diagnostic> {
    let counts = [("scan_depth", noun.scan_depth), ("token_budget", noun.token_budget)];
    let bad = counts
        .into_iter()
        .filter_map(|(field, number)| Some((field, number.filter(|number| number.0 < 0.0)?)));
    let bad = bad.map(|(field, number)| {
        let message = phrase!("invalid `{field}` {number}; it is ignored", field, number = number.0);
        let finding = Diagnostic::warning(codes::BAD_VALUE, message).at_pointer(format!("/{field}"));
        finding.with_help(phrase!("write {count}, or remove it", count = Phrase::from(COUNT)))
    });
    bad.collect()
}

const COUNT: &str = "a whole number of at least 0";

fn count(id: &str, field: &str, number: Numeric) -> Option<Diagnostic> {
    out_of_range(id, field, number.0, number.0.trunc().max(0.0), COUNT)
}

#[expect(clippy::float_cmp, reason = "a number in range equals its nearest value exactly")]
fn out_of_range(id: &str, field: &str, number: f64, nearest: f64, range: &'static str) -> Option<Diagnostic> {
    // Turns -0 into 0.
    let counts_as = nearest + 0.0;
    (number != nearest).then(|| {
        let message = phrase!(
            "invalid `{field}` {number} of `{id}`; {value} is used",
            field,
            id = excerpt(id),
            number,
            value = counts_as
        );
        let finding = Diagnostic::warning(codes::BAD_VALUE, message).at_pointer(format!("/{field}"));
        finding
            .with_help(phrase!("write {range}, or remove it", range = Phrase::from(range)))
            .with_fix(Fix::value(json_number(counts_as)))
    })
}

fn json_number(number: f64) -> Value {
    let whole: Option<Value> = serde_json::from_str(&number.to_string()).ok();
    whole.unwrap_or_else(|| Value::from(number))
}

/// If all types are unknown, the entry is reported as dead instead.
fn triggers<'n>(id: &'n str, noun: &'n WorldbookEntry) -> impl Iterator<Item = Diagnostic> + 'n {
    let is_known = |kind: &str| TRIGGERS.contains(&kind);
    let is_dead = !noun.triggers.iter().any(|kind| is_known(kind));
    let unknown = noun.triggers.iter().enumerate().filter(move |(_, kind)| !is_dead && !is_known(kind));
    let unknown = unknown.take(MAX_FINDINGS + 1);
    unknown.map(move |(at, kind)| {
        let message =
            phrase!("unknown generation type `{kind}` in `{id}`", kind = excerpt(kind), id = excerpt(id));
        let finding = Diagnostic::warning(codes::BAD_VALUE, message).at_pointer(format!("/triggers/{at}"));
        finding.with_guess_or(nearest(kind, TRIGGERS), Fix::text, || phrase!("remove it"))
    })
}
