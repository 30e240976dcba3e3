use ctx_types::internal::excerpt;
use ctx_types::{phrase, space};

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;
use crate::sillytavern::dice::{self, Dice};
use crate::sillytavern::seedrandom::SeedRandom;
use crate::string_hash;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("random", random).arity(0, None).echoes().volatile().describe(
            "Random argument, chosen in each turn; a single argument is a list separated by \
             commas (`\\,` is a literal comma).",
            "{{random::red::green::blue}}",
        ),
        Definition::always("pick", pick).arity(0, None).echoes().describe(
            "Random argument; a call keeps its value for the whole conversation.",
            "{{pick::red::green::blue}}",
        ),
        Definition::new("roll", roll).arity(1, 1).volatile().describe(
            "Sum of dice, such as `2d6+1`; a number alone is one die with that many sides. Empty if invalid.",
            "{{roll::2d6+3}}",
        ),
    ]
}

fn random(call: &mut Call<'_>) -> Value {
    let list = checked_list(call);
    let chosen = call.draw(list.len() as u64);
    choose_item(&list, usize::try_from(chosen).unwrap_or(0))
}

fn pick(call: &mut Call<'_>) -> Value {
    let list = checked_list(call);
    let seed = pick_seed(call);
    let drawn = SeedRandom::new(&seed).next();
    choose_item(&list, index_of(drawn, list.len()))
}

fn choose_item(list: &[String], index: usize) -> Value {
    list.get(index).cloned().unwrap_or_default().into()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "`drawn` is in 0..1"
)]
pub(super) fn index_of(drawn: f64, length: usize) -> usize {
    (drawn * length as f64) as usize
}

/// SillyTavern's seed: chat id, hash of the text, offset in the text, and the optional extra seed.
fn pick_seed(call: &mut Call<'_>) -> String {
    let (chat, text, place) = (call.chat_number(), call.template.hash(), call.place());
    let mut seeded = format!("{chat}-{text}-{place}");
    if let Some(again) = &call.env().conversation.pick_again {
        seeded.extend(["-", again]);
    }
    string_hash::hash_text(&seeded).to_string()
}

fn checked_list(call: &mut Call<'_>) -> Vec<String> {
    if call.argument_count() < 2 {
        call.argument_that_is_not_empty("the list to choose from");
    }
    list(call)
}

fn list(call: &Call<'_>) -> Vec<String> {
    match call.argument_count() {
        0 | 1 => divided(call.argument(0)),
        count => (0..count).map(|index| call.argument(index).to_owned()).collect(),
    }
}

/// Splits at `::`, otherwise at commas. `\,` is a literal comma.
pub(super) fn divided(list: &str) -> Vec<String> {
    if list.contains("::") {
        return list.split("::").map(|element| space::trim(element).to_owned()).collect();
    }
    let mut elements = vec![String::new()];
    let mut from = 0;
    for at in memchr::memchr_iter(b',', list.as_bytes()) {
        let is_escaped = at > from && list.as_bytes().get(at - 1) == Some(&b'\\');
        let end = if is_escaped { at - 1 } else { at };
        if let Some(last) = elements.last_mut() {
            last.push_str(list.get(from..end).unwrap_or_default());
        }
        from = at + 1;
        match elements.last_mut() {
            Some(last) if is_escaped => last.push(','),
            _ => elements.push(String::new()),
        }
    }
    if let Some(last) = elements.last_mut() {
        last.push_str(list.get(from..).unwrap_or_default());
    }
    elements.iter().map(|element| space::trim(element).to_owned()).collect()
}

fn roll(call: &mut Call<'_>) -> Result<Value, Failure> {
    let formula = call.argument(0);
    let Some(Dice { count, sides, added }) = dice::read(formula)? else {
        let message = phrase!(
            "invalid dice formula `{formula}`; write one such as `2d6+3`",
            formula = excerpt(formula)
        );
        call.warn(codes::BAD_ARGUMENT, message);
        return Ok(Value::EMPTY);
    };
    call.check_draws(count)?;
    // No overflow: at most 10,000 dice with at most 2^53 sides.
    let mut sum = i128::from(added);
    for _ in 0..count {
        sum += i128::from(call.draw(sides)) + 1;
    }
    Ok(sum.to_string().into())
}
