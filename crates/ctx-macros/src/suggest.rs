//! The known name that a misspelled one is nearest to.

/// Names longer than this, in characters, get no suggestion; it bounds the work.
const MAX_CHARS: usize = 40;

/// Returns the first of the known names with the fewest edits from `name`, if those are few enough.
///
/// Case does not count. One edit is allowed for names of up to five characters, else two.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = fold(name);
    if name.len() > MAX_CHARS {
        return None;
    }
    let allowed = if name.len() <= 5 { 1 } else { 2 };
    let measured = known.map(|candidate| (distance(&name, &fold(candidate)), candidate));
    let best = measured.min_by_key(|(edits, _)| *edits)?;
    (best.0 <= allowed && best.0 < name.len()).then_some(best.1)
}

fn fold(name: &str) -> Vec<char> {
    name.chars().take(MAX_CHARS + 1).flat_map(char::to_lowercase).collect()
}

/// Counts the insertions, deletions and replacements between two words (Levenshtein), row by row.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, a) in from.iter().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (b, above) in to.iter().zip(row.iter_mut().skip(1)) {
            let cost = diagonal + usize::from(a != b);
            diagonal = *above;
            *above = cost.min(diagonal + 1).min(left + 1);
            left = *above;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or(from.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &str, to: &str, expected: usize) {
        assert_eq!(distance(&fold(from), &fold(to)), expected);
    }

    #[test]
    fn distance_counts_edits() {
        check("", "", 0);
        check("", "abc", 3);
        check("abc", "", 3);
        check("kitten", "sitting", 3);
        check("getvar", "GetVar", 0);
        check("用户", "用戶", 1);
    }

    #[test]
    fn a_short_name_allows_one_edit() {
        assert_eq!(nearest("chat", ["char", "user"].into_iter()), Some("char"));
        assert_eq!(nearest("chxx", ["char"].into_iter()), None);
        assert_eq!(nearest("x", ["y"].into_iter()), None);
    }
}
