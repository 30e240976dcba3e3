//! A tale that two people write together.

use super::draws::Draws;
use super::story::Story;
use super::values::{Kind, Stated, draw};

const SCENES: &[&str] = &[
    "*The wind pushes against the shutters while the fire burns low.* Nobody speaks for a long time, and the rain keeps falling on the roof.",
    "*She walks along the wall, one hand on the cold stone, and listens.* Somewhere below a door closes and steps fade away.",
    "*He laughs softly and pours another cup.* The night is young, and the road was long enough for both of them.",
    "*The market wakes up slowly, stall by stall.* Bread, smoke and the salt of the sea hang in the air.",
    "*They share the last of the dried apples and watch the fog climb the hill.* There is nothing to do but wait.",
];

/// What is worth remembering: who says it, how, and how a summary would.
const BEATS: &[(Kind, &str, &str, &str)] = &[
    (
        Kind::Name,
        "\"My name is {v},\" says the ferryman, \"and I carry no iron.\"",
        "The ferryman is {v}.",
        "ferryman",
    ),
    (Kind::Name, "The seal on the letter belongs to {v}, the queen's envoy.", "The envoy is {v}.", "envoy"),
    (
        Kind::Number,
        "\"The captain wants {v} for the passage,\" she whispers.",
        "The passage costs {v}.",
        "passage",
    ),
    (Kind::Quote, "On the spine of the book stands {v}, in faded gold.", "The book is {v}.", "book"),
    (
        Kind::Date,
        "\"The gate opens on {v}, and never again,\" the monk warns.",
        "The gate opens on {v}.",
        "gate",
    ),
    (Kind::Identifier, "Scratched into the key is the mark {v}.", "The key has the mark {v}.", "key"),
];

pub(super) fn story(draws: &mut Draws) -> Story {
    let system = "You play the narrator of a slow, wintry tale. Never speak for the traveller. Keep every promise made in it.";
    let mut story = Story::new(Some(system), false);
    story.say("user", "I am the traveller. Begin the tale at the inn by the frozen ferry, and remember what people tell me.");
    for turn in 0..90 {
        let role = if turn % 2 == 0 { "assistant" } else { "user" };
        if !draws.chance(33) {
            story.say(role, draws.pick::<&str>(SCENES));
            continue;
        }
        let (kind, said, summed, cue) = draws.pick(BEATS);
        let forms = draw(*kind, false, draws);
        let text = format!("{} {}", draws.pick(SCENES), said.replace("{v}", &forms[0]));
        let cues = vec![(*cue).to_owned()];
        story.state(role, &text, vec![Stated { kind: *kind, forms, cues, sentence: (*summed).to_owned() }]);
    }
    story
}
