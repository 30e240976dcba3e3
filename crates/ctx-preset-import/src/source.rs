//! Documents from which importers take fields: what is taken is converted and recorded in one step.

use std::borrow::Cow;

use ctx_types::codes::WRONG_TYPE;
use ctx_types::{Persist, Reader};
use serde_json::Value;

use crate::loose::{Object, number_of, whole_of};
use crate::record::{Claim, Record, Sureness, Tail};
use crate::report::{FieldStatus, NOT_READ, NOWHERE};

/// A place in a document, at which there may be nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'v> {
    value: Option<&'v Value>,
    /// The object at the top of a document that is nothing but one.
    top: Option<&'v Object>,
    /// Where it is recorded what is taken; none for a reader that makes no report.
    record: Option<&'v Record>,
}

/// A field that was read as one type.
#[derive(Debug)]
pub(crate) struct Field<'v, T> {
    source: Source<'v>,
    /// What was read; nothing for null too, which has each type.
    read: Option<T>,
    note: Option<&'static str>,
    is_unsure: bool,
    is_alike: bool,
}

impl<'v> Source<'v> {
    pub(crate) fn new(document: &'v Value, record: &'v Record) -> Self {
        Self { value: Some(document), top: None, record: Some(record) }
    }

    /// Reads without a record.
    pub(crate) fn unrecorded(document: &'v Value) -> Self {
        Self { value: Some(document), top: None, record: None }
    }

    /// Reads an object without a record.
    pub(crate) fn of_object(document: &'v Object) -> Self {
        Self { value: None, top: Some(document), record: None }
    }

    /// Returns the place of a value that was found below this one.
    pub(crate) fn found(self, value: Option<&'v Value>) -> Self {
        Self { value, top: None, ..self }
    }

    /// Returns what is at some steps below this place.
    pub(crate) fn at(self, path: &str) -> Self {
        match path.split_once('/') {
            Some((step, rest)) => self.field(step).at(rest),
            None => self.field(path),
        }
    }

    /// Returns a field, whose name may have any letters.
    pub(crate) fn field(self, key: &str) -> Self {
        self.found(self.object().and_then(|object| object.get(key)))
    }

    /// Returns the fields of an object.
    pub(crate) fn fields(self) -> impl Iterator<Item = (&'v str, Self)> {
        let fields = self.object().into_iter().flatten();
        fields.map(move |(key, value)| (key.as_str(), self.found(Some(value))))
    }

    /// Returns the items of a list, each with its number.
    pub(crate) fn items(self) -> impl Iterator<Item = (usize, Self)> {
        let items = self.value.and_then(Value::as_array).into_iter().flatten();
        items.enumerate().map(move |(index, item)| (index, self.found(Some(item))))
    }

    /// Returns an item of a list.
    pub(crate) fn item(self, index: usize) -> Self {
        self.found(self.value.and_then(|value| value.get(index)))
    }

    /// Returns what is at a JSON pointer below this place.
    pub(crate) fn at_pointer(self, pointer: &str) -> Self {
        self.found(self.value.and_then(|value| value.pointer(pointer)))
    }

    /// Returns the items of a list, or the values of an object.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> {
        self.items().map(|(_, item)| item).chain(self.fields().map(|(_, field)| field))
    }

    pub(crate) fn value(self) -> Option<&'v Value> {
        self.value
    }

    pub(crate) fn is_null(self) -> bool {
        self.value.is_some_and(Value::is_null)
    }

    /// Returns a switch that is not taken here.
    pub(crate) fn as_bool(self) -> Option<bool> {
        self.value?.as_bool()
    }

    /// Returns the items of a list that are objects, each with its number.
    pub(crate) fn objects(self) -> impl Iterator<Item = (usize, Self)> {
        self.items().filter(|(_, item)| item.object().is_some())
    }

    /// Returns a whole number that is not taken here.
    pub(crate) fn as_whole(self) -> Option<i64> {
        self.value.and_then(whole_of)
    }

    /// Returns a text that is not taken here.
    pub(crate) fn as_str(self) -> Option<&'v str> {
        self.value?.as_str()
    }

    pub(crate) fn object(self) -> Option<&'v Object> {
        self.top.or_else(|| self.value?.as_object())
    }

    pub(crate) fn text(self) -> Field<'v, &'v str> {
        self.read(Value::as_str)
    }

    /// Reads a text that is one of these.
    pub(crate) fn named(self, names: &[&str]) -> Field<'v, &'v str> {
        self.read(|value| value.as_str().filter(|text| names.contains(text)))
    }

    /// Reads a number, also one in quotes.
    pub(crate) fn number(self) -> Field<'v, f64> {
        self.read(number_of)
    }

    /// Reads a number, and no text that is one.
    pub(crate) fn plain_number(self) -> Field<'v, &'v Value> {
        self.read(|value| Some(value).filter(|value| value.is_number()))
    }

    /// Reads a whole number that is not below another, also one in quotes.
    pub(crate) fn whole(self, least: i64) -> Field<'v, i64> {
        self.whole_that(|whole| whole >= least)
    }

    /// Reads one of these whole numbers, also one in quotes.
    pub(crate) fn among(self, numbers: &[i64]) -> Field<'v, i64> {
        self.whole_that(|whole| numbers.contains(&whole))
    }

    /// Reads a whole number that fits, also one in quotes.
    pub(crate) fn whole_that(self, fits: impl Fn(i64) -> bool) -> Field<'v, i64> {
        self.read(|value| whole_of(value).filter(|whole| fits(*whole)))
    }

    pub(crate) fn flag(self) -> Field<'v, bool> {
        self.read(Value::as_bool)
    }

    /// Reads a switch, also as a number or in quotes.
    pub(crate) fn switch(self) -> Field<'v, &'v Value> {
        self.read(|value| {
            Some(value).filter(|value| value.is_boolean() || value.is_number() || value.is_string())
        })
    }

    /// Reads a number or a text.
    pub(crate) fn scalar(self) -> Field<'v, &'v Value> {
        self.read(|value| Some(value).filter(|value| value.is_number() || value.is_string()))
    }

    pub(crate) fn list(self) -> Field<'v, &'v [Value]> {
        self.read(|value| value.as_array().map(Vec::as_slice))
    }

    pub(crate) fn any(self) -> Field<'v, &'v Value> {
        self.read(Some)
    }

    /// Reads a list of texts, or one text, and records the texts of the list one by one.
    pub(crate) fn texts(self, to: &'static str) {
        self.list_or_text().into(to);
        self.each_text(to);
    }

    /// Reads a list, or one text that stands for one.
    pub(crate) fn list_or_text(self) -> Field<'v, &'v Value> {
        self.read(|value| Some(value).filter(|value| value.is_array() || value.is_string()))
    }

    /// Records the texts of a list one by one.
    pub(crate) fn each_text(self, to: &'static str) {
        self.refuse_fields();
        for (index, item) in self.items() {
            item.text().claim(Tail::Item(to, u32::try_from(index).unwrap_or(u32::MAX)));
        }
    }

    /// Reads a list of texts, or one text, of which one field is made.
    pub(crate) fn texts_together(self, to: &'static str) {
        self.list_or_text().into(to);
        self.refuse_fields();
        for (_, item) in self.items() {
            item.text().into(to);
        }
    }

    /// Records for the fields of an object that stands in the place of a list that nothing reads them.
    pub(crate) fn refuse_fields(self) {
        self.fields().for_each(|(_, field)| field.keep(NOT_READ));
    }

    /// Returns this place; a place without anything if null is there, of which nothing is made.
    pub(crate) fn filled(self) -> Self {
        self.found(self.value.filter(|value| !value.is_null()))
    }

    /// Returns this place, or another one if nothing is there.
    pub(crate) fn or(self, other: Self) -> Self {
        if self.value.is_some() { self } else { other }
    }

    /// Describes where all that is taken below this place goes: the places of its fields are below that.
    pub(crate) fn lead_to(self, place: impl Into<String>) -> Self {
        self.record(|record, value| record.lead_to(value, place.into()));
        self
    }

    /// Describes where all that is not taken at this place or below it is kept.
    pub(crate) fn keep_at(self, place: impl Into<String>) -> Self {
        self.record(|record, value| record.keep_at(value, place.into()));
        self
    }

    /// Reports that all that is not taken at this place or below it is kept below where it leads to.
    pub(crate) fn keep_below(self, place: &'static str) -> Self {
        self.record(|record, value| record.keep_below(value, place));
        self
    }

    /// Reports that what is recorded below this place is there whatever else is imported.
    pub(crate) fn for_sure(self) -> Self {
        self.record(|record, value| record.for_sure(value, Sureness::All));
        self
    }

    /// The same of what says something, but for items of lists, which move up where one before them is left out.
    pub(crate) fn for_sure_if_said(self) -> Self {
        self.record(|record, value| record.for_sure(value, Sureness::Said));
        self
    }

    /// Explains why this is kept and no more.
    pub(crate) fn keep(self, note: &'static str) {
        self.record(|record, value| record.claim(value, Claim::kept(note)));
    }

    /// Explains why this and all that is below it is kept and no more, but for what is taken by itself.
    pub(crate) fn keep_all(self, note: &'static str) {
        self.record(|record, value| record.keep_all(value, note));
    }

    /// Records that this is nowhere, since something else stands for it.
    pub(crate) fn lose(self) {
        self.lose_all(NOWHERE);
    }

    /// Records that this and all that is below it is nowhere.
    pub(crate) fn lose_all(self, note: &'static str) {
        let lost = Claim { status: FieldStatus::Unsupported, ..Claim::taken(Some(note), Tail::Same) };
        self.record(|record, value| record.claim_all(value, lost, false));
    }

    /// Records for fields of a noun that it does not read them, so that they are no more than kept; asks it for some
    /// fields.
    pub(crate) fn refuse_unread<N: Persist>(self, is_asked: impl Fn(&str) -> bool) {
        let fields = self.object().into_iter().flatten().filter(|(key, _)| is_asked(key));
        let fields = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut reader = Reader::new();
        N::read(Value::Object(fields), &mut reader);
        for finding in reader.finish().into_iter().filter(|finding| finding.code == WRONG_TYPE) {
            self.at_pointer(finding.location.pointer.as_deref().unwrap_or_default()).keep_all(NOT_READ);
        }
    }

    /// Takes this and all that is below it, which stands in the same way below another place.
    pub(crate) fn all_into(self, to: &'static str) {
        self.record(|record, value| record.claim_all(value, Claim::taken(None, Tail::Fixed(to)), true));
    }

    /// Takes this and all that is below it, which comes near to what is in the same way below another place.
    pub(crate) fn all_nearly(self, note: &'static str, to: String) {
        self.record(|record, value| record.claim_all(value, Claim::taken(Some(note), record.made(to)), true));
    }

    /// Takes this and all that is below it, which stays where it stands.
    pub(crate) fn stay(self) {
        self.record(|record, value| record.claim_all(value, Claim::taken(None, Tail::Same), false));
    }

    /// Takes fields, which stay where they stand.
    pub(crate) fn stay_each(self, keys: &[&str]) {
        for (_, field) in self.fields().filter(|(key, _)| keys.contains(key)) {
            field.stay();
        }
    }

    /// Takes this and all that is below it, which comes near to what stands there.
    pub(crate) fn nearly_stay(self, note: &'static str) {
        self.record(|record, value| record.claim_all(value, Claim::taken(Some(note), Tail::Same), false));
    }

    /// Takes this, which stays where it stands; of what is below it only what is taken by itself.
    pub(crate) fn stay_divided(self) {
        self.record(Record::divide);
        self.any().stay();
    }

    /// Takes this and all that is below it, of which another place is made.
    pub(crate) fn all_together(self, note: &'static str, to: &'static str) {
        self.record(|record, value| {
            record.claim_all(value, Claim::taken(Some(note), Tail::Fixed(to)), false);
        });
    }

    /// As [`Self::all_together`], where nothing of what is sent differs.
    pub(crate) fn all_alike(self, note: &'static str, to: &'static str) {
        self.record(|record, value| {
            let claim = Claim { is_alike: true, ..Claim::taken(Some(note), Tail::Fixed(to)) };
            record.claim_all(value, claim, false);
        });
    }

    fn read<T>(self, read: impl FnOnce(&'v Value) -> Option<T>) -> Field<'v, T> {
        Field { source: self, read: self.value.and_then(read), note: None, is_unsure: false, is_alike: false }
    }

    fn record(self, record: impl FnOnce(&Record, &Value)) {
        if let (Some(into), Some(value)) = (self.record, self.value) {
            record(into, value);
        }
    }
}

impl<T> Field<'_, T> {
    /// Describes how it differs where it goes.
    pub(crate) fn nearly(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    /// Describes how it is spelled where it goes, or that it says nothing of what is sent: nothing else differs.
    pub(crate) fn alike(self, note: &'static str) -> Self {
        Self { is_alike: true, ..self.nearly(note) }
    }

    /// Reports that it may be somewhere else after all.
    pub(crate) fn perhaps(self) -> Self {
        Self { is_unsure: true, ..self }
    }

    /// Returns what was read, and records that it is at a place.
    pub(crate) fn into(self, to: impl Into<Cow<'static, str>>) -> Option<T> {
        match to.into() {
            Cow::Borrowed(to) => self.claim(Tail::Fixed(to)),
            Cow::Owned(to) => {
                let tail = self.source.record.map(|record| record.made(to));
                self.claim(tail.unwrap_or(Tail::Fixed("")))
            }
        }
    }

    /// Returns what was read, and records that it stays where it stands.
    pub(crate) fn stay(self) -> Option<T> {
        self.claim(Tail::Same)
    }

    fn claim(self, tail: Tail) -> Option<T> {
        let Self { source, read, note, is_unsure, is_alike } = self;
        source.record(|record, value| {
            let claim = if read.is_none() && !value.is_null() {
                Claim::kept(NOT_READ)
            } else {
                Claim { is_unsure, is_alike, ..Claim::taken(note, tail) }
            };
            record.claim(value, claim);
        });
        read
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::Extent;

    #[test]
    fn what_is_taken_is_recorded_and_the_rest_is_kept() {
        let document = json!({
            "name": "Ada", "age": "x", "tags": ["a", 1], "deep": { "own": true, "a~/b": [] }, "odd": { "x": 1 }, "none": null,
        });
        let record = Record::default();
        let source = Source::new(&document, &record);
        assert_eq!(source.at("name").text().nearly("cut").into("/title"), Some("Ada"));
        assert_eq!(source.at("age").number().into("/age"), None);
        source.at("tags").texts("/tags");
        assert_eq!(source.at("deep/own").flag().into("/own"), Some(true));
        source.at("deep").keep_at("/deep/imported");
        source.at("odd").keep_all("not used");
        source.at("none").text().into("/none");
        source.at("not/there").text().into("/none");
        let rows = record.rows(&document, "/imported", Extent::default());
        let told: Vec<String> = rows
            .iter()
            .map(|row| {
                let note = row.note.map(|note| format!(" ({note})")).unwrap_or_default();
                format!("{} {} {}{note}", row.pointer, row.status, row.to.unwrap_or("-"))
            })
            .collect();
        assert_eq!(
            told,
            [
                "/name approximated /title (cut)",
                "/age kept /imported/age (no valid value in that application)",
                "/tags/0 mapped /tags/0",
                "/tags/1 kept /imported/tags/1 (no valid value in that application)",
                "/deep/own mapped /own",
                "/deep/a~0~1b kept /deep/imported/a~0~1b",
                "/odd/x kept /imported/odd/x (not used)",
                "/none mapped /none",
            ]
        );
    }
}
