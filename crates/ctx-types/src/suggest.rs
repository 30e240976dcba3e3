//! "Did you mean": the nearest known name to one that is not known.

/// Returns the candidate that a mistyped name most likely meant, if one is near enough.
///
/// Near enough means a third of the name's characters mistyped at the most (at least one), or the same name
/// in other letters. Ties go to the earlier candidate. Cost: candidates × the product of both lengths.
///
/// ```
/// use ctx_types::closest;
///
/// assert_eq!(closest("chat_histroy", ["user_profile", "chat_history"]), Some("chat_history"));
/// assert_eq!(closest("lore", ["chat_history"]), None);
/// ```
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > MAX_NAME {
        return None;
    }
    let limit = (length / 3).max(1);
    let distance = |candidate: &str| match candidate.eq_ignore_ascii_case(name) {
        true => 0,
        false => strsim::damerau_levenshtein(name, candidate),
    };
    let near = candidates.into_iter().filter(|candidate| candidate.len() <= 4 * MAX_NAME);
    near.map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The longest name, in characters, for which a neighbour is looked for.
const MAX_NAME: usize = 64;
