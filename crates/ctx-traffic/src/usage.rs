//! Tokens that a provider reports.

use ctx_tokens::PricedTokens;
use serde::Serialize;
use serde_json::Value;

/// Tokens of a request, as its provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// The whole prompt, with cached tokens.
    pub input: u64,
    /// Read from the cache.
    pub cached: u64,
    /// Written to the cache.
    pub written: u64,
    /// Part of `written` for the longer of two lifetimes.
    #[serde(rename = "writtenLong")]
    pub written_long: u64,
    /// The reply, with reasoning.
    pub output: u64,
}

const MAX_TOKENS: u64 = 1_000_000_000;

impl Usage {
    /// Returns the tokens by price.
    pub(crate) const fn priced(self) -> PricedTokens {
        let Self { input, cached, written, written_long, output } = self;
        PricedTokens { input, cached, written: written.saturating_sub(written_long), written_long, output }
    }

    /// Reads a usage object of any provider; `None` without a number of input tokens.
    ///
    /// Anthropic reports the uncached part as `input_tokens`, all others the whole prompt. Numbers above 1,000,000,000
    /// count as that.
    ///
    /// ```
    /// use ctx_traffic::Usage;
    /// use serde_json::json;
    ///
    /// let anthropic = json!({ "input_tokens": 9, "cache_read_input_tokens": 5000, "output_tokens": 4 });
    /// assert_eq!(Usage::read(&anthropic).unwrap().input, 5009);
    /// let openai = json!({ "prompt_tokens": 6000, "prompt_tokens_details": { "cached_tokens": 5120 } });
    /// assert_eq!(Usage::read(&openai).unwrap().cached, 5120);
    /// ```
    pub fn read(value: &Value) -> Option<Self> {
        // No request has more tokens. Larger numbers would overflow sums.
        let number =
            |path: &str| value.pointer(path).and_then(Value::as_u64).map(|count| count.min(MAX_TOKENS));
        let first = |paths: &[&str]| paths.iter().find_map(|path| number(path));
        let output = first(&["/output_tokens", "/completion_tokens", "/candidatesTokenCount"]);
        let output = output.unwrap_or(0).saturating_add(number("/thoughtsTokenCount").unwrap_or(0));
        let read = first(&["/cache_read_input_tokens"]);
        let written = first(&["/cache_creation_input_tokens"]);
        if read.is_some() || written.is_some() || value.get("cache_creation").is_some() {
            let (cached, written) = (read.unwrap_or(0), written.unwrap_or(0));
            let input = number("/input_tokens")?.saturating_add(cached).saturating_add(written);
            let written_long = number("/cache_creation/ephemeral_1h_input_tokens").unwrap_or(0);
            return Some(Self { input, cached, written, written_long, output });
        }
        let cached = first(&[
            "/input_tokens_details/cached_tokens",
            "/prompt_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cachedContentTokenCount",
            "/cached_input_tokens",
        ]);
        let written = first(&[
            "/input_tokens_details/cache_write_tokens",
            "/prompt_tokens_details/cache_write_tokens",
            "/cache_write_input_tokens",
        ]);
        let long = first(&[
            "/input_tokens_details/cache_write_tokens_details/ttl_12h_tokens",
            "/prompt_tokens_details/cache_write_tokens_details/ttl_12h_tokens",
        ]);
        Some(Self {
            input: first(&["/input_tokens", "/prompt_tokens", "/promptTokenCount"])?,
            cached: cached.unwrap_or(0),
            written: written.unwrap_or(0),
            written_long: long.unwrap_or(0),
            output,
        })
    }
}
