//! Values of every kind, each with the ways in which it can be written.

use super::draws::Draws;
use super::words;

/// What kind of fact a value makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Date,
    Name,
    Path,
    Identifier,
    Quote,
    Constraint,
    Negation,
    Question,
}

/// A value as a text can carry it.
#[derive(Clone, Debug)]
pub(super) struct Stated {
    pub(super) kind: Kind,
    /// The ways to write it; the first is the one in the conversation.
    pub(super) forms: Vec<String>,
    /// Words that somebody who asks for it would use.
    pub(super) cues: Vec<String>,
    /// A sentence of a summary, with `{v}` for the value.
    pub(super) sentence: String,
}

impl Stated {
    /// The forms in lower case, the one of the conversation first.
    pub(super) fn spellings(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for form in self.forms.iter().map(|form| form.to_lowercase()) {
            if !all.contains(&form) {
                all.push(form);
            }
        }
        all
    }
}

/// Draws a value of a kind in a language; sentences are not drawn here.
pub(super) fn draw(kind: Kind, is_chinese: bool, draws: &mut Draws) -> Vec<String> {
    match (kind, is_chinese) {
        (Kind::Number, false) => money_english(draws),
        (Kind::Number, true) => money_chinese(draws),
        (Kind::Date, false) => date_english(draws),
        (Kind::Date, true) => date_chinese(draws),
        (Kind::Name, false) => {
            vec![format!("{} {}", draws.pick(words::FIRST_NAMES), draws.pick(words::LAST_NAMES))]
        }
        (Kind::Name, true) => {
            vec![format!("{}{}", draws.pick(words::SURNAMES), draws.pick(words::GIVEN_NAMES))]
        }
        (Kind::Path, _) => vec![path(draws)],
        (Kind::Identifier, _) => vec![identifier(draws)],
        (Kind::Quote, false) => title_english(draws),
        (Kind::Quote, true) => title_chinese(draws),
        (Kind::Constraint | Kind::Negation | Kind::Question, _) => vec![],
    }
}

fn money_english(draws: &mut Draws) -> Vec<String> {
    let amount = draws.between(103, 9_890);
    let grouped = grouped(amount);
    let mut forms = vec![format!("${grouped}"), format!("${amount}"), format!("{grouped} dollars")];
    if draws.chance(40) {
        forms.rotate_left(1);
    }
    forms
}

fn money_chinese(draws: &mut Draws) -> Vec<String> {
    let amount = draws.between(103, 9_890);
    let mut forms = vec![format!("{amount}元"), format!("{}元", grouped(amount)), format!("{amount} 元")];
    if draws.chance(30) {
        forms.rotate_left(1);
    }
    forms
}

fn grouped(amount: usize) -> String {
    if amount < 1_000 { amount.to_string() } else { format!("{},{:03}", amount / 1_000, amount % 1_000) }
}

fn date_english(draws: &mut Draws) -> Vec<String> {
    let (year, month, day) = (draws.between(2024, 2027), draws.below(12), draws.between(1, 28));
    let name = words::MONTHS[month];
    let mut forms = vec![
        format!("{day} {name} {year}"),
        format!("{name} {day}, {year}"),
        format!("{year}-{:02}-{day:02}", month + 1),
    ];
    let turn = draws.below(3);
    forms.rotate_left(turn);
    forms
}

fn date_chinese(draws: &mut Draws) -> Vec<String> {
    let (year, month, day) = (draws.between(2024, 2027), draws.between(1, 12), draws.between(1, 28));
    let mut forms = vec![format!("{year}年{month}月{day}日"), format!("{year}-{month:02}-{day:02}")];
    if draws.chance(30) {
        forms.rotate_left(1);
    }
    forms
}

fn path(draws: &mut Draws) -> String {
    let folders = format!("{}/{}", draws.pick(words::FOLDERS), draws.pick(words::MODULES));
    format!("{folders}/{}.{}", draws.pick(words::FILES), draws.pick(&["rs", "ts", "toml", "md", "sql"]))
}

fn identifier(draws: &mut Draws) -> String {
    let letters = draws.pick(&["KX", "ORD", "TKT", "PLM", "REQ"]);
    match draws.below(3) {
        0 => format!("{letters}-{}", draws.between(10_000, 99_999)),
        1 => format!("{}_{}", letters.to_lowercase(), draws.between(1_000, 9_999)),
        _ => format!("{}{}", letters.to_lowercase(), draws.hex(7)),
    }
}

fn title_english(draws: &mut Draws) -> Vec<String> {
    let title = format!("The {} {}", draws.pick(words::ADJECTIVES), draws.pick(words::NOUNS));
    vec![format!("\"{title}\""), format!("“{title}”"), title]
}

fn title_chinese(draws: &mut Draws) -> Vec<String> {
    vec![format!("《{}{}》", draws.pick(words::ADJECTIVES_CHINESE), draws.pick(words::NOUNS_CHINESE))]
}
