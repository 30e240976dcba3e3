//! By which words a clause denies, demands, allows or limits something.

/// What a clause does beside telling something.
#[expect(clippy::struct_excessive_bools, reason = "each is a sign of its own")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Signs {
    /// It says that something is not so, or must not be.
    pub(super) denies: bool,
    /// It says that something must be, or must not, or only so far.
    pub(super) demands: bool,
    /// It does so by a word of duty or as an order, and not only by a limit.
    pub(super) is_duty: bool,
    /// It says that something may be.
    pub(super) allows: bool,
    /// It says how much something may be.
    pub(super) limit: Option<Limit>,
}

/// On which side a limit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Limit {
    AtMost,
    AtLeast,
}

impl Signs {
    /// Returns a number of its own for each combination.
    pub(super) fn bits(self) -> u32 {
        let limit = match self.limit {
            None => 0,
            Some(Limit::AtMost) => 1,
            Some(Limit::AtLeast) => 2,
        };
        let flags = [self.denies, self.demands, self.is_duty, self.allows];
        flags.into_iter().fold(limit, |bits, flag| bits << 1 | u32::from(flag))
    }

    /// Reads what [`Signs::bits`] returns.
    pub(super) const fn of_bits(bits: u32) -> Self {
        let limit = match bits >> 4 {
            1 => Some(Limit::AtMost),
            2 => Some(Limit::AtLeast),
            _ => None,
        };
        Self {
            denies: bits & 8 != 0,
            demands: bits & 4 != 0,
            is_duty: bits & 2 != 0,
            allows: bits & 1 != 0,
            limit,
        }
    }

    /// Joins the signs of a clause's words of two languages.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            denies: self.denies || other.denies,
            demands: self.demands || other.demands,
            is_duty: self.is_duty || other.is_duty,
            allows: self.allows || other.allows,
            limit: self.limit.or(other.limit),
        }
    }
}

/// Phrases that deny nothing, though a word in them does elsewhere.
const HARMLESS: [&[&str]; 17] = [
    &["not", "only"],
    &["not", "just"],
    &["no", "problem"],
    &["no", "worries"],
    &["no", "doubt"],
    &["no", "matter"],
    &["why", "not"],
    &["or", "not"],
    &["can't", "wait"],
    &["cannot", "wait"],
    &["no", "thanks"],
    &["no", "wonder"],
    &["if", "not"],
    &["why", "don't"],
    &["don't", "worry"],
    &["nothing", "but"],
    &["can't", "believe"],
];

/// Phrases that set an upper limit, and whether they do so without a number too.
const AT_MOST: [&[&str]; 19] = [
    &["no", "more", "than"],
    &["not", "more", "than"],
    &["at", "most"],
    &["no", "later", "than"],
    &["not", "exceed"],
    &["never", "exceed"],
    &["no", "longer", "than"],
    &["not", "later", "than"],
    &["at", "the", "latest"],
    &["or", "less"],
    &["or", "fewer"],
    &["up", "to"],
    &["a", "maximum", "of"],
    &["maximum"],
    &["max"],
    &["not", "over"],
    &["capped", "at"],
    &["limited", "to"],
    &["no", "larger", "than"],
];

const AT_LEAST: [&[&str]; 11] = [
    &["no", "less", "than"],
    &["not", "less", "than"],
    &["at", "least"],
    &["no", "fewer", "than"],
    &["no", "earlier", "than"],
    &["or", "more"],
    &["a", "minimum", "of"],
    &["minimum"],
    &["not", "before"],
    &["no", "smaller", "than"],
    &["not", "fewer", "than"],
];

/// Words that set a limit only if another text sets one.
const WEAK_AT_MOST: [&str; 8] = ["within", "under", "below", "limit", "≤", "less", "fewer", "cap"];
const WEAK_AT_LEAST: [&str; 4] = ["above", "over", "≥", "exceed"];

/// Finds the signs in words in lower case; a value stands as `#`. O(words).
pub(super) fn english_signs(words: &[&str], has_value: bool) -> Signs {
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    let any = |phrases: &[&[&str]]| phrases.iter().any(|phrase| has(phrase));
    let strong = match (any(&AT_MOST), any(&AT_LEAST)) {
        (true, _) => Some(Limit::AtMost),
        (_, true) => Some(Limit::AtLeast),
        _ => None,
    }
    .filter(|_| has_value);
    let weak = || {
        let one = |list: &[&str]| words.iter().any(|word| list.contains(word));
        match (one(&WEAK_AT_MOST), one(&WEAK_AT_LEAST)) {
            (true, _) => Some(Limit::AtMost),
            (_, true) => Some(Limit::AtLeast),
            _ => None,
        }
    };
    let is_harmless = |at: usize| {
        let covers = |phrase: &[&str]| {
            (0..phrase.len()).any(|back| {
                at.checked_sub(back).and_then(|start| words.get(start..start + phrase.len())) == Some(phrase)
            })
        };
        HARMLESS.iter().any(|phrase| covers(phrase))
            || (strong.is_some()
                && (AT_MOST.iter().any(|phrase| covers(phrase))
                    || AT_LEAST.iter().any(|phrase| covers(phrase))))
    };
    let denies =
        (0..words.len()).any(|at| words.get(at).is_some_and(|word| is_denial(word)) && !is_harmless(at));
    let is_duty = demands(words, denies);
    Signs {
        denies,
        demands: strong.is_some() || is_duty,
        is_duty,
        allows: words.iter().any(|word| {
            matches!(
                *word,
                "may" | "can" | "could" | "might" | "optional" | "optionally" | "allowed" | "permitted"
            )
        }) && !denies,
        limit: strong.or_else(weak),
    }
}

/// Returns whether an English word in lower case denies something.
pub(super) fn is_denial(word: &str) -> bool {
    const WORDS: [&str; 25] = [
        "not",
        "no",
        "never",
        "none",
        "nobody",
        "nothing",
        "nowhere",
        "neither",
        "nor",
        "without",
        "cannot",
        "hardly",
        "unable",
        "avoid",
        "avoids",
        "avoided",
        "refuse",
        "refuses",
        "refused",
        "forbidden",
        "prohibited",
        "banned",
        "disallowed",
        "forbid",
        "avoiding",
    ];
    WORDS.contains(&word) || word.ends_with("n't")
}

/// Returns whether words demand something: by a word of duty, or because they begin as an order does.
fn demands(words: &[&str], denies: bool) -> bool {
    const DUTIES: [&str; 12] = [
        "must",
        "mustn't",
        "shall",
        "required",
        "mandatory",
        "ensure",
        "forbidden",
        "prohibited",
        "banned",
        "disallowed",
        "compulsory",
        "obligatory",
    ];
    const PHRASES: [&[&str]; 16] = [
        &["have", "to"],
        &["has", "to"],
        &["need", "to"],
        &["needs", "to"],
        &["ought", "to"],
        &["make", "sure"],
        &["be", "sure", "to"],
        &["remember", "to"],
        &["supposed", "to"],
        &["not", "allowed"],
        &["not", "permitted"],
        &["should", "not"],
        &["should", "never"],
        &["should", "always"],
        &["may", "not"],
        &["under", "no", "circumstances"],
    ];
    const OPENERS: [&str; 11] =
        ["please", "and", "but", "so", "also", "then", "just", "remember", "again", "kindly", "ok"];
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    let after_opener = words.iter().position(|word| !OPENERS.contains(word)).unwrap_or(0);
    let first = words.get(after_opener).copied().unwrap_or_default();
    let begins_as_order = match first {
        "always" | "never" | "don't" | "avoid" => true,
        "do" => words.get(after_opener + 1) == Some(&"not"),
        "no" => {
            words.len() <= 8
                && denies
                && words
                    .get(after_opener + 1)
                    .is_some_and(|word| !matches!(*word, "one" | "idea" | "longer" | "need" | "way" | "more"))
        }
        _ => false,
    };
    let asks = words.contains(&"?");
    // `You should try it` is advice; `it should be closed` is a rule.
    let is_duty = words
        .windows(2)
        .any(|pair| pair[0] == "should" && matches!(pair[1], "be" | "only" | "stay" | "remain"));
    let is_ban = ["cannot", "can't"].iter().any(|word| {
        let at = words.iter().position(|found| found == word);
        at.is_some_and(|at| {
            at.checked_sub(1).and_then(|at| words.get(at)) == Some(&"you") || words.get(at + 1) == Some(&"be")
        })
    });
    let is_forbidden =
        words.windows(2).any(|pair| pair[0].ends_with("n't") && matches!(pair[1], "allowed" | "permitted"));
    let is_order = begins_as_order && words.len() > after_opener + 1;
    !asks
        && (words.iter().any(|word| DUTIES.contains(word))
            || PHRASES.iter().any(|phrase| has(phrase))
            || is_order
            || is_forbidden
            || is_duty
            || is_ban)
}

/// Returns whether a Chinese character denies something.
pub(super) fn is_chinese_denial(c: char) -> bool {
    matches!(c, '不' | '没' | '无' | '未' | '别' | '勿' | '禁' | '莫' | '拒')
}

/// Chinese words in which a character that denies elsewhere denies nothing.
#[rustfmt::skip]
const HARMLESS_CHINESE: [&str; 69] = [
    "不过", "不错", "不同", "不仅", "不但", "不只", "不管", "不论", "无论", "不如", "不久", "不断", "不少于", "不超过", "不晚于", "不早于", "不低于", "不高于", "不大于", "不小于", "不多于", "不少", "差不多", "对不起",
    "不好意思", "没关系", "没问题", "了不起", "非常", "别人", "别的", "特别", "区别", "分别", "类别", "级别", "别墅", "告别", "性别", "个别", "识别", "鉴别", "无线", "无人机", "无疑", "无奈", "无数", "未来",
    "除非", "非洲", "不得不", "不禁", "忍不住", "不客气", "不用谢", "是不是", "能不能", "要不要", "会不会", "有没有", "可不可以", "好不好", "行不行", "对不对", "免费", "要不", "莫非", "辨别", "派别",
];

/// Finds the signs in Chinese characters. O(characters).
pub(super) fn chinese_signs(text: &str, has_value: bool) -> Signs {
    const AT_MOST: [&str; 10] =
        ["不超过", "最多", "至多", "以内", "之内", "不晚于", "不高于", "不大于", "不多于", "上限"];
    const AT_LEAST: [&str; 8] = ["至少", "最少", "不少于", "不低于", "不早于", "不小于", "起码", "下限"];
    const DUTIES: [&str; 25] = [
        "必须",
        "务必",
        "一定要",
        "应当",
        "不得",
        "不准",
        "禁止",
        "严禁",
        "不可以",
        "不许",
        "不要",
        "请勿",
        "切勿",
        "只能",
        "只准",
        "不能",
        "记得",
        "确保",
        "绝不",
        "绝对不",
        "需要先",
        "必需",
        "都要先",
        "千万别",
        "不允许",
    ];
    if text.is_empty() {
        return Signs::default();
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let limit = match (has(&AT_MOST), has(&AT_LEAST)) {
        (true, _) => Some(Limit::AtMost),
        (_, true) => Some(Limit::AtLeast),
        _ => None,
    };
    let bare = HARMLESS_CHINESE
        .iter()
        .fold(text.to_owned(), |text, word| if text.contains(word) { text.replace(word, " ") } else { text });
    let denies = bare.contains(is_chinese_denial);
    let is_duty = DUTIES.iter().any(|word| bare.contains(word)) || text.contains("不得不");
    let is_order = bare.trim_start().starts_with('别') || bare.contains("请别") || bare.contains("也别");
    Signs {
        denies,
        demands: is_duty || is_order || (limit.is_some() && has_value),
        is_duty: is_duty || is_order,
        allows: (text.contains("可以") || text.contains("允许") || text.contains("可选")) && !denies,
        limit: limit.filter(|_| has_value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signs as letters: `n`ot, `m`ust, ma`y`, `<` and `>` for limits.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let has_value = text.contains('#');
        let chinese: String = text.chars().filter(|c| crate::quality::lex::is_han(*c)).collect();
        let signs = english_signs(&words, has_value).and(chinese_signs(&chinese, has_value));
        let limit = match signs.limit {
            Some(Limit::AtMost) => "<",
            Some(Limit::AtLeast) => ">",
            None => "",
        };
        let letter = |is: bool, letter| if is { letter } else { "" };
        let shown = [letter(signs.denies, "n"), letter(signs.demands, "m"), letter(signs.allows, "y"), limit]
            .concat();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn denials_in_english() {
        check("i do not eat shellfish at all", "n");
        check("my sister isn't coming", "n");
        check("not only that", "");
        check("no problem", "");
        check("it works without it", "n");
    }

    #[test]
    fn demands_in_english() {
        check("please never call me", "nm");
        check("you must use the side door", "m");
        check("always run the tests", "m");
        check("you always know", "");
        check("the cache was never the cause", "n");
        check("we should really talk", "");
        check("the door should be closed", "m");
        check("do not deploy on fridays", "nm");
        check("i cannot come", "n");
        check("you can come", "y");
        check("no more than # guests", "m<");
        check("at least # guests", "m>");
        check("up to you", "");
    }

    #[test]
    fn signs_in_chinese() {
        check("我完全不吃贝类", "n");
        check("必须走侧门进来", "m");
        check("千万不要打电话", "nm");
        check("不过非常特别", "");
        check("最多#个人", "m<");
        check("是不是这样", "");
        check("修理需要#元", "");
        check("我们应该多聊聊", "");
        check("别迟到", "nm");
    }
}
