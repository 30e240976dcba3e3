//! Values of one side, by which those of the other side are looked up.

use std::collections::{BTreeSet, HashSet};
use std::ops::Bound;

use crate::quality::dates::{Clock, Day};
use crate::quality::key::Key;
use crate::quality::numbers::{Amount, ONE};

#[derive(Debug, Default)]
pub(super) struct ValueSet {
    amounts: HashSet<(&'static str, i128)>,
    /// Numbers as written, with and without a unit.
    numbers: HashSet<i128>,
    bare_numbers: HashSet<i128>,
    /// Groups of digits in identifiers.
    digit_groups: HashSet<i128>,
    days: HashSet<Day>,
    weekdays: HashSet<usize>,
    clocks: HashSet<Clock>,
    literals: BTreeSet<Box<str>>,
}

impl ValueSet {
    pub(super) fn insert(&mut self, key: &Key) {
        match key {
            Key::Amount(amount) => {
                self.amounts.insert((amount.unit, amount.base));
                self.numbers.insert(amount.number);
                if amount.unit.is_empty() {
                    self.bare_numbers.insert(amount.number);
                }
            }
            Key::Day(day) => {
                for day in [Some(*day), day.swapped()].into_iter().flatten() {
                    self.insert_day(Day { is_ambiguous: false, ..day });
                }
                // A year and an hour may be written as bare numbers.
                self.numbers.extend(day.year.map(|year| i128::from(year) * ONE));
            }
            Key::Weekday(day) => _ = self.weekdays.insert(*day),
            Key::Clock(clock) => {
                self.clocks.insert(*clock);
                self.clocks.insert(twelve_hours(*clock));
                let hour = i128::from(clock.minutes / 60);
                self.numbers.extend([hour * ONE, (hour % 12) * ONE]);
            }
            Key::Literal(text) => {
                const LENGTHS: std::ops::Range<usize> = 3..13;
                let groups = text.split(|c: char| !c.is_ascii_digit());
                let groups = groups.filter(|group| LENGTHS.contains(&group.len()));
                self.digit_groups
                    .extend(groups.filter_map(|group| group.parse::<i128>().ok()).map(|n| n * ONE));
                self.literals.insert(text.clone());
            }
            Key::Words(_) => {}
        }
    }

    /// Inserts a day with and without each of its parts.
    fn insert_day(&mut self, day: Day) {
        for without_year in [day, Day { year: None, ..day }] {
            let parts =
                [without_year, Day { day: None, ..without_year }, Day { month: None, ..without_year }];
            self.days.extend(parts.into_iter().filter(|part| *part != Day::default()));
        }
        // A day without a year equals that day of any year.
        if day.year.is_none() {
            self.days.insert(Day { is_ambiguous: true, ..day });
        } else {
            self.days.insert(Day { month: None, day: None, ..day });
        }
    }

    /// Returns whether a value that a reader takes for the same is there; names have no value.
    pub(super) fn contains(&self, key: &Key) -> bool {
        match key {
            Key::Amount(amount) => self.contains_amount(amount),
            Key::Day(day) => {
                [Some(*day), day.swapped()].into_iter().flatten().any(|day| self.contains_day(day))
            }
            Key::Weekday(day) => self.weekdays.contains(day),
            Key::Clock(clock) => {
                self.clocks.contains(clock)
                    || self.clocks.contains(&Clock { is_ambiguous: !clock.is_ambiguous, ..*clock })
                    || self.clocks.contains(&twelve_hours(*clock))
            }
            Key::Literal(text) => {
                let number = text.parse::<i128>().ok().and_then(|number| number.checked_mul(ONE));
                self.literals.contains(text) || number.is_some_and(|number| self.numbers.contains(&number))
            }
            Key::Words(_) => false,
        }
    }

    fn contains_amount(&self, amount: &Amount) -> bool {
        /// Smaller numbers need the same unit.
        const SMALL: i128 = 20 * ONE;
        if amount.unit.is_empty() {
            return self.numbers.contains(&amount.number);
        }
        self.amounts.contains(&(amount.unit, amount.base))
            || self.bare_numbers.contains(&amount.number) && amount.number.abs() > SMALL
    }

    fn contains_day(&self, day: Day) -> bool {
        let day = Day { is_ambiguous: false, ..day };
        let without_year = Day { year: None, is_ambiguous: true, ..day };
        let year = day.year.filter(|_| day.month.or(day.day).is_none());
        self.days.contains(&day)
            || self.days.contains(&without_year)
            || year.is_some_and(|year| self.bare_numbers.contains(&(i128::from(year) * ONE)))
    }

    pub(super) fn contains_literal(&self, text: &str) -> bool {
        self.literals.contains(text)
    }

    /// Returns whether a bare number is a part of an identifier.
    pub(super) fn has_digits(&self, amount: &Amount) -> bool {
        amount.unit.is_empty() && self.digit_groups.contains(&amount.number)
    }

    /// Returns whether text is the beginning of a hash: people shorten these.
    pub(super) fn has_hash(&self, text: &str) -> bool {
        const SHORTEST: usize = 7;
        let is_hash =
            text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let from = (Bound::Included(text), Bound::Unbounded);
        is_hash && self.literals.range::<str, _>(from).next().is_some_and(|next| next.starts_with(text))
    }
}

/// Returns the same time twelve hours earlier or later, if it may be meant.
fn twelve_hours(clock: Clock) -> Clock {
    if clock.is_ambiguous {
        Clock { minutes: (clock.minutes + 720) % 1_440, is_ambiguous: false }
    } else {
        clock
    }
}
