//! Messages as an extract reads them: earlier summaries line by line, each with its section.

use ctx_types::{Message, Role, SourceKind};

use crate::mask::extract::section::Section;

/// Messages, and which of them are lines of a section of an earlier summary.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub(super) messages: Vec<Message>,
    /// The names and terms that earlier summaries list.
    pub(super) terms: Vec<String>,
    sections: Vec<Option<Section>>,
}

/// Takes earlier summaries apart. O(text).
pub(super) fn unpack(messages: &[Message]) -> Unpacked {
    let mut unpacked =
        Unpacked { messages: Vec::with_capacity(messages.len()), terms: Vec::new(), sections: Vec::new() };
    for message in messages {
        match message.source.kind {
            SourceKind::Summary if message.note.is_none() => unpacked.take_apart(message),
            _ => unpacked.push(message.clone(), None),
        }
    }
    unpacked
}

impl Unpacked {
    /// Returns the section that a line of an earlier summary goes on in.
    pub(super) fn section(&self, at: usize) -> Option<Section> {
        match self.sections.get(at).copied().flatten() {
            // What was talked about then is not what is talked about now.
            Some(Section::Focus) => Some(Section::Facts),
            section => section,
        }
    }

    /// Returns the messages that are told in any case: how it began, and the last exchange.
    pub(super) fn told(&self) -> Vec<(usize, Section)> {
        let has_text = |message: &Message| !message.text().trim().is_empty();
        let all = || self.messages.iter().enumerate();
        let is_first = |(at, message): &(usize, &Message)| {
            let began = self.sections.get(*at).copied().flatten() == Some(Section::Overview);
            began || (message.role == Role::User && has_text(message))
        };
        let last = |role: Role, from: usize| {
            let mut of_role =
                all().skip(from).filter(|(_, message)| message.role == role && has_text(message));
            of_role.next_back().map(|(at, _)| at)
        };
        let first = all().find(is_first).map(|(at, _)| at);
        let asked = last(Role::User, 0);
        let answered = last(Role::Assistant, asked.unwrap_or_default());
        let focus = asked.filter(|asked| first != Some(*asked)).into_iter().chain(answered);
        let focus = focus.map(|at| (at, Section::Focus));
        first.map(|at| (at, Section::Overview)).into_iter().chain(focus).collect()
    }

    fn push(&mut self, message: Message, section: Option<Section>) {
        self.messages.push(message);
        self.sections.push(section);
    }

    /// Adds each line of a summary that says something as a message: of who says it, else of the system.
    fn take_apart(&mut self, summary: &Message) {
        let text = summary.text();
        let has_headings = text.lines().any(|line| line.starts_with('#'));
        // A summary without headings begins with how it began.
        let mut section = (!has_headings).then_some(Section::Overview);
        for line in text.lines().map(str::trim) {
            if line.starts_with('#') {
                section = Section::of_heading(line).or(section);
                continue;
            }
            let said = line.strip_prefix(['-', '*', '•']).map_or(line, str::trim);
            if is_nothing(said) {
                continue;
            }
            if section == Some(Section::Terms) {
                self.terms.extend(said.split([',', '，', '、', ';']).map(|term| term.trim().to_owned()));
                continue;
            }
            let (role, said) = speaker(said);
            self.push(Message::new(role, said, summary.source.clone()), section);
            section = section.filter(|_| has_headings);
        }
    }
}

/// Returns who speaks a line, and what.
fn speaker(line: &str) -> (Role, &str) {
    let heads = [
        ("user: ", Role::User),
        ("用户：", Role::User),
        ("assistant: ", Role::Assistant),
        ("助手：", Role::Assistant),
    ];
    let said = heads.into_iter().find_map(|(head, role)| Some((role, line.strip_prefix(head)?)));
    said.unwrap_or((Role::System, line))
}

/// Returns whether a line says nothing: a number of a part, or that there is nothing to say.
fn is_nothing(line: &str) -> bool {
    let bare = line.trim_matches(['[', ']', '.', '。', '(', ')']);
    bare.chars().all(|c| !c.is_alphanumeric() || c.is_ascii_digit())
        || ["none", "nothing", "n/a", "无", "暂无"].iter().any(|nothing| bare.eq_ignore_ascii_case(nothing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::{Source, Trust};

    #[test]
    fn a_summary_is_taken_apart_into_lines_of_sections() {
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
            (unpacked.told(), unpacked.terms),
            (vec![(0, Section::Overview)], vec!["Ada".to_owned(), "Bo".to_owned()])
        );
    }
}
