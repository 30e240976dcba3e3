use ctx_regex::{Error, Flags, Literal};

const KEY_FLAGS: &str = "gimsuy";

/// Parses `/pattern/flags`. Each slash in the pattern needs a backslash.
pub(super) fn literal(key: &str) -> Option<Literal<'_>> {
    let (pattern, letters) = key.strip_prefix('/')?.rsplit_once('/')?;
    let is_escaped = |(at, _)| pattern.get(..at).is_some_and(|before| before.ends_with('\\'));
    let is_plain = pattern.is_empty() || !pattern.match_indices('/').all(is_escaped);
    if is_plain || !letters.chars().all(|letter| KEY_FLAGS.contains(letter)) {
        return None;
    }
    Some(Literal { pattern, flags: Flags::parse(letters).ok()? })
}

/// Characters that occur in patterns but not in paths.
const SIGNS: [char; 9] = ['\\', '[', '(', '*', '+', '?', '|', '^', '$'];

/// Flags of keys, JavaScript, and other languages.
const FLAGS: &str = "dgimnsuvxyAJUX";

/// Explains why a plain text that looks like `/pattern/flags` is invalid. Paths such as `/a/b/` are plain
/// text.
pub(super) fn fault(key: &str) -> Option<Error> {
    let (pattern, letters) = key.strip_prefix('/')?.rsplit_once('/')?;
    let has_signs = pattern.contains(SIGNS);
    let are_flags = !letters.is_empty() && letters.chars().all(|letter| FLAGS.contains(letter));
    let is_word = letters.len() <= FLAGS.len() && letters.chars().all(|letter| letter.is_ascii_alphabetic());
    if pattern.is_empty() || !(are_flags || has_signs && is_word) {
        return None;
    }
    if let Some(flag) = letters.chars().find(|letter| !KEY_FLAGS.contains(*letter)) {
        return Some(Error::UnknownFlag { flag });
    }
    if let Err(error) = Flags::parse(letters) {
        return Some(error);
    }
    let is_bare = |(at, _): &(usize, &str)| pattern.get(..*at).is_some_and(|before| !before.ends_with('\\'));
    let (offset, _) = pattern.match_indices('/').find(is_bare)?;
    Some(Error::Syntax { offset, reason: "slash without a backslash" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let found = literal(text).map(|literal| (literal.pattern, literal.flags.to_string()));
        assert_eq!(found, expected.map(|(pattern, flags)| (pattern, flags.to_owned())), "{text}");
    }

    #[test]
    fn reads_pattern_between_slashes() {
        check("/a|b/", Some(("a|b", "")));
        check("/中.*文/imsuyg", Some(("中.*文", "gimsuy")));
        check(r"/a\/b/i", Some((r"a\/b", "i")));
        check("/a\nb/", Some(("a\nb", "")));
    }

    #[test]
    fn treats_other_keys_as_plain_text() {
        check("dragon", None);
        check("/", None);
        check("//", None);
        check("/a", None);
        check("/a/b/", None);
        check("//a/", None);
        check("/a/v", None);
        check("/a/ii", None);
        check("/a/ i", None);
    }

    #[test]
    fn detects_mistyped_expressions() {
        for (key, expected) in [
            ("/moon/x", "unknown flag `x`"),
            ("/moon/gv", "unknown flag `v`"),
            ("/mo+n/ab", "unknown flag `a`"),
            ("/moon/gg", "duplicate flag `g`"),
            ("/<b>moon</b>/g", "invalid pattern at byte 8: slash without a backslash"),
            (r"/\w+/\w+/", "invalid pattern at byte 3: slash without a backslash"),
        ] {
            assert_eq!(fault(key).map(|error| error.to_string()).as_deref(), Some(expected), "{key}");
        }
        for key in
            ["/and/or", "/etc/hosts", "/one/two/", "//", "/", "either/or", "/a b/c d", "/wave/!", "(/?/)"]
        {
            assert_eq!(fault(key), None, "{key}");
        }
    }
}
