//! Format of example dialogue in character cards.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Agent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) speaker: Speaker,
    pub(super) text: String,
}

const MARK: &str = "<START>";

/// Text before the first mark is a block too. O(bytes).
pub(super) fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text.trim()).filter(|text| !text.is_empty());
    let mut is_first = true;
    std::iter::from_fn(move || {
        loop {
            let text = rest?;
            let mark = find_mark(text);
            let block = text.get(..mark.unwrap_or(text.len())).unwrap_or_default();
            rest = mark.and_then(|mark| text.get(mark + MARK.len()..));
            if !std::mem::take(&mut is_first) || !block.trim().is_empty() {
                return Some(block.trim());
            }
        }
    })
}

fn find_mark(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    bytes.windows(MARK.len()).position(|window| window.eq_ignore_ascii_case(MARK.as_bytes()))
}

/// `names`: the user, then the agent.
///
/// Lines before the first name belong to the first turn. A block without a name has no turns. The first name
/// in a turn is removed.
pub(super) fn turns(block: &str, names: [&str; 2]) -> Vec<Turn> {
    let [user, agent] = names.map(|name| format!("{name}:"));
    let mut turns = Vec::new();
    let mut speaker = None;
    let mut lines: Vec<&str> = Vec::new();
    let mut close = |speaker: Option<Speaker>, lines: &mut Vec<&str>| {
        let Some(speaker) = speaker else { return };
        let name = if speaker == Speaker::User { &user } else { &agent };
        let text = std::mem::take(lines).join("\n").replacen(name.as_str(), "", 1).trim().to_owned();
        turns.push(Turn { speaker, text });
    };
    for line in block.split('\n').map(|line| line.trim_end_matches('\r')) {
        let next = [(&user, Speaker::User), (&agent, Speaker::Agent)]
            .into_iter()
            .find(|(name, _)| line.starts_with(name.as_str()))
            .map(|(_, speaker)| speaker);
        if next.is_some() && next != speaker {
            close(speaker, &mut lines);
            speaker = next;
        }
        lines.push(line);
    }
    close(speaker, &mut lines);
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&[(Speaker, &str)]]) {
        let found: Vec<Vec<Turn>> = blocks(text).map(|block| turns(block, ["Kim", "Ada"])).collect();
        let turn = |&(speaker, text): &(Speaker, &str)| Turn { speaker, text: text.to_owned() };
        let expected: Vec<Vec<Turn>> =
            expected.iter().map(|block| block.iter().map(turn).collect()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn splits_examples_into_blocks_and_turns() {
        use Speaker::{Agent, User};
        check(
            "<START>\nKim: Q\nAda: A\nstill A\n<start>\nAda: B",
            &[&[(User, "Q"), (Agent, "A\nstill A")], &[(Agent, "B")]],
        );
        check("prose\nAda: A", &[&[(Agent, "prose\n A")]]);
        check("<START>\nonly prose", &[&[]]);
        check("Ada: one\nAda: two", &[&[(Agent, "one\nAda: two")]]);
        check(" \n", &[]);
        check("<START>", &[&[]]);
    }
}
