//! What two contexts have in common, for people.

use ctx_engine::{Comparison, Difference, DifferenceKind};

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::{left, plural, widest};

/// Writes how much of the beginning is the same, where the two part, and what is billed again.
pub(crate) fn comparison(comparison: &Comparison) -> String {
    let mut lines = vec![("shared".to_owned(), shared(comparison))];
    if let Some(difference) = &comparison.difference {
        let place = format!("message {}, {}", difference.message, part(difference));
        lines.push(("first difference".to_owned(), place));
        lines.extend(sides(difference));
    }
    lines.extend(again(comparison).map(|text| ("billed again".to_owned(), text)));
    let lines = lines.iter().map(|(title, text)| (said(title), clean_line(&lang::phrase(text))));
    let lines: Vec<(String, String)> = lines.collect();
    let width = widest(lines.iter().map(|(title, _)| title));
    let lines = lines.iter().map(|(title, text)| format!("{}  {text}", left(title, width)));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Writes the title of a line, whose indent stays.
fn said(title: &str) -> String {
    let own = title.trim_start();
    title.replace(own, &lang::phrase(own))
}

fn shared(comparison: &Comparison) -> String {
    let [_, messages] = comparison.messages;
    let Some(difference) = &comparison.difference else {
        return format!("everything: {}", plural(messages, "message"));
    };
    let next = match difference.kind {
        DifferenceKind::Text { at: 1.., .. } => " and the beginning of the next",
        _ => "",
    };
    let tokens = comparison.shared_tokens.zip(comparison.tokens).map(|(shared, [_, all])| {
        let percent = (shared * 100).checked_div(all).unwrap_or(100);
        format!(", about {shared} of {all} tokens ({percent} %)")
    });
    let shared = plural(comparison.shared_messages, "message");
    format!("{shared} of {messages}{next}{}", tokens.unwrap_or_default())
}

fn part(difference: &Difference) -> String {
    match &difference.kind {
        DifferenceKind::Added => "which only the second has".to_owned(),
        DifferenceKind::Removed => "which only the first has".to_owned(),
        DifferenceKind::Field { name } => format!("`{name}`"),
        DifferenceKind::Text { at, .. } => format!("byte {at} of its text"),
    }
}

/// What stands at the difference on each side, and who wrote it.
fn sides(difference: &Difference) -> Vec<(String, String)> {
    let excerpts = match &difference.kind {
        DifferenceKind::Text { excerpts, .. } => excerpts.each_ref().map(|text| Some(text.as_str())),
        _ => [None, None],
    };
    let sides = ["  first", "  second"].into_iter().zip(&difference.owners).zip(excerpts);
    let line = |((side, owner), excerpt): ((&str, &Option<String>), Option<&str>)| {
        let excerpt = excerpt.map(|text| format!("`{text}`"));
        let owner = owner.as_ref().map(|owner| lang::phrase(&format!("by {owner}")).into_owned());
        let text: Vec<String> = excerpt.into_iter().chain(owner).collect();
        (!text.is_empty()).then(|| (side.to_owned(), text.join(" ")))
    };
    sides.filter_map(line).collect()
}

fn again(comparison: &Comparison) -> Option<String> {
    let (again, unchanged) = (comparison.again?, comparison.again_unchanged?);
    let about = plural(usize::try_from(again).unwrap_or(usize::MAX), "token");
    Some(match unchanged {
        _ if again == 0 => "nothing".to_owned(),
        0 => format!("about {about}, all of them new"),
        unchanged => format!("about {about}, {unchanged} of them in messages that have not changed"),
    })
}
