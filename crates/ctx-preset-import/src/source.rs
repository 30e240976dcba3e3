//! Documents during conversion: readers mark the values that they take, and the rest is kept as subtrees.

use std::borrow::Cow;
use std::cell::RefCell;

use ctx_types::codes::WRONG_TYPE;
use ctx_types::{Persist, Reader};
use serde_json::Value;

use crate::loose::{Object, number_of, whole_of};
use crate::report::{FieldStatus, NOT_READ};

/// A value of a document, with its conversion result.
#[derive(Debug)]
pub(crate) struct SourceNode<'v> {
    pub(crate) value: &'v Value,
    /// Items of a list, or values of an object.
    pub(crate) children: Vec<SourceNode<'v>>,
    pub(crate) outcome: RefCell<Option<Outcome>>,
    /// Set where fields below go to another place than fields around them.
    pub(crate) place: RefCell<Option<Box<Place>>>,
}

/// Conversion result of a value. Without a result, a value is kept.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) status: FieldStatus,
    /// Its new path, below the place of the fields around it. `None` means the same path as in the document.
    pub(crate) to: Option<Cow<'static, str>>,
    pub(crate) note: Option<&'static str>,
    /// Whether sent messages do not change although the value is approximated.
    pub(crate) is_equivalent: bool,
    /// Whether this is also the outcome of values below, except for those with their own outcome.
    pub(crate) is_whole: bool,
}

impl Outcome {
    /// A value without a note is mapped, another one approximated.
    fn taken(note: Option<&'static str>, to: Option<Cow<'static, str>>) -> Self {
        let status = if note.is_some() { FieldStatus::Approximated } else { FieldStatus::Mapped };
        Self { status, to, note, is_equivalent: false, is_whole: false }
    }

    pub(crate) fn new_kept(note: &'static str) -> Self {
        Self { status: FieldStatus::Kept, is_whole: true, ..Self::taken(Some(note), None) }
    }
}

/// Places for the fields below a value.
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// Place of taken fields.
    pub(crate) to: Option<String>,
    /// Place of fields that are not taken.
    pub(crate) kept: Option<String>,
    /// Whether the keys of the object are names, which reports write as `*`.
    pub(crate) has_names: bool,
}

impl<'v> SourceNode<'v> {
    pub(crate) fn new(value: &'v Value) -> Self {
        let children = match value {
            Value::Array(items) => items.iter().map(Self::new).collect(),
            Value::Object(map) => map.values().map(Self::new).collect(),
            _ => Vec::new(),
        };
        Self { value, children, outcome: RefCell::default(), place: RefCell::default() }
    }

    pub(crate) fn source(&self) -> Source<'_> {
        Source(Some(self))
    }
}

/// A place in a document, which may be empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source<'v>(Option<&'v SourceNode<'v>>);

/// A field that was read as one type.
#[derive(Debug)]
pub(crate) struct Field<'v, T> {
    source: Source<'v>,
    /// The value, if it has the type. `None` for null too.
    read: Option<T>,
    note: Option<&'static str>,
    is_equivalent: bool,
}

impl<'v> Source<'v> {
    /// Returns the value at a path below this place.
    pub(crate) fn at(self, path: &str) -> Self {
        path.split('/').fold(self, Self::field)
    }

    /// Returns a field, whose name may have any letters.
    pub(crate) fn field(self, key: &str) -> Self {
        let number = self.object().and_then(|object| object.keys().position(|own| own == key));
        number.map_or(Self(None), |number| self.item(number))
    }

    /// Returns the fields of an object.
    pub(crate) fn fields(self) -> impl Iterator<Item = (&'v str, Self)> {
        self.object().into_iter().flat_map(|object| object.keys()).map(String::as_str).zip(self.children())
    }

    /// Returns the items of a list, each with its number.
    pub(crate) fn items(self) -> impl Iterator<Item = (usize, Self)> {
        let is_list = self.value().is_some_and(Value::is_array);
        self.children().filter(move |_| is_list).enumerate()
    }

    /// Returns the items of a list that are objects, each with its number.
    pub(crate) fn objects(self) -> impl Iterator<Item = (usize, Self)> {
        self.items().filter(|(_, item)| item.object().is_some())
    }

    /// Returns the items of a list, or the values of an object.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> {
        self.0.into_iter().flat_map(|node| &node.children).map(|node| Self(Some(node)))
    }

    /// Returns an item of a list, or the value of this number in an object.
    pub(crate) fn item(self, number: usize) -> Self {
        Self(self.0.and_then(|node| node.children.get(number)))
    }

    /// Returns the value at a JSON pointer below this place.
    pub(crate) fn at_pointer(self, pointer: &str) -> Self {
        let step = |around: Self, step: &str| match around.value() {
            Some(Value::Array(_)) => step.parse().map_or(Self(None), |number| around.item(number)),
            _ => around.field(&ctx_types::internal::pointer_key(step)),
        };
        pointer.split('/').skip(1).fold(self, step)
    }

    pub(crate) fn value(self) -> Option<&'v Value> {
        self.0.map(|node| node.value)
    }

    pub(crate) fn object(self) -> Option<&'v Object> {
        self.value()?.as_object()
    }

    pub(crate) fn as_bool(self) -> Option<bool> {
        self.value()?.as_bool()
    }

    pub(crate) fn as_whole(self) -> Option<i64> {
        self.value().and_then(whole_of)
    }

    pub(crate) fn as_str(self) -> Option<&'v str> {
        self.value()?.as_str()
    }

    /// Returns whether both are the same place of a document.
    pub(crate) fn is(self, other: Self) -> bool {
        self.0.zip(other.0).is_some_and(|(one, other)| std::ptr::eq(one, other))
    }

    /// Returns this place, or an empty place if its value is null.
    pub(crate) fn filled(self) -> Self {
        Self(self.0.filter(|node| !node.value.is_null()))
    }

    /// Returns this place, or another one if nothing is there.
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0))
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

    /// Reads a list, or one text in place of a list.
    pub(crate) fn list_or_text(self) -> Field<'v, &'v Value> {
        self.read(|value| Some(value).filter(|value| value.is_array() || value.is_string()))
    }

    /// Takes a list of texts, or one text.
    pub(crate) fn texts(self, to: &'static str) {
        self.list_or_text().into(to);
        self.each_text(to);
    }

    /// Takes the texts of a list.
    pub(crate) fn each_text(self, to: &'static str) {
        self.refuse_fields();
        for (_, item) in self.items() {
            item.text().into(to);
        }
    }

    /// Reports that the fields of an object in the place of a list are not read.
    pub(crate) fn refuse_fields(self) {
        self.fields().for_each(|(_, field)| field.keep(NOT_READ));
    }

    /// Sets the place of taken fields below this place.
    pub(crate) fn lead_to(self, place: impl Into<String>) -> Self {
        self.set_place(|own| own.to = Some(place.into()));
        self
    }

    /// Sets the place of fields that are not taken, at this place or below it.
    pub(crate) fn keep_at(self, place: impl Into<String>) -> Self {
        self.set_place(|own| own.kept = Some(place.into()));
        self
    }

    /// Reports that the keys of this object are names, not fields.
    pub(crate) fn with_names(self) -> Self {
        self.set_place(|own| own.has_names = true);
        self
    }

    fn set_place(self, set: impl FnOnce(&mut Place)) {
        if let Some(node) = self.0 {
            set(node.place.borrow_mut().get_or_insert_default());
        }
    }

    fn set(self, outcome: Outcome) {
        if let Some(node) = self.0 {
            node.outcome.replace(Some(outcome));
        }
    }

    fn set_whole(self, outcome: Outcome) {
        self.set(Outcome { is_whole: true, ..outcome });
    }

    /// Explains why this value is only kept, with all values below it that have no other result.
    pub(crate) fn keep(self, note: &'static str) {
        self.set(Outcome::new_kept(note));
    }

    /// Reports that this value is lost, with all values below it.
    pub(crate) fn reject(self, note: &'static str) {
        self.set(Outcome { status: FieldStatus::Unsupported, ..Outcome::new_kept(note) });
    }

    /// Takes this value with all values below it. Its path stays the same.
    pub(crate) fn stay(self) {
        self.set_whole(Outcome::taken(None, None));
    }

    /// Takes fields with all values below them. Their paths stay the same.
    pub(crate) fn stay_each(self, keys: &[&str]) {
        for (_, field) in self.fields().filter(|(key, _)| keys.contains(key)) {
            field.stay();
        }
    }

    /// As [`Self::stay`], for a value with nearly the same meaning.
    pub(crate) fn stay_approximated(self, note: &'static str) {
        self.set_whole(Outcome::taken(Some(note), None));
    }

    /// Takes this value without the values below it. Its path stays the same.
    pub(crate) fn divide(self) {
        self.set(Outcome::taken(None, None));
    }

    /// Takes this value with all values below it. Together they become another field.
    pub(crate) fn approximate_all(self, note: &'static str, to: &'static str) {
        self.set_whole(Outcome::taken(Some(note), Some(to.into())));
    }

    /// As [`Self::approximate_all`], for values that do not change sent messages.
    pub(crate) fn equate_all(self, note: &'static str, to: &'static str) {
        self.set_whole(Outcome { is_equivalent: true, ..Outcome::taken(Some(note), Some(to.into())) });
    }

    /// Reports that a data type does not read some fields, which are only kept.
    pub(crate) fn refuse_unread<N: Persist>(self, is_asked: impl Fn(&str) -> bool) {
        let fields = self.object().into_iter().flatten().filter(|(key, _)| is_asked(key));
        let fields = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut reader = Reader::new();
        N::read(Value::Object(fields), &mut reader);
        for finding in reader.finish().into_iter().filter(|finding| finding.code == WRONG_TYPE) {
            self.at_pointer(finding.location.pointer.as_deref().unwrap_or_default()).keep(NOT_READ);
        }
    }

    fn read<T>(self, read: impl FnOnce(&'v Value) -> Option<T>) -> Field<'v, T> {
        Field { source: self, read: self.value().and_then(read), note: None, is_equivalent: false }
    }
}

impl<T> Field<'_, T> {
    /// Describes the difference to the original.
    pub(crate) fn approximated(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    /// Describes another notation, or why the value does not change sent messages.
    pub(crate) fn equivalent(self, note: &'static str) -> Self {
        Self { is_equivalent: true, ..self.approximated(note) }
    }

    /// Returns the value, and reports its new path.
    pub(crate) fn into(self, to: impl Into<Cow<'static, str>>) -> Option<T> {
        self.take(Some(to.into()))
    }

    /// Returns the value, and reports that its path stays the same.
    pub(crate) fn stay(self) -> Option<T> {
        self.take(None)
    }

    fn take(self, to: Option<Cow<'static, str>>) -> Option<T> {
        let Self { source, read, note, is_equivalent } = self;
        let is_unread = read.is_none() && source.value().is_some_and(|value| !value.is_null());
        source.set(if is_unread {
            Outcome::new_kept(NOT_READ)
        } else {
            Outcome { is_equivalent, ..Outcome::taken(note, to) }
        });
        read
    }
}
