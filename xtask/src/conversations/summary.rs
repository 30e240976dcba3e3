//! Summaries that drop some facts and invent others, with a label for each.

use serde_json::{Value, json};

use super::chat;
use super::draws::Draws;
use super::story::Story;
use super::values::Kind;

/// How many summaries each conversation gets.
const SUMMARIES: usize = 3;

/// How many things each of them makes up.
const INVENTED: usize = 6;

/// Writes the summaries of a story.
pub(super) fn of(story: &Story, draws: &mut Draws) -> Vec<Value> {
    (0..SUMMARIES).map(|_| one(story, draws)).collect()
}

fn one(story: &Story, draws: &mut Draws) -> Value {
    let mut lines = Vec::new();
    let mut lost = Vec::new();
    for (place, fact) in story.facts.iter().enumerate() {
        if draws.chance(45) {
            lost.push(place);
        } else {
            lines.push(fact.stated.sentence.replace("{v}", draws.pick::<String>(&fact.stated.forms)));
        }
    }
    let text = lines.join("\n").to_lowercase();
    // Said in another place of the summary, or part of a longer word there: not lost.
    lost.retain(|place| !story.facts[*place].stated.spellings().iter().any(|form| text.contains(form)));
    let invented = invent(story, draws, &text);
    for (sentence, _) in &invented {
        lines.insert(draws.below(lines.len() + 1), sentence.clone());
    }
    let labels: Vec<&Value> = invented.iter().map(|(_, label)| label).collect();
    json!({ "text": lines.join("\n"), "lost": lost, "invented": labels })
}

/// Makes things up that stand nowhere in the story, nor in the true part of the summary.
fn invent(story: &Story, draws: &mut Draws, summary: &str) -> Vec<(String, Value)> {
    let mut made = Vec::new();
    while made.len() < INVENTED {
        let (_, stated) = chat::value(story.is_chinese, draws);
        // A title in a language without capitals is told apart by its marks alone, as in the story.
        let spellings = stated.spellings();
        if spellings.iter().any(|form| story.has(form) || summary.contains(form))
            || parts_known(story, &stated.forms[0], stated.kind)
        {
            continue;
        }
        let sentence = stated.sentence.replace("{v}", &stated.forms[0]);
        made.push((sentence, json!({ "kind": stated.kind.name(), "spellings": spellings })));
    }
    made
}

/// Returns whether half of a made-up name is the name of somebody in the story.
fn parts_known(story: &Story, form: &str, kind: Kind) -> bool {
    kind == Kind::Name && form.split(' ').any(|part| story.has(part))
}
