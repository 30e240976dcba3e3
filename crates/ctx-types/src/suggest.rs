/// Returns the most similar candidate, if any.
///
/// At most 1/3 of the characters, at least one but not all, may be wrong. Ignores case. The first candidate
/// wins ties. O(candidates × product of both lengths).
///
/// ```
/// use ctx_types::internal::closest;
///
/// assert_eq!(closest("chat_histroy", ["user_profile", "chat_history"]), Some("chat_history"));
/// assert_eq!(closest("User_Profle", ["user_profile"]), Some("user_profile"));
/// assert_eq!(closest("lore", ["chat_history"]), None);
/// ```
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, candidates).map(|near| near.name)
}

/// A similar known name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestName<'a> {
    /// The known name.
    pub name: &'a str,
    /// Whether only the case differs, or this is the only similar candidate, one name has at least four
    /// characters, and more than digits differ.
    pub is_certain: bool,
}

/// Like [`closest`], with the certainty of the match.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<NearestName<'a>> {
    let length = name.chars().count();
    nearest_within(name, candidates, (length / 3).max(1).min(length.saturating_sub(1)))
}

/// Returns the certain match of a key, with at most one error, or two from ten characters on.
///
/// Stricter than [`nearest`]: unknown keys may be words of other applications.
pub fn nearest_key<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = if key.chars().count() < 10 { 1 } else { 2 };
    nearest_within(key, known, limit).filter(|near| near.is_certain).map(|near| near.name)
}

fn nearest_within<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Option<NearestName<'a>> {
    let length = name.chars().count();
    if length > MAX_NAME {
        return None;
    }
    let lower = name.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
    let mut best: Option<(usize, &str)> = None;
    let mut others = false;
    for candidate in candidates.into_iter().filter(|candidate| candidate.len() <= 4 * MAX_NAME) {
        let far = distance(candidate);
        match best {
            _ if far > limit => {}
            Some((_, known)) if known == candidate => {}
            Some((least, _)) if far >= least => others = true,
            _ => {
                others |= best.is_some();
                best = Some((far, candidate));
            }
        }
    }
    let (far, near) = best?;
    let is_long = near.chars().count().max(length) >= MIN_CERTAIN;
    let is_certain =
        far == 0 || (!others && is_long && !differs_in_digits_only(&lower, &near.to_lowercase()));
    Some(NearestName { name: near, is_certain })
}

/// Numbered names are similar, but all intended.
fn differs_in_digits_only(one: &str, other: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_numeric()).collect::<String>();
    letters(one) == letters(other)
}

const MIN_CERTAIN: usize = 4;

const MAX_NAME: usize = 64;
