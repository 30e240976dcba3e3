//! The sections of a summary, and which of them a sentence belongs to.

use crate::mask::language::Language;

/// A section, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    /// What the conversation is about: how it began.
    Overview,
    /// What was talked about last.
    Focus,
    /// Names and terms.
    Terms,
    /// Facts to keep.
    Facts,
    /// What was done.
    Done,
    /// What is open.
    Open,
}

impl Section {
    pub(super) const ALL: [Self; 6] =
        [Self::Overview, Self::Focus, Self::Terms, Self::Facts, Self::Done, Self::Open];

    /// Returns the heading: that of the built-in prompts.
    pub(super) const fn heading(self, language: Language) -> &'static str {
        match (language, self) {
            (Language::English, Self::Overview) => "1. Overview",
            (Language::English, Self::Focus) => "2. Present focus",
            (Language::English, Self::Terms) => "3. Ideas and terms",
            (Language::English, Self::Facts) => "4. Facts to keep",
            (Language::English, Self::Done) => "5. Done and under way",
            (Language::English, Self::Open) => "6. Open points and next steps",
            (Language::Chinese, Self::Overview) => "1. 概览",
            (Language::Chinese, Self::Focus) => "2. 目前的焦点",
            (Language::Chinese, Self::Terms) => "3. 概念与术语",
            (Language::Chinese, Self::Facts) => "4. 需要保留的事实",
            (Language::Chinese, Self::Done) => "5. 已完成与进行中",
            (Language::Chinese, Self::Open) => "6. 待办与下一步",
        }
    }

    /// Reads a heading of a summary by its number.
    pub(super) fn of_heading(line: &str) -> Option<Self> {
        let number = line.trim_start_matches(['#', ' ', '*']);
        let digits = number.chars().take_while(char::is_ascii_digit).count();
        let number: usize = number.get(..digits)?.parse().ok()?;
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// Finds the section of something that was said; only what is recent is still open.
    pub(super) fn of_talk(text: &str, is_recent: bool) -> Self {
        let lower = text.to_lowercase();
        let has = |marks: &[&str]| marks.iter().any(|mark| holds(&lower, mark));
        let is_question = text.trim_end().ends_with(['?', '？']);
        if is_recent && (is_question || has(&OPEN)) {
            Self::Open
        } else if has(&DONE) {
            Self::Done
        } else {
            Self::Facts
        }
    }
}

/// What speaks of something that is still to come.
const OPEN: [&str; 24] = [
    "to do",
    "todo",
    "next",
    "not yet",
    "still",
    "later",
    "remind",
    "don't forget",
    "will",
    "going to",
    "plan to",
    "let's",
    "tomorrow",
    "待",
    "接下来",
    "下一步",
    "以后",
    "稍后",
    "还没",
    "尚未",
    "记得",
    "打算",
    "计划",
    "明天",
];

/// What speaks of something that is finished or decided.
const DONE: [&str; 27] = [
    "done",
    "finished",
    "fixed",
    "booked",
    "completed",
    "created",
    "added",
    "updated",
    "removed",
    "deployed",
    "merged",
    "resolved",
    "solved",
    "sent",
    "reserved",
    "installed",
    "confirmed",
    "decided",
    "agreed",
    "已经",
    "完成",
    "搞定",
    "修好",
    "解决了",
    "订好",
    "决定",
    "同意",
];

/// Returns whether a text has a mark: words of letters stand by themselves.
fn holds(text: &str, mark: &str) -> bool {
    if !mark.is_ascii() {
        return text.contains(mark);
    }
    let is_border = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    text.match_indices(mark).any(|(at, _)| {
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        let after = rest.get(mark.len()..).unwrap_or_default();
        is_border(before.chars().next_back()) && is_border(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Section) {
        assert_eq!(Section::of_talk(text, true), expected, "{text}");
    }

    #[test]
    fn recent_questions_and_plans_are_open() {
        check("Shall we paint the door?", Section::Open);
        check("I will call her on Monday.", Section::Open);
        check("下一步是检查日志。", Section::Open);
        assert_eq!(Section::of_talk("Shall we paint the door?", false), Section::Facts);
    }

    #[test]
    fn what_was_settled_is_done() {
        check("The room is booked.", Section::Done);
        check("问题已经解决了。", Section::Done);
    }

    #[test]
    fn a_mark_within_a_word_is_none() {
        check("The abandoned willow stands there.", Section::Facts);
    }

    #[test]
    fn headings_are_known_by_their_numbers() {
        assert_eq!(Section::of_heading("## 5. Done and under way"), Some(Section::Done));
        assert_eq!(Section::of_heading("### 6. 待办"), Some(Section::Open));
        assert_eq!(Section::of_heading("## Summary"), None);
        assert_eq!(Section::of_heading("## 7. More"), None);
        for section in Section::ALL {
            for language in [Language::English, Language::Chinese] {
                assert_eq!(Section::of_heading(section.heading(language)), Some(section));
            }
        }
    }
}
