//! What words have in common with their other forms, so that a rule told otherwise is found again.

use std::ops::Range;

use ctx_types::internal::Fingerprint;

use crate::quality::clauses::OfValue;
use crate::quality::lex::{Kind, Lexed};
use crate::quality::lexicon::{is_stop, representative};
use crate::request::is_filler;

/// Returns what some tokens are about: hashes, sorted, each once. O(tokens).
pub(super) fn of(lexed: &Lexed<'_>, tokens: Range<usize>, of_value: &OfValue<'_>) -> Vec<u32> {
    let mut stems = Vec::new();
    let mut last_value = None;
    let mut skip_until = 0;
    for at in tokens.filter(|at| matches!(lexed.kind(*at), Some(kind) if kind != Kind::Break)) {
        if let Some(value) = of_value(at) {
            if last_value != Some(value) {
                stems.push(value);
            }
            last_value = Some(value);
            continue;
        }
        match lexed.kind(at) {
            Some(Kind::Word) => stems.extend(stem_of(lexed.str(at))),
            Some(Kind::Number | Kind::Measure) => stems.push(hash(lexed.str(at))),
            Some(Kind::Han) if at >= skip_until => match light_length(lexed, at) {
                0 => stems.push(hash(lexed.str(at))),
                length => skip_until = at + length,
            },
            _ => {}
        }
    }
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// Returns the stem of a word, if the word says what something is about.
fn stem_of(word: &str) -> Option<u32> {
    let lower = word.to_lowercase().replace('’', "'");
    if is_stop(&lower) || is_filler(&lower) || lower.ends_with("n't") {
        return None;
    }
    let bare = lower.strip_suffix("'s").unwrap_or(&lower);
    Some(hash(&stem(bare)))
}

/// Takes English endings off.
pub(super) fn stem(word: &str) -> String {
    #[rustfmt::skip]
    const ENDINGS: [&str; 26] = [
        "ments", "ment", "nesses", "ness", "ations", "ation", "ions", "ion", "ings", "ing", "ances", "ance", "ables", "able", "ors", "ers", "or", "er",
        "ies", "ied", "edly", "ed", "es", "ly", "s", "e",
    ];
    const SHORTEST: usize = 3;
    if let Some(one) = representative(word) {
        return one.to_owned();
    }
    if !word.is_ascii() || word.len() <= SHORTEST {
        return word.to_owned();
    }
    let is_enough = |bare: &&str, ending: &str| bare.len() >= SHORTEST + usize::from(ending == "ly");
    let cut = ENDINGS.iter().find_map(|ending| {
        let bare = word.strip_suffix(ending).filter(|bare| is_enough(bare, ending))?;
        Some((bare, *ending))
    });
    let Some((bare, ending)) = cut else { return y_as_i(word) };
    let bare = match ending {
        "ies" | "ied" => format!("{bare}i"),
        _ => undoubled(bare).to_owned(),
    };
    let one = representative(&bare).or_else(|| representative(&format!("{bare}e")));
    let one = one.or_else(|| {
        representative(&bare.strip_suffix('i').map(|bare| format!("{bare}y")).unwrap_or_default())
    });
    one.map_or_else(|| y_as_i(&bare), str::to_owned)
}

/// `stopp` of `stopped` is `stop`.
fn undoubled(word: &str) -> &str {
    let bytes = word.as_bytes();
    let is_double = matches!(bytes, [.., a, b] if a == b && !matches!(a, b'l' | b's' | b'e' | b'o'));
    if is_double { word.get(..word.len() - 1).unwrap_or(word) } else { word }
}

fn y_as_i(word: &str) -> String {
    match word.strip_suffix('y') {
        Some(bare) if bare.len() >= 2 => format!("{bare}i"),
        _ => word.to_owned(),
    }
}

/// Returns how many characters a Chinese word has that does not say what something is about; 0 if it does.
fn light_length(lexed: &Lexed<'_>, at: usize) -> usize {
    #[rustfmt::skip]
    const WORDS: [&str; 40] = [
        "千万", "完全", "一定", "以后", "已经", "最好", "尽量", "其实", "真的", "非常", "特别", "比较", "可能", "应该", "应当", "必须", "务必", "需要", "可以", "能够",
        "不要", "不能", "不得", "禁止", "严禁", "我们", "你们", "他们", "咱们", "用户", "助手", "表示", "提到", "对方", "这个", "那个", "什么", "怎么", "时候", "而且",
    ];
    const CHARACTERS: &str = "的了是在有我你您咱他她它们这那个么吗呢吧啊哦嗯呀嘛和与及或就都也很还要会能可得给对把被让向为之其此但而因所如果不没无未别勿请再又才只更最每各着过";
    if let Some(word) = WORDS.iter().find(|word| lexed.has_han(at, word)) {
        return word.chars().count();
    }
    usize::from(lexed.han(at).is_some_and(|c| CHARACTERS.contains(c)))
}

/// Returns the hash of a stem.
pub(super) fn hash(stem: &str) -> u32 {
    let whole = Fingerprint::default().text(stem).as_u64();
    u32::try_from((whole ^ (whole >> 32)) & 0xffff_ffff).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str) {
        let stems: Vec<String> = words.split_whitespace().map(stem).collect();
        assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        check("deploy deploys deployed deploying deployment deployments");
        check("visit visits visitor visitors visited");
        check("stop stopped stopping");
        check("reply replies replied");
        check("call calls called phone ring");
        check("use used uses");
        assert_ne!(stem("server"), stem("database"));
    }
}
