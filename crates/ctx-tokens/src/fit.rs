//! How many of the newest texts fit a budget, without counting more than that takes.

use ctx_types::{Text, TokenCounter, TokenFigure};

/// What [`fit_newest`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// How many units fit, from the newest on.
    pub count: usize,
    /// What they use: counted, or bounded where that was enough to know that everything fits.
    pub used: TokenFigure,
    /// Whether that is all of them.
    pub is_all: bool,
}

/// Finds how many units fit a budget, from the newest to the first that does not.
///
/// A unit is what stays together: the texts of a message or of a whole group, and the tokens that they have
/// beside their text. If the bytes of everything fit the budget, nothing is counted, since no text has more
/// tokens than bytes; texts that were counted before enter with their count. Otherwise units are counted until
/// the budget is reached, the one that crosses it only up to the limit. Each pass ends where the budget does:
/// the cost depends on the budget, not on the length of the conversation.
///
/// ```
/// use ctx_tokens::{Counter, fit_newest};
/// use ctx_types::{Text, TokenFigure};
///
/// let texts: Vec<Text> = ["a long question, the oldest", "an answer", "more?"].map(Text::from).into();
/// let newest_first = texts.iter().rev().map(|text| ([text], 1));
/// let fit = fit_newest(newest_first.clone(), 10, &Counter::estimate());
/// assert_eq!((fit.count, fit.used, fit.is_all), (2, TokenFigure::Exact(2 + 1 + 3 + 1), false));
///
/// let fit = fit_newest(newest_first.take(2), 100, &Counter::estimate());
/// assert_eq!((fit.count, fit.used, fit.is_all), (2, TokenFigure::Exact(7), true));
/// ```
pub fn fit_newest<'a, U, T>(newest_first: U, budget: u64, counter: &dyn TokenCounter) -> Fit
where
    U: IntoIterator<Item = (T, u32)> + Clone,
    T: IntoIterator<Item = &'a Text>,
{
    fits_without_counting(newest_first.clone(), budget, counter)
        .unwrap_or_else(|| fit_by_counting(newest_first, budget, counter))
}

/// Adds up what is known and the bytes of what is not; `None` as soon as that is above the budget.
fn fits_without_counting<'a, U, T>(units: U, budget: u64, counter: &dyn TokenCounter) -> Option<Fit>
where
    U: IntoIterator<Item = (T, u32)>,
    T: IntoIterator<Item = &'a Text>,
{
    let encoding = counter.encoding();
    let (mut count, mut used, mut is_counted) = (0, 0_u64, true);
    for (texts, overhead) in units {
        used = used.saturating_add(u64::from(overhead));
        for text in texts {
            let known = text.known_tokens(encoding);
            is_counted &= known.is_some() || text.is_empty();
            used = used.saturating_add(known.map_or(text.len() as u64, u64::from));
        }
        if used > budget {
            return None;
        }
        count += 1;
    }
    let used = if is_counted { TokenFigure::Exact(used) } else { TokenFigure::AtMost(used) };
    Some(Fit { count, used, is_all: true })
}

fn fit_by_counting<'a, U, T>(units: U, budget: u64, counter: &dyn TokenCounter) -> Fit
where
    U: IntoIterator<Item = (T, u32)>,
    T: IntoIterator<Item = &'a Text>,
{
    let (mut count, mut used) = (0, 0_u64);
    for (texts, overhead) in units {
        let Some(with_unit) = add_unit(used, texts, overhead, budget, counter) else {
            return Fit { count, used: TokenFigure::Exact(used), is_all: false };
        };
        used = with_unit;
        count += 1;
    }
    Fit { count, used: TokenFigure::Exact(used), is_all: true }
}

/// Adds the tokens of a unit to `used`; `None` if that is above the budget.
fn add_unit<'a>(
    used: u64,
    texts: impl IntoIterator<Item = &'a Text>,
    overhead: u32,
    budget: u64,
    counter: &dyn TokenCounter,
) -> Option<u64> {
    let mut used = used.checked_add(u64::from(overhead)).filter(|used| *used <= budget)?;
    for text in texts {
        let left = budget - used;
        used += u64::from(count_within(text, left, counter)?);
    }
    Some(used)
}

/// Counts a text unless it is above `left`. A complete count is remembered; a count that was broken off is not.
fn count_within(text: &Text, left: u64, counter: &dyn TokenCounter) -> Option<u32> {
    let within = |count: &u32| u64::from(*count) <= left;
    if let Some(known) = text.known_tokens(counter.encoding()) {
        return Some(known).filter(within);
    }
    if text.len() as u64 <= left {
        return Some(counter.count_text(text));
    }
    let limit = u32::try_from(left).unwrap_or(u32::MAX);
    let count = counter.count_till_limit(text, limit)?;
    Some(text.tokens_with(counter.encoding(), |_| count))
}
