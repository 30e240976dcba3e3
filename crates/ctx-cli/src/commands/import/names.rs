//! Names of files that hold on every system, whatever a stranger's file calls them.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// The names that are given already.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeSet<String>);

/// How long a name may be, in characters.
const LONGEST: usize = 80;

/// Names that mean devices on Windows.
const DEVICES: [&str; 8] = ["con", "prn", "aux", "nul", "com1", "com2", "lpt1", "lpt2"];

impl Names {
    /// Returns a relative path of plain names that no other file has.
    pub(super) fn of(&mut self, steps: &[&str]) -> PathBuf {
        let mut steps: Vec<String> = steps.iter().map(|step| plain(step)).collect();
        let name = steps.pop().unwrap_or_default();
        let (stem, ending) = name
            .rsplit_once('.')
            .map_or((name.as_str(), String::new()), |(stem, ending)| (stem, format!(".{ending}")));
        let numbered = (2..).map(|number| format!("{stem} {number}{ending}"));
        for name in std::iter::once(name.clone()).chain(numbered) {
            let path: PathBuf = steps.iter().chain([&name]).collect();
            if self.0.insert(path.to_string_lossy().to_lowercase()) {
                return path;
            }
        }
        PathBuf::from(name)
    }
}

/// Makes one plain name: no separators, no dots at the ends, nothing that a shell or a system reads otherwise.
fn plain(step: &str) -> String {
    let letter = |letter: char| match letter {
        ' ' | '.' | '-' | '_' | '(' | ')' | '[' | ']' | ',' | '!' | '&' | '+' | '\'' => letter,
        letter if letter.is_alphanumeric() => letter,
        _ => '_',
    };
    let cut = match step.char_indices().nth_back(LONGEST - 1) {
        Some((at, _)) => step.get(at..).unwrap_or_default(),
        None => step,
    };
    let name: String = cut.chars().map(letter).collect();
    let name = name.trim_matches([' ', '.']);
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    match name {
        "" => "_".to_owned(),
        name if DEVICES.contains(&&*stem) => format!("_{name}"),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(steps: &[&str], expected: &str) {
        assert_eq!(Names::default().of(steps).to_string_lossy().replace('\\', "/"), expected);
    }

    #[test]
    fn names_lead_nowhere_else() {
        check(&["worldbooks", "a/b\\c.json"], "worldbooks/a_b_c.json");
        check(&["assets", "..", "..", "x.png"], "assets/_/_/x.png");
        check(&["CON.json"], "_CON.json");
        check(&["角色.json"], "角色.json");
        check(&["", "."], "_/_");
    }

    #[test]
    fn a_name_is_given_once() {
        let mut names = Names::default();
        assert_eq!(names.of(&["a.json"]), PathBuf::from("a.json"));
        assert_eq!(names.of(&["A.json"]), PathBuf::from("A 2.json"));
    }
}
