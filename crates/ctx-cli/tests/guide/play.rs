//! Runs a page from top to bottom.

use std::ops::Range;
use std::path::Path;

use crate::commands::Place;
use crate::output;
use crate::page::{Page, Step};

/// What came of a page.
#[derive(Default)]
pub(crate) struct Played {
    /// The page as it should be.
    pub(crate) text: String,
    /// What is wrong with it, each with the number of a line.
    pub(crate) faults: Vec<String>,
    /// How many commands were run.
    pub(crate) commands: usize,
}

/// Runs the commands of a page in a new folder; `root` is that of the repository.
pub(crate) fn play(page: &Page, root: &Path) -> Played {
    let mut played = Played::default();
    let mut place = Place::new(root);
    let mut renewed: Vec<(Range<usize>, Vec<String>)> = Vec::new();
    for step in &page.steps {
        match step {
            Step::Folder(path) => place.begin(&root.join(path)),
            Step::Language(name) => place.set_language(name),
            Step::Answer(text) => place.model().answer(text),
            Step::Call(call) => place.model().call(call),
            Step::File { name, text } => place.write(name, text),
            Step::Change { name, old, new } => place.change(name, old, new),
            Step::Command { line, output } => {
                let (shown, printed) = (&page.lines[output.clone()], place.run(line));
                played.commands += 1;
                if !output::is_shown(shown, &printed) {
                    let difference = output::difference(shown, &printed);
                    played.faults.push(format!("{}: `{line}` prints{difference}", output.start));
                    renewed.push((output.clone(), output::renewed(shown, &printed)));
                }
            }
            Step::Usage(lines) => {
                played.commands += lines.len();
                let lines = lines.iter().map(|(at, line)| (at + 1, line));
                let faults = place.run_usages(lines).into_iter();
                played.faults.extend(faults.map(|(at, line, fault)| format!("{at}: `{line}`: {fault}")));
            }
        }
    }
    played
        .faults
        .extend(place.unused_answers().map(|answers| format!("1: {answers} answers are not asked for")));
    let mut lines = page.lines.clone();
    for (range, output) in renewed.into_iter().rev() {
        lines.splice(range, output);
    }
    played.text = lines.into_iter().map(|line| line + "\n").collect();
    played
}
