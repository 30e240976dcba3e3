//! Texts that stand below each other, by the columns that a terminal gives them.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Puts a text at the left of so many columns.
pub(crate) fn left(text: &str, columns: usize) -> String {
    text.to_owned() + &blanks(text, columns)
}

/// Puts a text at the right of so many columns.
pub(crate) fn right(text: &str, columns: usize) -> String {
    blanks(text, columns) + text
}

/// Returns how many columns the widest of these texts takes.
pub(crate) fn widest<'t>(texts: impl IntoIterator<Item = &'t String>) -> usize {
    texts.into_iter().map(|text| text.width()).max().unwrap_or(0)
}

/// Cuts a name that is longer than so many columns in its middle, so that the file of a path is still named.
pub(crate) fn cut_middle(name: &str, columns: usize) -> String {
    if name.width() <= columns {
        return name.to_owned();
    }
    let room = columns.saturating_sub(1);
    let fitting = |characters: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut used = 0;
        let fits = |c: &char| {
            used += c.width().unwrap_or(0);
            used <= room
        };
        characters.take_while(fits).collect()
    };
    let start = fitting(&mut name.chars(), room / 3);
    let end = fitting(&mut name.chars().rev(), room - room / 3);
    start.into_iter().chain(['…']).chain(end.into_iter().rev()).collect()
}

fn blanks(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(text.width()))
}

#[cfg(test)]
mod tests {
    use super::cut_middle;

    #[test]
    fn names_are_cut_in_their_middle() {
        for (name, columns, expected) in [
            ("chat.json", 9, "chat.json"),
            ("conversations/of/a/long/year/chat.json", 20, "conver…ear/chat.json"),
            ("对话/很长的名字/聊天.json", 12, "对…天.json"),
            ("abc", 0, "…"),
        ] {
            assert_eq!(cut_middle(name, columns), expected);
        }
    }
}
