//! Earlier summaries, split into lines with their sections.

use ctx_types::{Message, Role, SourceKind};

use crate::mask::extract::section::Section;

/// Messages; a line of an earlier summary is a message with a section.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub(super) messages: Vec<Message>,
    /// The names and terms in earlier summaries.
    pub(super) terms: Vec<String>,
    sections: Vec<Option<Section>>,
}

/// Splits earlier summaries. O(text).
pub(super) fn unpack(messages: &[Message]) -> Unpacked {
    let mut unpacked =
        Unpacked { messages: Vec::with_capacity(messages.len()), terms: Vec::new(), sections: Vec::new() };
    for message in messages {
        match message.source.kind {
            SourceKind::Summary if message.note.is_none() => unpacked.push_lines(message),
            _ => unpacked.push(message.clone(), None),
        }
    }
    unpacked
}

impl Unpacked {
    /// Returns the new section of a line of an earlier summary.
    pub(super) fn section(&self, at: usize) -> Option<Section> {
        match self.sections[at] {
            // The earlier focus is not the present one.
            Some(Section::Focus) => Some(Section::Facts),
            section => section,
        }
    }

    /// Returns the start of the conversation and the last exchange.
    pub(super) fn ends(&self) -> Vec<(usize, Section)> {
        let texts =
            || self.messages.iter().enumerate().filter(|(_, message)| !message.text().trim().is_empty());
        let first = texts().find(|(at, message)| {
            self.sections[*at] == Some(Section::Overview) || message.role == Role::User
        });
        let first = first.map(|(at, _)| at);
        let last = |role: Role| texts().rfind(|(_, one)| one.role == role).map(|(at, _)| at);
        let asked = last(Role::User);
        let answered = last(Role::Assistant).filter(|answered| Some(*answered) > asked);
        let focus = asked.filter(|asked| first != Some(*asked)).into_iter().chain(answered);
        let overview = first.map(|at| (at, Section::Overview));
        overview.into_iter().chain(focus.map(|at| (at, Section::Focus))).collect()
    }

    fn push(&mut self, message: Message, section: Option<Section>) {
        self.messages.push(message);
        self.sections.push(section);
    }

    /// Adds each line of a summary as a message of its speaker, or of the system.
    fn push_lines(&mut self, summary: &Message) {
        let text = summary.text();
        let has_headings = text.lines().any(|line| line.starts_with('#'));
        // A summary without headings begins with the overview.
        let mut section = (!has_headings).then_some(Section::Overview);
        for line in text.lines().map(str::trim) {
            if line.starts_with('#') {
                section = Section::from_heading(line).or(section);
                continue;
            }
            let said = line.strip_prefix(['-', '*', '•']).map_or(line, str::trim);
            if is_empty_line(said) {
                continue;
            }
            if section == Some(Section::Terms) {
                self.terms.extend(said.split([',', '，', '、', ';']).map(|term| term.trim().to_owned()));
                continue;
            }
            let (role, said) = split_speaker(said);
            self.push(Message::new(role, said, summary.source.clone()), section);
            section = section.filter(|_| has_headings);
        }
    }
}

fn split_speaker(line: &str) -> (Role, &str) {
    let heads = [
        ("user: ", Role::User),
        ("用户：", Role::User),
        ("assistant: ", Role::Assistant),
        ("助手：", Role::Assistant),
    ];
    let said = heads.into_iter().find_map(|(head, role)| Some((role, line.strip_prefix(head)?)));
    said.unwrap_or((Role::System, line))
}

/// Returns whether a line is the number of a part, or says that there is nothing.
fn is_empty_line(line: &str) -> bool {
    let bare = line.trim_matches(['[', ']', '.', '。', '(', ')']);
    bare.chars().all(|c| !c.is_alphanumeric() || c.is_ascii_digit())
        || ["none", "nothing", "n/a", "无", "暂无"].iter().any(|nothing| bare.eq_ignore_ascii_case(nothing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::{Source, Trust};

    #[test]
    fn splits_summary_into_lines_with_sections() {
        let text = "[1]\n## 1. Overview\nuser: They talk.\n\n## 3. Ideas and terms\n- Ada, Bo\n## 4. Facts\nnone\n## 5. Done\n- It is *done*.\n* Too.";
        let summary = Message::new(Role::System, text, Source::new(SourceKind::Summary, Trust::Model));
        let unpacked = unpack(&[summary]);
        let lines: Vec<(String, Option<Section>)> = unpacked
            .messages
            .iter()
            .map(|one| one.text().into_owned())
            .zip(unpacked.sections.clone())
            .collect();
        let expected = [
            ("They talk.".to_owned(), Some(Section::Overview)),
            ("It is *done*.".to_owned(), Some(Section::Done)),
            ("Too.".to_owned(), Some(Section::Done)),
        ];
        assert_eq!(lines, expected);
        assert_eq!(unpacked.messages[0].role, Role::User);
        assert_eq!(
            (unpacked.ends(), unpacked.terms),
            (vec![(0, Section::Overview)], vec!["Ada".to_owned(), "Bo".to_owned()])
        );
    }
}
