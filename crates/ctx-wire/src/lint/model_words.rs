//! Words and ranges that some models accept in a request, by the name of the model in its body.

use crate::json::Json;

/// Reasoning efforts from the weakest to the strongest.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Returns the name of the model in a body, without the name of a provider before it.
pub(super) fn model<'a>(body: &'a Json<'_>) -> &'a str {
    let name = body.get("model").and_then(Json::as_str).unwrap_or_default();
    name.rsplit('/').next().unwrap_or_default()
}

/// Returns whether the model is one of `OpenAI`'s own.
pub(super) fn is_openai(body: &Json<'_>) -> bool {
    let model = model(body);
    let is_series = |rest: &str| rest.starts_with(|digit: char| digit.is_ascii_digit());
    let is_own = ["gpt-", "chatgpt-", "computer-use"].iter().any(|prefix| model.starts_with(prefix));
    is_own && !model.starts_with("gpt-oss") || model.strip_prefix('o').is_some_and(is_series)
}

/// Returns the reasoning efforts that a model of OpenAI accepts; `None` if they are not known.
pub(super) fn efforts(model: &str) -> Option<Vec<&'static str>> {
    let has = |part: &str| model.contains(part);
    let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| model.starts_with(prefix));
    // The chat and Codex variants have other rules.
    if has("chat") || has("codex") {
        return None;
    }
    let (first, last, without) = if is(&["o1", "o3", "o4"]) {
        ("low", "high", "")
    } else if is(&["gpt-6-astra", "gpt-6.1-sol", "gpt-6.2"]) {
        ("low", "max", "")
    } else if is(&["gpt-6", "gpt-5.6"]) {
        ("none", "max", "minimal")
    } else if is(&["gpt-5-pro"]) {
        ("high", "high", "")
    } else if is(&["gpt-5."]) && has("-pro") {
        ("medium", "xhigh", "")
    } else if is(&["gpt-5.2", "gpt-5.3", "gpt-5.4", "gpt-5.5"]) {
        ("none", "xhigh", "minimal")
    } else if is(&["gpt-5.1"]) {
        ("none", "high", "minimal")
    } else if model == "gpt-5" || is(&["gpt-5-"]) {
        ("minimal", "high", "")
    } else if is(&["gpt-4", "gpt-3.5"]) {
        return Some(Vec::new());
    } else {
        return None;
    };
    let place = |word: &str| EFFORTS.iter().position(|effort| *effort == word);
    let (first, last) = (place(first)?, place(last)?);
    Some(EFFORTS.get(first..=last)?.iter().copied().filter(|effort| *effort != without).collect())
}

/// Returns the lowest and the highest thinking budget of a model of Gemini; `None` if they are not known.
pub(super) fn thinking_budgets(model: &str) -> Option<(i64, i64)> {
    if !model.contains("gemini-2.5") {
        return None;
    }
    Some(if model.contains("pro") {
        (128, 32_768)
    } else if model.contains("lite") {
        (512, 24_576)
    } else {
        (0, 24_576)
    })
}

/// Returns the thinking levels that a model of Gemini accepts; `None` if they are not known.
pub(super) fn thinking_levels(model: &str) -> Option<&'static [&'static str]> {
    const ALL: &[&str] = &["minimal", "low", "medium", "high"];
    let is_of = |part: &str| model.contains(part);
    if is_of("gemini-4") {
        return Some(if is_of("hydrogen") { &["low", "medium", "high", "xhigh"] } else { &ALL[1..] });
    }
    let is_late_flash = ["gemini-3.7", "gemini-3.8", "gemini-3.9"].iter().any(|name| is_of(name));
    if is_of("gemini-2") {
        Some(&[])
    } else if is_of("gemini-3") {
        Some(if is_of("pro") || is_late_flash { &ALL[1..] } else { ALL })
    } else {
        None
    }
}

/// Returns whether a model of Anthropic that always thinks accepts a forced tool call: Fable 5 and Mythos 5, not the
/// later 5.x.
pub(super) fn accepts_forced_calls(model: &str) -> bool {
    let rest = ["fable-5", "mythos-5"].iter().find_map(|name| model.split_once(name)).map(|(_, rest)| rest);
    let is_date = |rest: &str| rest.strip_prefix('-').is_some_and(|date| date.len() == 8);
    rest.is_some_and(|rest| rest.is_empty() || is_date(rest))
}

/// Returns whether a model of Anthropic accepts `between_tools`.
pub(super) fn thinks_between_tools(model: &str) -> bool {
    model.contains("sonnet-5-5") || model.contains("sonnet-5.5")
}

/// Returns whether a model of Anthropic can be without thinking only up to the effort `high`.
pub(super) fn thinks_at_high_effort(model: &str) -> bool {
    model.contains("opus-5") || model.contains("haiku-5")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_efforts_of_each_family() {
        let check = |model: &str, expected: &str| {
            let words = efforts(model).map(|words| words.join(" "));
            assert_eq!(words.unwrap_or_default(), expected, "{model}");
        };
        check("o3-mini", "low medium high");
        check("gpt-5-mini", "minimal low medium high");
        check("gpt-5-pro", "high");
        check("gpt-5.1", "none low medium high");
        check("gpt-5.4-pro", "medium high xhigh");
        check("gpt-5.5", "none low medium high xhigh");
        check("gpt-6.1-terra", "none low medium high xhigh max");
        check("gpt-6.2", "low medium high xhigh max");
        check("gpt-5.1-codex-max", "");
        assert_eq!(efforts("gpt-4o"), Some(Vec::new()));
    }

    #[test]
    fn reads_thinking_of_gemini() {
        assert_eq!(thinking_budgets("gemini-2.5-pro"), Some((128, 32_768)));
        assert_eq!(thinking_budgets("gemini-2.5-flash-lite"), Some((512, 24_576)));
        assert_eq!(thinking_budgets("gemini-3-pro"), None);
        assert_eq!(thinking_levels("gemini-3-flash"), Some(&["minimal", "low", "medium", "high"][..]));
        assert_eq!(thinking_levels("gemini-3-pro"), Some(&["low", "medium", "high"][..]));
        assert_eq!(thinking_levels("gemini-3.8-flash"), Some(&["low", "medium", "high"][..]));
        assert_eq!(thinking_levels("gemini-2.5-pro"), Some(&[][..]));
    }
}
