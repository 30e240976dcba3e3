//! What two contexts have in common, for people.

use ctx_engine::inspect::{Comparison, Difference, DifferenceKind, PrefixBreak, TextChange};
use ctx_language::Language;

use ctx_types::{Phrase, count_of, phrase};

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::{left, widest};

/// Writes how much of the beginning is the same, where the two part, and what is billed again.
pub(crate) fn comparison(language: Language, comparison: &Comparison) -> String {
    let mut lines = vec![("", "shared", shared(comparison))];
    if let Some(PrefixBreak { owner, change }) = &comparison.prefix_break {
        lines.push(("", "prefix ended by", ended_by(&owner_name(owner), *change)));
    }
    if let Some(reason) = &comparison.planned_break {
        lines.push(("", "planned break", Phrase::original(reason)));
    }
    if let Some(difference) = &comparison.difference {
        let (number, part) = (difference.message, part(difference));
        lines.push(("", "first difference", phrase!("message {number}, {part}", number, part)));
        lines.extend(sides(difference).map(|(side, text)| ("  ", side, text)));
    }
    lines.extend(again(comparison).map(|text| ("", "billed again", text)));
    let line = |(indent, title, text): &(&str, &str, Phrase)| {
        let title = format!("{indent}{}", lang::word(language, title));
        (title, clean_line(&lang::say(language, text)))
    };
    let lines: Vec<(String, String)> = lines.iter().map(line).collect();
    let width = widest(lines.iter().map(|(title, _)| title));
    let lines = lines.iter().map(|(title, text)| format!("{}  {text}", left(title, width)));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn shared(comparison: &Comparison) -> Phrase {
    let [_, all] = comparison.messages;
    let Some(difference) = &comparison.difference else {
        return phrase!("all: {messages}", messages = count_of!(all, "message"));
    };
    let messages = count_of!(comparison.shared_messages, "message");
    let told = match difference.kind {
        DifferenceKind::Text { at: 1.., .. } => {
            phrase!("{messages} of {all}, and the start of the next", messages, all)
        }
        _ => phrase!("{messages} of {all}", messages, all),
    };
    match comparison.shared_tokens.zip(comparison.tokens) {
        Some((shared, [_, all])) => {
            let percent = (shared * 100).checked_div(all).unwrap_or(100);
            phrase!("{told}; about {shared} of {all} tokens ({percent}%)", told, shared, all, percent)
        }
        None => told,
    }
}

fn ended_by(owner: &Phrase, change: TextChange) -> Phrase {
    match change {
        TextChange::Moved => phrase!("{owner}, moved down", owner = owner.clone()),
        TextChange::Changed => phrase!("{owner}, changed", owner = owner.clone()),
        TextChange::Removed => phrase!("{owner}, removed", owner = owner.clone()),
        TextChange::Inserted => phrase!("{owner}, inserted", owner = owner.clone()),
    }
}

fn part(difference: &Difference) -> Phrase {
    match &difference.kind {
        DifferenceKind::Added => phrase!("only in the second request"),
        DifferenceKind::Removed => phrase!("only in the first request"),
        DifferenceKind::Field { name } => phrase!("`{name}`", name),
        DifferenceKind::Text { at, .. } => phrase!("byte {at} of the text", at),
    }
}

/// What stands at the difference on each side, and who wrote it.
fn sides(difference: &Difference) -> impl Iterator<Item = (&'static str, Phrase)> {
    let excerpts = match &difference.kind {
        DifferenceKind::Text { excerpts, .. } => excerpts.each_ref().map(|text| Some(text.as_str())),
        _ => [None, None],
    };
    let sides = ["first", "second"].into_iter().zip(&difference.owners).zip(excerpts);
    sides.filter_map(|((side, owner), excerpt)| {
        let text = match (excerpt, owner.as_deref().map(owner_name)) {
            (Some(text), Some(owner)) => phrase!("`{text}` from {owner}", text, owner),
            (Some(text), None) => phrase!("`{text}`", text),
            (None, Some(owner)) => phrase!("from {owner}", owner),
            (None, None) => return None,
        };
        Some((side, text))
    })
}

/// Names a source. Only the name of separators is a word of the program; others contain ids.
fn owner_name(owner: &str) -> Phrase {
    match owner {
        "separator" => Phrase::from("separator"),
        other => Phrase::verbatim(other),
    }
}

fn again(comparison: &Comparison) -> Option<Phrase> {
    let (again, unchanged) = (comparison.again?, comparison.again_unchanged?);
    let tokens = count_of!(again, "token");
    Some(match unchanged {
        _ if again == 0 => phrase!("no tokens"),
        0 => phrase!("about {tokens}, all new", tokens),
        unchanged => phrase!("about {tokens}, {unchanged} of them in unchanged messages", tokens, unchanged),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_separators_and_no_tokens_in_chinese() {
        let difference = Difference {
            message: 0,
            kind: DifferenceKind::Text { at: 1, excerpts: ["a".to_owned(), "b".to_owned()] },
            owners: [Some("separator".to_owned()), Some("preset:first".to_owned())],
        };
        let said = |text: &Phrase| lang::say(Language::Zh, text);
        let sides: Vec<String> = sides(&difference).map(|(_, text)| said(&text)).collect();
        assert_eq!(sides, ["`a`，来自分隔符", "`b`，来自 preset:first"]);
        let comparison = Comparison {
            shared_messages: 1,
            shared_tokens: Some(9),
            messages: [1, 1],
            tokens: Some([9, 9]),
            difference: None,
            prefix_break: None,
            planned_break: None,
            again: Some(0),
            again_unchanged: Some(0),
        };
        assert_eq!(again(&comparison).as_ref().map(said).as_deref(), Some("无"));
    }
}
