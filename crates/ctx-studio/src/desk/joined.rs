//! Joins a draft with the changes of another program, entry by entry.

use std::collections::HashMap;

use ctx_project::drafts::{Edit, Lists, difference};
use ctx_types::internal::pointer_step;
use serde_json::Value;

use crate::api_files::Clash;

/// The author of a version of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Mine,
    Theirs,
}

impl Side {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Mine => Self::Theirs,
            Self::Theirs => Self::Mine,
        }
    }
}

/// Chooses the version of a clashing entry by its place; `None` if the user has not chosen.
pub(super) type Choose<'c> = &'c dyn Fn(&str) -> Option<Side>;

/// The versions of a value: the common origin, the draft, and the file. Without an origin, only entries that both sides
/// have can clash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versions<'v> {
    pub(super) base: Option<&'v Value>,
    pub(super) mine: Option<&'v Value>,
    pub(super) theirs: Option<&'v Value>,
}

/// Maximum number of edits and clashes of a join.
const MAX_EDITS: usize = 2_000;

/// Returns the edits that apply the draft's changes to the file, or the entries that both sides changed. `None` if
/// there are too many.
pub(super) fn joined(versions: Versions<'_>, choose: Choose<'_>) -> Option<Result<Vec<Edit>, Vec<Clash>>> {
    let mut join = Join { choose, edits: Vec::new(), clashes: Vec::new(), is_full: false };
    join.add("", "", Level::Container, versions);
    let Join { edits, clashes, is_full, .. } = join;
    if is_full || edits.len() + clashes.len() > MAX_EDITS {
        return None;
    }
    Some(if clashes.is_empty() { Ok(edits) } else { Err(clashes) })
}

impl<'v> Versions<'v> {
    fn at(self, key: &str) -> Self {
        let [base, mine, theirs] =
            [self.base, self.mine, self.theirs].map(|value| value.and_then(|value| value.get(key)));
        Self { base, mine, theirs }
    }

    /// Returns the items by id, or by index if the lists have the same length. `None` if neither works.
    fn items(self) -> Option<[Items<'v>; 3]> {
        let list = |value: Option<&'v Value>| value.and_then(Value::as_array);
        let lists = [list(self.base), Some(list(self.mine)?), Some(list(self.theirs)?)];
        let by_id =
            lists.map(|list| Items::new(list.map(Vec::as_slice).unwrap_or_default(), |_, item| id_of(item)));
        if let [Some(base), Some(mine), Some(theirs)] = by_id {
            return Some([base, mine, theirs]);
        }
        let length = |list: Option<&Vec<Value>>| list.map_or(0, Vec::len);
        if lists.iter().any(|list| length(*list) != length(lists[1])) {
            return None;
        }
        let by_index = lists.map(|list| {
            Items::new(list.map(Vec::as_slice).unwrap_or_default(), |index, _| Some(index.to_string()))
        });
        let [base, mine, theirs] = by_index;
        Some([base?, mine?, theirs?])
    }
}

/// The items of a list, by name.
struct Items<'v> {
    names: Vec<String>,
    values: HashMap<String, &'v Value>,
}

impl<'v> Items<'v> {
    fn new(list: &'v [Value], name: impl Fn(usize, &Value) -> Option<String>) -> Option<Self> {
        let names: Vec<String> =
            list.iter().enumerate().map(|(index, item)| name(index, item)).collect::<Option<_>>()?;
        let values: HashMap<String, &Value> = names.iter().cloned().zip(list).collect();
        (values.len() == names.len()).then_some(Self { names, values })
    }

    fn get(&self, name: &str) -> Option<&'v Value> {
        self.values.get(name).copied()
    }
}

/// Whether a value contains entries, or is an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Container,
    Entry,
}

struct Join<'c> {
    choose: Choose<'c>,
    edits: Vec<Edit>,
    clashes: Vec<Clash>,
    /// Whether edits are missing, since a list needs too many.
    is_full: bool,
}

impl Join<'_> {
    /// Joins a value. `place` is its name in clashes; `at` is its pointer in the file.
    fn add(&mut self, place: &str, at: &str, level: Level, versions: Versions<'_>) {
        if versions.mine == versions.theirs || versions.mine == versions.base {
            return;
        }
        let is_container = level == Level::Container;
        if let (Some(Value::Object(mine)), Some(Value::Object(theirs)), true) =
            (versions.mine, versions.theirs, is_container)
        {
            // Members of a worldbook's `entries` are entries, like the items of a list.
            let below = if place == "/entries" { Level::Entry } else { Level::Container };
            let keys = mine.keys().chain(theirs.keys().filter(|key| !mine.contains_key(*key)));
            for key in keys {
                let pointer = format!("{at}/{}", pointer_step(key));
                self.add(&format!("{place}/{key}"), &pointer, below, versions.at(key));
            }
        } else if is_container && let Some(items) = versions.items() {
            self.add_items(place, at, &items);
        } else {
            self.add_whole(place, at, versions);
        }
    }

    fn add_whole(&mut self, place: &str, at: &str, Versions { base, mine, theirs }: Versions<'_>) {
        let is_theirs = theirs != base && self.side(place, mine, theirs) == Side::Theirs;
        let pointer = at.to_owned();
        match (theirs, mine) {
            _ if is_theirs => {}
            (Some(theirs), Some(mine)) => self.edits.extend(difference(theirs, mine, at, Lists::Items)),
            (None, Some(mine)) => self.edits.push(Edit::Set { pointer, value: mine.clone() }),
            (Some(_), None) => self.edits.push(Edit::Remove { pointer }),
            (None, None) => {}
        }
    }

    /// Returns the chosen version of an entry that both sides changed.
    fn side(&mut self, place: &str, mine: Option<&Value>, theirs: Option<&Value>) -> Side {
        let chosen = (self.choose)(place);
        if chosen.is_none() {
            let (mine, theirs) = (mine.cloned(), theirs.cloned());
            self.clashes.push(Clash { place: place.to_owned(), mine, theirs });
        }
        chosen.unwrap_or(Side::Mine)
    }

    fn add_items(&mut self, place: &str, at: &str, [base, mine, theirs]: &[Items<'_>; 3]) {
        let wanted = self.wanted(place, [base, mine, theirs]);
        let places: HashMap<&String, usize> = wanted.iter().zip(0..).collect();
        // Place of each item of the file in the joined list. `None` if it is removed.
        let there: Vec<Option<usize>> = theirs.names.iter().map(|name| places.get(name).copied()).collect();
        let mut now: Vec<usize> = there.iter().flatten().copied().collect();
        let stays = rising(&now, wanted.len());
        let changed = there.len() - now.len() + stays.iter().filter(|stays| !**stays).count();
        if self.edits.len() + changed > MAX_EDITS {
            self.is_full = true;
            return;
        }
        let removed = there.iter().enumerate().rev().filter(|(_, place)| place.is_none());
        self.edits.extend(removed.map(|(index, _)| Edit::Remove { pointer: format!("{at}/{index}") }));
        for (index, name) in wanted.iter().enumerate().filter(|(index, _)| !stays[*index]) {
            let from = now.iter().position(|other| *other == index);
            if let Some(from) = from {
                now.remove(from);
            }
            // All items before it are in order now.
            let before =
                index.checked_sub(1).and_then(|before| now.iter().position(|other| *other == before));
            let to = before.map_or(0, |before| before + 1);
            if let Some(from) = from {
                self.edits.push(Edit::Move { pointer: format!("{at}/{from}"), to });
            } else if let Some(value) = mine.get(name) {
                self.edits.push(Edit::Insert { pointer: format!("{at}/{to}"), value: value.clone() });
            }
            now.insert(to, index);
        }
        for (index, name) in wanted.iter().enumerate() {
            let versions = Versions { base: base.get(name), mine: mine.get(name), theirs: theirs.get(name) };
            if versions.mine.is_some() && versions.theirs.is_some() {
                self.add(&format!("{place}/{name}"), &format!("{at}/{index}"), Level::Entry, versions);
            }
        }
    }

    /// Returns the names of the joined list, in order. If both sides moved items, uses the draft's order.
    fn wanted(&mut self, place: &str, [base, mine, theirs]: [&Items<'_>; 3]) -> Vec<String> {
        let is_moved = {
            let places: HashMap<&String, usize> = base.names.iter().zip(0..).collect();
            let common = mine.names.iter().filter(|name| theirs.get(name).is_some());
            !common.filter_map(|name| places.get(name)).is_sorted()
        };
        let (first, second) = if is_moved { (mine, theirs) } else { (theirs, mine) };
        // Items of the second list only, by the item of both lists that they follow.
        let mut runs: HashMap<Option<&String>, Vec<&String>> = HashMap::new();
        let mut before = None;
        for name in &second.names {
            if first.get(name).is_some() {
                before = Some(name);
            } else {
                runs.entry(before).or_default().push(name);
            }
        }
        let mut wanted: Vec<String> = Vec::new();
        for name in std::iter::once(None).chain(first.names.iter().map(Some)) {
            wanted.extend(name.cloned());
            wanted.extend(runs.get(&name).into_iter().flatten().copied().cloned());
        }
        wanted.retain(|name| {
            let (was, mine, theirs) = (base.get(name), mine.get(name), theirs.get(name));
            match (was, mine, theirs) {
                (Some(was), Some(mine), None) => {
                    was != mine && self.side(&format!("{place}/{name}"), Some(mine), None) == Side::Mine
                }
                (Some(was), None, Some(theirs)) => {
                    was != theirs && self.side(&format!("{place}/{name}"), None, Some(theirs)) == Side::Theirs
                }
                _ => true,
            }
        });
        wanted
    }
}

/// Returns which of `count` numbers are in a longest rising sequence of a list without duplicates. O(n log n).
fn rising(list: &[usize], count: usize) -> Vec<bool> {
    // For each length, the index of the smallest end of a sequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(list.len());
    for (index, number) in list.iter().enumerate() {
        let shorter = ends.partition_point(|end| list[*end] < *number);
        previous.push(shorter.checked_sub(1).map(|last| ends[last]));
        if shorter == ends.len() {
            ends.push(index);
        } else {
            ends[shorter] = index;
        }
    }
    let mut is_in = vec![false; count];
    let mut next = ends.last().copied();
    while let Some(index) = next {
        is_in[list[index]] = true;
        next = previous[index];
    }
    is_in
}

/// Returns the id of an entry.
fn id_of(item: &Value) -> Option<String> {
    let id = item.get("id").or_else(|| item.get("uid"))?;
    id.as_str().map(str::to_owned).or_else(|| id.as_u64().map(|id| id.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::subsequence;
    use serde_json::json;

    use super::*;

    /// Joins three lists of entries; the names of clashes where there are any.
    #[track_caller]
    fn check(base: &Value, mine: &Value, theirs: &Value, expected: Result<Value, &[&str]>) {
        let whole = |list: &Value| json!({ "name": "Ada", "presetMessages": list });
        let [base, mine, theirs] = [base, mine, theirs].map(whole);
        let versions = Versions { base: Some(&base), mine: Some(&mine), theirs: Some(&theirs) };
        let made = joined(versions, &|_| None).unwrap().map(|edits| {
            let mut value = theirs.clone();
            for edit in edits {
                edit.apply(&mut value).unwrap();
            }
            value["presetMessages"].clone()
        });
        let places = made.map_err(|all| all.into_iter().map(|clash| clash.place).collect::<Vec<_>>());
        let expected =
            expected.map_err(|all| all.iter().map(|id| format!("/presetMessages/{id}")).collect::<Vec<_>>());
        assert_eq!(places, expected);
    }

    fn entry(id: &str, text: &str) -> Value {
        json!({ "id": id, "content": text })
    }

    #[test]
    fn takes_each_entry_from_the_side_that_changed_it() {
        let [a, b, c] = ["a", "b", "c"].map(|id| entry(id, "old"));
        let base = json!([a, b, c]);
        let (mine, theirs) = (entry("a", "mine"), entry("c", "theirs"));
        check(&base, &json!([mine, b, c]), &json!([a, b, theirs]), Ok(json!([mine, b, theirs])));
        check(&base, &json!([mine, b, c]), &json!([c, b, a]), Ok(json!([c, b, mine])));
        check(&base, &json!([c, b, a]), &json!([a, b, theirs]), Ok(json!([theirs, b, a])));
        check(&base, &json!([a, c]), &json!([a, b, theirs]), Ok(json!([a, theirs])));
        check(&base, &json!([mine, b, c]), &json!([a, c]), Ok(json!([mine, c])));
        let (new, other) = (entry("n", "mine"), entry("o", "theirs"));
        check(&base, &json!([a, new, b, c]), &json!([a, b, c, other]), Ok(json!([a, new, b, c, other])));
        check(&base, &json!([new, a, b, c]), &json!([c, b, a]), Ok(json!([new, c, b, a])));
    }

    #[test]
    fn asks_about_entries_that_both_changed() {
        let [a, b] = ["a", "b"].map(|id| entry(id, "old"));
        let base = json!([a, b]);
        let (mine, theirs) = (entry("a", "mine"), entry("a", "theirs"));
        check(&base, &json!([mine, b]), &json!([b, theirs]), Err(&["a"]));
        check(&base, &json!([mine, b]), &json!([b]), Err(&["a"]));
        check(&base, &json!([b]), &json!([theirs, b]), Err(&["a"]));
        check(&base, &json!([mine, b]), &json!([mine, b]), Ok(json!([mine, b])));
    }

    #[test]
    fn takes_the_chosen_side() {
        let [base, mine, theirs] =
            ["old", "mine", "theirs"].map(|text| json!({ "entries": { "0": entry("0", text) } }));
        let versions = Versions { base: Some(&base), mine: Some(&mine), theirs: Some(&theirs) };
        assert_eq!(joined(versions, &|_| None).unwrap().unwrap_err()[0].place, "/entries/0");
        assert_eq!(joined(versions, &|_| Some(Side::Theirs)).unwrap().unwrap(), []);
        let set = Edit::Set { pointer: "/entries/0/content".to_owned(), value: json!("mine") };
        assert_eq!(joined(versions, &|_| Some(Side::Mine)).unwrap().unwrap(), [set]);
        let unknown = Versions { base: None, ..versions };
        assert_eq!(joined(unknown, &|_| None).unwrap().unwrap_err()[0].place, "/entries/0");
    }

    fn list(ids: impl Iterator<Item = usize>) -> Value {
        json!({ "list": ids.map(|id| entry(&id.to_string(), "old")).collect::<Vec<_>>() })
    }

    /// Joins three lists of ids; the number of edits, and the list.
    fn join_lists(base: &Value, mine: &Value, theirs: &Value) -> Option<(usize, Value)> {
        let versions = Versions { base: Some(base), mine: Some(mine), theirs: Some(theirs) };
        let edits = joined(versions, &|_| None)?.unwrap();
        let mut value = theirs.clone();
        for edit in &edits {
            edit.apply(&mut value).unwrap();
        }
        Some((edits.len(), value))
    }

    #[test]
    fn moves_few_items_of_long_list() {
        let (half, all) = (50_000, 100_000);
        let base = list(0..half);
        let mine = list((1..half).chain([0]));
        let expected = list((1..all).chain([0]));
        let joined = join_lists(&base, &mine, &list(0..all));
        // Not compared by `assert_eq!`, which would print both.
        assert!(joined.is_some_and(|(count, made)| count == 1 && made == expected));
        let mine = list(0..half - 1);
        let theirs = list((0..half).rev());
        let joined = join_lists(&base, &mine, &theirs);
        assert!(joined.is_some_and(|(count, made)| count == 1 && made == list((0..half - 1).rev())));
    }

    #[test]
    fn refuses_too_many_edits() {
        let count = 50_000;
        let base = list(0..count);
        for mine in [list((0..count).rev()), list(0..2 * count), list(0..0)] {
            assert!(join_lists(&base, &mine, &base).is_none());
        }
    }

    fn any_ids() -> impl Strategy<Value = Vec<usize>> {
        subsequence((0..12).collect::<Vec<usize>>(), 0..=12).prop_shuffle()
    }

    proptest! {
        #[test]
        fn makes_list_of_draft_from_unchanged_file(base in any_ids(), mine in any_ids()) {
            let [base, mine] = [base, mine].map(|ids| list(ids.into_iter()));
            let (_, made) = join_lists(&base, &mine, &base).unwrap();
            prop_assert_eq!(made, mine);
        }
    }
}
