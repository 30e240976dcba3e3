//! Cutting a text where the tokens of both sides add up to those of the whole.

/// Cuts a text behind line breaks, where in the encodings of `OpenAI` no token stands across.
///
/// These encodings cut a text into pieces by an expression first, and each piece into tokens for itself. In the expressions
/// of `cl100k_base` and `o200k_base` a line break is followed within a piece by blanks and line breaks alone, in the second
/// by `/` too; and what stands before is cut the same way wherever blanks end with a line break.
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
