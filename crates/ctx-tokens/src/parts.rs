/// Splits a text after line breaks that no token of OpenAI's encodings spans.
///
/// Their regular expressions match only blanks and line breaks after a line break (also `/` in `o200k_base`).
pub(crate) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_seam = |end: &usize| {
            let next = rest.get(*end..).and_then(|after| after.chars().next());
            next.is_some_and(|next| !next.is_whitespace() && next != '/')
        };
        let mut ends = rest.match_indices('\n').map(|(at, _)| at + 1);
        let end = ends.find(is_seam).unwrap_or(rest.len());
        let (part, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(part)
    })
}
