//! The figures in a provider's words about a request that is larger than the window.

/// What a provider says of a request that is larger than the window, in its own tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverflowFigures {
    /// How many tokens the request, or the request and its answer, may have.
    pub limit: Option<u64>,
    /// How many tokens the request had, without its answer where both are named.
    pub sent: Option<u64>,
    /// How many tokens were asked for the answer.
    pub answer: Option<u64>,
}

/// After these words stands the limit.
const LIMIT_FOLLOWS: &[&str] = &[
    "maximum context length is",
    "maximum context length of",
    "configured limit of",
    "tokens allowed",
    "context size",
    "context window of",
    "context window is",
    "context length of",
    "context length is",
    "limit of",
    // `210000 tokens > 200000 maximum`
    ">",
];

/// After these words stands what was sent.
const SENT_FOLLOWS: &[&str] = &[
    "messages resulted in",
    "prompt is too long:",
    "context limit:",
    "input token count",
    "request has",
    "request",
    "you requested about",
    "you requested",
];

/// Before these words stands what was sent, without the answer.
const SENT_PRECEDES: &[&str] = &["in the messages", "of text input", "input tokens"];

/// Before these words stands what was asked for the answer.
const ANSWER_PRECEDES: &[&str] = &["in the completion", "in the output"];

/// Reads the figures of a message in lower case.
pub(super) fn read(words: &str) -> OverflowFigures {
    let follows = |phrases: &[&str]| phrases.iter().find_map(|phrase| after(words, phrase));
    let precedes = |phrases: &[&str]| phrases.iter().find_map(|phrase| before(words, phrase));
    OverflowFigures {
        limit: follows(LIMIT_FOLLOWS),
        sent: precedes(SENT_PRECEDES).or_else(|| follows(SENT_FOLLOWS)),
        // `188240 + 21333 > 200000`
        answer: precedes(ANSWER_PRECEDES).or_else(|| after(words, "+")),
    }
}

/// The number that follows a phrase at once, wherever it does so first.
fn after(words: &str, phrase: &str) -> Option<u64> {
    words.match_indices(phrase).find_map(|(at, _)| {
        let rest = words.get(at + phrase.len()..)?;
        let rest = rest.trim_start_matches([' ', '(', ':', '`']);
        let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        number(rest.get(..end)?)
    })
}

/// The number that stands before a phrase.
fn before(words: &str, phrase: &str) -> Option<u64> {
    words.match_indices(phrase).find_map(|(at, _)| {
        let rest = words.get(..at)?.trim_end();
        let begin = rest.rfind(|character| !is_part(character)).map_or(0, |at| at + 1);
        number(rest.get(begin..)?)
    })
}

/// Returns whether a character may stand in a number: providers group digits in several ways.
const fn is_part(character: char) -> bool {
    matches!(character, '0'..='9' | ',' | '_')
}

fn number(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, limit: u64, sent: impl Into<Option<u64>>, answer: impl Into<Option<u64>>) {
        let expected = OverflowFigures { limit: Some(limit), sent: sent.into(), answer: answer.into() };
        assert_eq!(read(&words.to_lowercase()), expected, "{words}");
    }

    #[test]
    fn the_figures_of_openai_and_its_likes_are_read() {
        check(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9042 tokens.",
            8_192,
            9_042,
            None,
        );
        check(
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
            4_096,
            4_000,
            1_000,
        );
        check(
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300010 tokens.",
            272_000,
            300_010,
            None,
        );
        check(
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (140000 of text input, 10000 in the output).",
            131_072,
            140_000,
            10_000,
        );
        check(
            "max_tokens is too large: 1000. This model's maximum context length is 4096 tokens and your request has 3500 input tokens (1000 > 4096 - 3500).",
            4_096,
            3_500,
            None,
        );
    }

    #[test]
    fn the_figures_of_anthropic_are_read() {
        check("prompt is too long: 210000 tokens > 200000 maximum", 200_000, 210_000, None);
        check(
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
            200_000,
            188_240,
            21_333,
        );
    }

    #[test]
    fn the_figures_of_gemini_are_read() {
        check(
            "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
            1_200_000,
            None,
        );
        check(
            "The input token count exceeds the maximum number of tokens allowed 1048576.",
            1_048_576,
            None,
            None,
        );
    }

    #[test]
    fn the_figures_of_servers_of_ones_own_are_read() {
        check(
            "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
            4_096,
            9_000,
            None,
        );
    }

    #[test]
    fn words_without_figures_have_none() {
        for words in [
            "",
            "context_length_exceeded",
            "too long by far",
            "limit of ,, tokens",
            "99999999999999999999999 in the messages",
        ] {
            assert_eq!(read(words), OverflowFigures::default(), "{words}");
        }
    }
}
