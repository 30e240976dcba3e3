use std::sync::Arc;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, phrase};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

use crate::call::{Call, Failure};
use crate::codes;

impl Call<'_> {
    /// Time of the turn. Warns about an unknown time zone and uses UTC.
    pub(crate) fn now(&mut self) -> Result<Zoned, Failure> {
        let Some(millis) = self.env().at_millis else {
            return Err(Failure::new(Diagnostic::warning(
                codes::NO_TIME,
                phrase!("no time is given; `{name}` is left unchanged", name = self.definition().name),
            )));
        };
        let zone = self.zone();
        let millis = match &self.env().virtual_time {
            Some(clock) => clock.at(millis, &zone),
            None => Some(millis),
        };
        match millis.and_then(|millis| Timestamp::from_millisecond(millis).ok()) {
            Some(instant) => Ok(instant.to_zoned(zone)),
            None => Err(Failure::new(Diagnostic::warning(
                codes::NO_TIME,
                phrase!(
                    "the given time is out of range; `{name}` is left unchanged",
                    name = self.definition().name
                ),
            ))),
        }
    }

    /// Reports an unknown zone once per run.
    pub(crate) fn zone(&mut self) -> TimeZone {
        let Some(name) = &self.env().zone else {
            return TimeZone::UTC;
        };
        if let Some(known) = self.state.known_zone(name) {
            return known;
        }
        let zone = TimeZoneDatabase::bundled().get(name).unwrap_or_else(|_| {
            self.warn(
                codes::UNKNOWN_ZONE,
                phrase!("unknown time zone `{name}`; UTC is used", name = excerpt(name)),
            );
            TimeZone::UTC
        });
        self.state.remember_zone(Arc::clone(name), zone.clone());
        zone
    }
}
