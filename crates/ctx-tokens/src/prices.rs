//! Prices of models.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde_json::Value;

/// An amount of money, in millionths of a millionth of a US dollar.
///
/// ```
/// use ctx_tokens::Money;
///
/// assert_eq!(Money::from_tokens(1_500, 3_000_000).to_string(), "$0.0045");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

impl Money {
    /// Returns the cost of tokens. The price is in millionths of a dollar per million tokens.
    pub const fn from_tokens(tokens: u64, price: u64) -> Self {
        Self(tokens.saturating_mul(price))
    }

    /// Returns the amount in US dollars.
    #[expect(clippy::cast_precision_loss, reason = "amounts are shown with 4 digits")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Money {
    /// Writes dollars with 2 digits after the point, or 4 below one dollar.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.dollars();
        if dollars < 1.0 { write!(formatter, "${dollars:.4}") } else { write!(formatter, "${dollars:.2}") }
    }
}

/// Prices in millionths of a dollar per million tokens: 3,000,000 is $3 per million.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Input that is not cached; `None` if no price is known.
    pub input: Option<u64>,
    /// Input that is read from a cache.
    pub cached: Option<u64>,
    /// Input that is written to a cache for the shorter lifetime.
    pub write: Option<u64>,
    /// Input that is written to a cache for the longer lifetime.
    pub write_long: Option<u64>,
    /// Output.
    pub output: Option<u64>,
    /// Prices of long requests, by size. A tier replaces the prices that it has, for the whole request.
    pub tiers: Vec<PriceTier>,
}

/// Prices of requests with more input than a number of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceTier {
    /// Number of input tokens above which the tier applies.
    pub above: u64,
    /// Prices. `tiers` is empty.
    pub prices: Prices,
}

/// Tokens of a request by price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PricedTokens {
    /// All input, with what is cached and written.
    pub input: u64,
    /// Read from a cache.
    pub cached: u64,
    /// Written to a cache for the shorter lifetime.
    pub written: u64,
    /// Written to a cache for the longer lifetime.
    pub written_long: u64,
    /// Output.
    pub output: u64,
}

impl Prices {
    /// Returns the prices of a request with so many input tokens.
    #[must_use]
    pub fn for_input(&self, tokens: u64) -> Self {
        let mut prices = Self { tiers: Vec::new(), ..self.clone() };
        let tier = self.tiers.iter().filter(|tier| tokens > tier.above).max_by_key(|tier| tier.above);
        if let Some(PriceTier { prices: long, .. }) = tier {
            prices.input = long.input.or(prices.input);
            prices.cached = long.cached.or(prices.cached);
            prices.write = long.write.or(prices.write);
            prices.write_long = long.write_long.or(prices.write_long);
            prices.output = long.output.or(prices.output);
        }
        prices
    }

    /// Returns the cost of a request; `None` without a price of input. Missing prices are those of input, or 0 for output.
    ///
    /// ```
    /// use ctx_tokens::{ModelTable, PricedTokens};
    ///
    /// let prices = ModelTable::builtin().lookup("claude-sonnet-4-5").0.prices;
    /// let tokens = PricedTokens { input: 100_000, cached: 90_000, ..PricedTokens::default() };
    /// assert_eq!(prices.cost(&tokens).unwrap().to_string(), "$0.0570");
    /// ```
    pub fn cost(&self, tokens: &PricedTokens) -> Option<Money> {
        let prices = self.for_input(tokens.input);
        let input = prices.input?;
        let write = prices.write.unwrap_or(input);
        let rest = tokens
            .input
            .saturating_sub(tokens.cached.saturating_add(tokens.written).saturating_add(tokens.written_long));
        let parts = [
            (rest, input),
            (tokens.cached, prices.cached.unwrap_or(input)),
            (tokens.written, write),
            (tokens.written_long, prices.write_long.unwrap_or(write)),
            (tokens.output, prices.output.unwrap_or(0)),
        ];
        Some(parts.into_iter().map(|(tokens, price)| Money::from_tokens(tokens, price)).sum())
    }
}

/// Reads dollars per million tokens, from 0 to 10,000.
pub(crate) fn read_price(value: &Value) -> Option<u64> {
    let dollars = value.as_f64().filter(|dollars| (0.0..=10_000.0).contains(dollars))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked above")]
    Some((dollars * 1e6).round() as u64)
}

/// Reads tiers: objects with `above` and prices.
pub(crate) fn read_tiers(value: &Value) -> Option<Vec<PriceTier>> {
    let read = |tier: &Value| {
        let price = |key: &str| tier.get(key).map_or(Some(None), |price| read_price(price).map(Some));
        let prices = Prices {
            input: price("input")?,
            cached: price("cached")?,
            write: price("write")?,
            write_long: price("writeLong")?,
            output: price("output")?,
            tiers: Vec::new(),
        };
        Some(PriceTier { above: tier.get("above")?.as_u64()?, prices })
    };
    value.as_array().filter(|tiers| tiers.len() <= 16)?.iter().map(read).collect()
}
