//! How full a context is, as a bar of text.

/// How wide the bar is, in columns.
const WIDTH: u64 = 24;

/// Columns that are filled by eighths.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Draws how much of a budget is used.
pub(crate) fn usage_bar(used: u64, budget: u64) -> String {
    let whole = budget.max(1);
    let eighths = used.min(whole).saturating_mul(WIDTH * 8) / whole;
    let full = usize::try_from(eighths / 8).unwrap_or_default();
    let mut bar = "█".repeat(full);
    let part = usize::try_from(eighths % 8).unwrap_or_default();
    if part > 0 {
        bar.push(EIGHTHS[part]);
    }
    let rest = usize::try_from(WIDTH).unwrap_or_default().saturating_sub(bar.chars().count());
    let percent = used.saturating_mul(100) / whole;
    format!("▕{bar}{}▏ {percent} % of {budget} tokens", " ".repeat(rest))
}

#[cfg(test)]
mod tests {
    use super::usage_bar;

    #[track_caller]
    fn check(used: u64, budget: u64, expected: &str) {
        assert_eq!(usage_bar(used, budget), expected);
    }

    #[test]
    fn a_bar_is_as_long_as_what_it_shows() {
        check(0, 1_000, "▕                        ▏ 0 % of 1000 tokens");
        check(500, 1_000, "▕████████████            ▏ 50 % of 1000 tokens");
        check(510, 1_000, "▕████████████▏           ▏ 51 % of 1000 tokens");
        check(1_000, 1_000, "▕████████████████████████▏ 100 % of 1000 tokens");
    }

    #[test]
    fn what_is_over_the_budget_fills_the_bar() {
        check(1_500, 1_000, "▕████████████████████████▏ 150 % of 1000 tokens");
        check(1, 0, "▕████████████████████████▏ 100 % of 0 tokens");
    }
}
