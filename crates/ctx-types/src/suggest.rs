//! "Did you mean": the nearest known name to one that is not known.

/// Returns the candidate that a mistyped name most likely meant, if one is near enough.
///
/// Near enough means a third of the name's characters mistyped at the most (at least one, but not all of
/// them); capital letters do not count. Ties go to the earlier candidate. Cost: candidates × the product of
/// both lengths.
///
/// ```
/// use ctx_types::closest;
///
/// assert_eq!(closest("chat_histroy", ["user_profile", "chat_history"]), Some("chat_history"));
/// assert_eq!(closest("User_Profle", ["user_profile"]), Some("user_profile"));
/// assert_eq!(closest("lore", ["chat_history"]), None);
/// ```
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > MAX_NAME {
        return None;
    }
    let limit = (length / 3).max(1).min(length.saturating_sub(1));
    let name = name.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&name, &candidate.to_lowercase());
    let near = candidates.into_iter().filter(|candidate| candidate.len() <= 4 * MAX_NAME);
    near.map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The longest name, in characters, for which a neighbour is looked for.
const MAX_NAME: usize = 64;
