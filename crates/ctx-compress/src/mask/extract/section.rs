//! Sections of a summary.

use std::sync::LazyLock;

use regex::Regex;

/// A section, in the order of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Overview,
    Focus,
    Terms,
    Facts,
    Done,
    Open,
}

/// Words about planned work.
static OPEN: LazyLock<Regex> = LazyLock::new(|| {
    let english = "to ?do|next|not yet|still|later|remind|don't forget|will|going to|plan to|let's|tomorrow";
    let chinese = "待|接下来|下一步|以后|稍后|还没|尚未|记得|打算|计划|明天";
    pattern(english, chinese)
});

/// Words about finished work and decisions.
static DONE: LazyLock<Regex> = LazyLock::new(|| {
    let english = "done|finished|fixed|booked|completed|created|added|updated|removed|deployed|merged|resolved|solved|\
        sent|reserved|installed|confirmed|decided|agreed";
    pattern(english, "已经|完成|搞定|修好|解决了|订好|决定|同意")
});

fn pattern(english: &str, chinese: &str) -> Regex {
    Regex::new(&format!(r"(?i)\b(?:{english})\b|{chinese}")).expect("a valid pattern")
}

impl Section {
    pub(super) const ALL: [Self; 6] =
        [Self::Overview, Self::Focus, Self::Terms, Self::Facts, Self::Done, Self::Open];

    /// Reads the number of a heading.
    pub(super) fn from_heading(line: &str) -> Option<Self> {
        let number = line.trim_start_matches(['#', ' ', '*']);
        let digits = number.chars().take_while(char::is_ascii_digit).count();
        let number: usize = number[..digits].parse().ok()?;
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// Finds the section of a sentence; only recent plans and questions are open.
    pub(super) fn of_talk(text: &str, is_recent: bool) -> Self {
        let is_question = text.trim_end().ends_with(['?', '？']);
        if is_recent && (is_question || OPEN.is_match(text)) {
            Self::Open
        } else if DONE.is_match(text) {
            Self::Done
        } else {
            Self::Facts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::Language;

    #[track_caller]
    fn check(text: &str, expected: Section) {
        assert_eq!(Section::of_talk(text, true), expected, "{text}");
    }

    #[test]
    fn takes_recent_questions_and_plans_as_open() {
        check("Shall we paint the door?", Section::Open);
        check("I will call her on Monday.", Section::Open);
        check("下一步是检查日志。", Section::Open);
        assert_eq!(Section::of_talk("Shall we paint the door?", false), Section::Facts);
    }

    #[test]
    fn takes_finished_work_as_done() {
        check("The room is booked.", Section::Done);
        check("问题已经解决了。", Section::Done);
    }

    #[test]
    fn ignores_parts_of_words() {
        check("The abandoned willow stands there.", Section::Facts);
    }

    #[test]
    fn reads_numbers_of_headings() {
        assert_eq!(Section::from_heading("## 5. Done and under way"), Some(Section::Done));
        assert_eq!(Section::from_heading("### 6. 待办"), Some(Section::Open));
        assert_eq!(Section::from_heading("## Summary"), None);
        assert_eq!(Section::from_heading("## 7. More"), None);
        for language in [Language::English, Language::Chinese] {
            let sections = language.texts().headings.map(Section::from_heading);
            assert_eq!(sections, Section::ALL.map(Some));
        }
    }
}
