//! Carrying an edit over others that were made meanwhile: what touches other values stays, indexes of lists shift.

use ctx_project::drafts::Edit;
use serde_json::Value;

/// Returns edits as later ones are carried over them: what took a field from an object, or gave it one, shifts no index
/// and is as if the field had been set. `before` is the value that they changed.
pub(super) fn logged(edits: &[Edit], before: Option<&Value>) -> Vec<Edit> {
    let is_of_list = |pointer: &str| {
        let around = pointer.rsplit_once('/').map(|(around, _)| around);
        around.and_then(|around| before?.pointer(around)).is_none_or(Value::is_array)
    };
    let log = |edit: &Edit| match edit {
        Edit::Remove { pointer } | Edit::Insert { pointer, .. } if !is_of_list(pointer) => {
            Edit::Set { pointer: pointer.clone(), value: Value::Null }
        }
        edit => edit.clone(),
    };
    edits.iter().map(log).collect()
}

/// Returns an edit as it is meant after another one; none where both are about the same value.
pub(super) fn carried(edit: &Edit, done: &Edit) -> Option<Edit> {
    let shifted = |pointer: &str| shifted(pointer, done);
    Some(match edit {
        Edit::Set { pointer, value } => Edit::Set { pointer: shifted(pointer)?, value: value.clone() },
        Edit::Remove { pointer } => Edit::Remove { pointer: shifted(pointer)? },
        Edit::Rename { pointer, key } => Edit::Rename { pointer: shifted(pointer)?, key: key.clone() },
        Edit::Insert { pointer, value } => {
            Edit::Insert { pointer: shifted_gap(pointer, done)?, value: value.clone() }
        }
        Edit::Move { pointer, to } => {
            let (list, from) = pointer.rsplit_once('/')?;
            // `to` is where the item is in the end: behind those that it passes on its way down.
            let passed = usize::from(from.parse::<usize>().ok()? < *to);
            let gap = shifted_gap(&format!("{list}/{}", to.checked_add(passed)?), done)?;
            let gap: usize = gap.rsplit_once('/')?.1.parse().ok()?;
            Edit::Move { pointer: shifted(pointer)?, to: gap.checked_sub(passed)? }
        }
    })
}

/// Returns where a value is after an edit; none if the edit is about it, something in it, or what it is in.
fn shifted(pointer: &str, done: &Edit) -> Option<String> {
    let (list, at) = match done {
        Edit::Set { pointer: other, .. } | Edit::Rename { pointer: other, .. } => {
            return (!is_related(pointer, other)).then(|| pointer.to_owned());
        }
        Edit::Remove { pointer: other }
        | Edit::Insert { pointer: other, .. }
        | Edit::Move { pointer: other, .. } => other.rsplit_once('/')?,
    };
    let Some((index, rest)) = index_below(pointer, list) else {
        // The list itself is another one now; what is beside it is not.
        return (!is_within(list, pointer) && !is_removed(pointer, done)).then(|| pointer.to_owned());
    };
    let moved = match done {
        Edit::Insert { .. } if at == "-" => index,
        Edit::Insert { .. } => index.checked_add(usize::from(at.parse::<usize>().ok()? <= index))?,
        Edit::Remove { .. } => {
            let at = at.parse::<usize>().ok()?;
            (at != index).then(|| index - usize::from(at < index))?
        }
        Edit::Move { to, .. } => after_move(index, at.parse().ok()?, *to)?,
        Edit::Set { .. } | Edit::Rename { .. } => index,
    };
    Some(format!("{list}/{moved}{rest}"))
}

/// The same for the gap before an item, which is there whatever became of the item.
fn shifted_gap(pointer: &str, done: &Edit) -> Option<String> {
    let (list, gap) = pointer.rsplit_once('/')?;
    let of_list = shifted(list, done);
    let other = match done {
        Edit::Remove { pointer } | Edit::Insert { pointer, .. } | Edit::Move { pointer, .. } => pointer,
        Edit::Set { .. } | Edit::Rename { .. } => return Some(format!("{}/{gap}", of_list?)),
    };
    let Some((own, at)) = other.rsplit_once('/').filter(|(own, _)| *own == list) else {
        return Some(format!("{}/{gap}", of_list?));
    };
    let (Ok(gap), Ok(at)) = (gap.parse::<usize>(), at.parse::<usize>()) else {
        return Some(pointer.to_owned());
    };
    let moved = match done {
        Edit::Insert { .. } => gap.checked_add(usize::from(at < gap))?,
        Edit::Remove { .. } => gap - usize::from(at < gap),
        Edit::Move { to, .. } => after_move(gap, at, *to)?,
        Edit::Set { .. } | Edit::Rename { .. } => gap,
    };
    Some(format!("{own}/{moved}"))
}

fn after_move(index: usize, from: usize, to: usize) -> Option<usize> {
    match index {
        _ if index == from => Some(to),
        _ if from < index && index <= to => Some(index - 1),
        _ if to <= index && index < from => index.checked_add(1),
        _ => Some(index),
    }
}

/// Returns the index of a list in which a pointer goes on, and the rest of the pointer.
fn index_below<'p>(pointer: &'p str, list: &str) -> Option<(usize, &'p str)> {
    let below = pointer.strip_prefix(list)?.strip_prefix('/')?;
    let end = below.find('/').unwrap_or(below.len());
    let (index, rest) = below.split_at_checked(end)?;
    Some((index.parse().ok()?, rest))
}

fn is_removed(pointer: &str, done: &Edit) -> bool {
    matches!(done, Edit::Remove { pointer: other } if is_related(pointer, other))
}

fn is_related(a: &str, b: &str) -> bool {
    is_within(a, b) || is_within(b, a)
}

/// Returns whether a value is another one or in it.
fn is_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(pointer: &str) -> Edit {
        Edit::Set { pointer: pointer.to_owned(), value: json!(1) }
    }

    fn insert(pointer: &str) -> Edit {
        Edit::Insert { pointer: pointer.to_owned(), value: json!(2) }
    }

    fn remove(pointer: &str) -> Edit {
        Edit::Remove { pointer: pointer.to_owned() }
    }

    fn moved(pointer: &str, to: usize) -> Edit {
        Edit::Move { pointer: pointer.to_owned(), to }
    }

    #[track_caller]
    fn check(edit: &Edit, done: &Edit, expected: impl Into<Option<Edit>>) {
        assert_eq!(carried(edit, done), expected.into());
    }

    #[test]
    fn other_values_are_free_and_the_same_is_not() {
        check(&set("/a/0/text"), &set("/a/1/text"), Some(set("/a/0/text")));
        check(&set("/a/0/text"), &set("/a/0/name"), Some(set("/a/0/text")));
        check(&set("/a/0/text"), &set("/a/0/text"), None);
        check(&set("/a/0/text"), &set("/a/0"), None);
        check(&set("/a/0"), &set("/a/0/text"), None);
        check(&set("/name"), &remove("/other"), Some(set("/name")));
        check(&set("/other/deep"), &remove("/other"), None);
    }

    #[test]
    fn indexes_shift_with_the_list() {
        check(&set("/a/1/text"), &insert("/a/0"), Some(set("/a/2/text")));
        check(&set("/a/1/text"), &insert("/a/2"), Some(set("/a/1/text")));
        check(&set("/a/1/text"), &insert("/a/-"), Some(set("/a/1/text")));
        check(&set("/a/3"), &remove("/a/0"), Some(set("/a/2")));
        check(&set("/a/3"), &remove("/a/3"), None);
        check(&set("/a/2/text"), &moved("/a/2", 0), Some(set("/a/0/text")));
        check(&set("/a/0/text"), &moved("/a/2", 0), Some(set("/a/1/text")));
        check(&set("/a"), &insert("/a/0"), None);
    }

    #[test]
    fn gaps_shift_with_the_list_too() {
        check(&insert("/a/2"), &insert("/a/0"), Some(insert("/a/3")));
        check(&insert("/a/2"), &insert("/a/2"), Some(insert("/a/2")));
        check(&insert("/a/2"), &remove("/a/2"), Some(insert("/a/2")));
        check(&insert("/a/-"), &remove("/a/2"), Some(insert("/a/-")));
        check(&insert("/b/1"), &remove("/a/2"), Some(insert("/b/1")));
        check(&moved("/a/3", 1), &insert("/a/0"), Some(moved("/a/4", 2)));
        check(&moved("/a/0", 2), &insert("/a/2"), Some(moved("/a/0", 3)));
    }

    #[test]
    fn fields_of_objects_shift_nothing_whatever_their_names() {
        let before = json!({ "entries": { "0": 1, "1": 2 }, "list": [1, 2] });
        let log = |edit: &Edit| logged(std::slice::from_ref(edit), Some(&before)).remove(0);
        check(&set("/entries/1/content"), &log(&remove("/entries/0")), Some(set("/entries/1/content")));
        check(&set("/entries/0/content"), &log(&remove("/entries/0")), None);
        check(&set("/list/1"), &log(&remove("/list/0")), Some(set("/list/0")));
    }

    #[test]
    fn indexes_beyond_all_lists_are_no_fault() {
        let last = format!("/a/{}", usize::MAX);
        check(&remove(&last), &insert("/a/0"), None);
        check(&moved("/a/0", usize::MAX), &insert("/a/0"), None);
    }
}
