//! Values of one side, by which it is told whether it has a value of the other.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Bound;

use ctx_types::internal::Fingerprint;

use crate::quality::gather::FoundFact;
use crate::quality::key::Key;
use crate::quality::moments::{Clock, Day};
use crate::quality::units::{Dimension, ONE, Quantity};

/// The values of a side.
#[derive(Debug, Default)]
pub(super) struct Values {
    amounts: HashSet<(Dimension, i128)>,
    /// Numbers as they are written, and how.
    raws: HashMap<i128, NumberForm>,
    /// Groups of digits within names for machines.
    within: HashSet<i128>,
    days: HashSet<(Year, u8, u8)>,
    weekdays: HashSet<u8>,
    clocks: HashSet<u16>,
    /// Times that may be meant twelve hours later, and all times, without the half of the day.
    either_clocks: HashSet<u16>,
    any_clocks: HashSet<u16>,
    /// Numbers of names for machines.
    literals: HashSet<u64>,
    /// Those that may be hashes, of which people write the beginning.
    hashes: BTreeSet<Box<str>>,
    /// All of them, as they are told apart in sentences.
    pub(super) stems: HashSet<u32>,
}

/// How a number is written, here or there.
#[derive(Clone, Copy, Debug, Default)]
struct NumberForm {
    /// With nothing behind it that says what it is a number of.
    is_alone: bool,
    /// Before things that it counts.
    is_count: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Year {
    /// A year that is told.
    Is(u16),
    /// No year is told.
    Untold,
    /// Whether one is told or not.
    Any,
}

/// Beginnings of hashes that are taken for them.
const SHORTEST_HASH: usize = 7;

/// Amounts up to this one need their unit to be the same.
const SMALL: i128 = 20 * ONE;

impl Values {
    /// Notes a value.
    pub(super) fn note(&mut self, found: &FoundFact) {
        self.stems.extend(found.key.stem());
        match &found.key {
            Key::Amount(amount) => {
                self.amounts.insert((amount.dimension, amount.base));
                let written = self.raws.entry(amount.raw).or_default();
                written.is_count |= amount.is_count;
                written.is_alone |= amount.is_bare() && !amount.is_count;
            }
            Key::Day(day) => self.note_day(*day),
            Key::Weekday(day) => {
                self.weekdays.insert(*day);
            }
            Key::Clock(clock) => self.note_clock(*clock),
            Key::Literal(text) => self.note_literal(text),
            Key::Name { .. } | Key::Words(_) | Key::Rule(_) => {}
        }
    }

    fn note_day(&mut self, day: Day) {
        let year = day.year.map_or(Year::Untold, Year::Is);
        let turned = Day { month: day.day, day: day.month, ..day };
        for day in [day].into_iter().chain(Some(turned).filter(|_| day.is_either)) {
            let (month, date) = (day.month.unwrap_or(0), day.day.unwrap_or(0));
            for year in [year, Year::Any] {
                self.days.extend([(year, month, date), (year, month, 0), (year, 0, date)]);
            }
            self.days.insert((year, 0, 0));
        }
    }

    fn note_clock(&mut self, clock: Clock) {
        self.clocks.insert(clock.minutes);
        self.any_clocks.insert(clock.minutes % 720);
        if clock.is_either {
            self.either_clocks.insert(clock.minutes % 720);
        }
    }

    fn note_literal(&mut self, text: &str) {
        const SHORTEST: usize = 3;
        self.literals.insert(number(text));
        if is_hash(text) {
            self.hashes.insert(text.into());
        }
        let groups =
            text.split(|c: char| !c.is_ascii_digit()).filter(|group| (SHORTEST..=12).contains(&group.len()));
        self.within.extend(groups.filter_map(|group| group.parse::<i128>().ok()).map(|number| number * ONE));
    }

    /// Returns whether there is a value that a reader takes for the same; `None` if the key is no value.
    pub(super) fn has(&self, key: &Key) -> Option<bool> {
        Some(match key {
            Key::Amount(amount) => self.has_amount(amount),
            Key::Day(day) => self.has_day(*day),
            Key::Weekday(day) => self.weekdays.contains(day),
            Key::Clock(clock) => self.has_clock(*clock),
            Key::Literal(text) => self.has_literal(text),
            Key::Name { .. } | Key::Words(_) | Key::Rule(_) => return None,
        })
    }

    fn has_amount(&self, amount: &Quantity) -> bool {
        if self.amounts.contains(&(amount.dimension, amount.base)) {
            return true;
        }
        let here = self.raws.get(&amount.raw).copied();
        if amount.is_count {
            return here.is_some_and(|here| here.is_alone || here.is_count);
        }
        if !amount.is_bare() {
            return here.is_some_and(|here| here.is_alone) && amount.raw.abs() > SMALL;
        }
        // A number may have lost its unit, or be a year or an hour.
        let whole = u16::try_from(amount.raw / ONE).ok().filter(|_| amount.raw % ONE == 0);
        let is_moment = |number: u16| {
            let is_hour = number <= 24 && self.any_clocks.contains(&(number * 60 % 720));
            is_hour || self.days.contains(&(Year::Is(number), 0, 0))
        };
        here.is_some() || whole.is_some_and(is_moment)
    }

    fn has_day(&self, day: Day) -> bool {
        let turned = Day { month: day.day, day: day.month, ..day };
        let is_here = |day: Day| {
            let (month, date) = (day.month.unwrap_or(0), day.day.unwrap_or(0));
            match day.year {
                Some(year) if month == 0 => {
                    self.days.contains(&(Year::Is(year), 0, 0))
                        || self.raws.contains_key(&(i128::from(year) * ONE))
                }
                Some(year) => {
                    self.days.contains(&(Year::Is(year), month, date))
                        || self.days.contains(&(Year::Untold, month, date))
                }
                None => self.days.contains(&(Year::Any, month, date)),
            }
        };
        is_here(day) || (day.is_either && is_here(turned))
    }

    fn has_clock(&self, clock: Clock) -> bool {
        let half = clock.minutes % 720;
        self.clocks.contains(&clock.minutes)
            || self.either_clocks.contains(&half)
            || (clock.is_either && self.any_clocks.contains(&half))
    }

    fn has_literal(&self, text: &str) -> bool {
        self.is_literal(text)
            || text.parse::<i128>().is_ok_and(|number| self.raws.contains_key(&(number.saturating_mul(ONE))))
    }

    /// Returns whether something for machines stands there by itself.
    pub(super) fn is_literal(&self, text: &str) -> bool {
        self.literals.contains(&number(text))
    }

    /// Returns whether a number without a unit is a part of something for machines.
    pub(super) fn has_within(&self, amount: &Quantity) -> bool {
        amount.is_bare() && self.within.contains(&amount.raw)
    }

    /// Returns whether something is the beginning of a hash.
    pub(super) fn has_beginning(&self, text: &str) -> bool {
        let from = (Bound::Included(text), Bound::Unbounded);
        is_hash(text) && self.hashes.range::<str, _>(from).next().is_some_and(|hash| hash.starts_with(text))
    }
}

fn is_hash(text: &str) -> bool {
    text.len() >= SHORTEST_HASH && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn number(text: &str) -> u64 {
    Fingerprint::default().text(text).as_u64()
}
