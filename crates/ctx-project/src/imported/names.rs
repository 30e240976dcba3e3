//! Names of files that hold on every system, whatever a stranger's file calls them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The names that are given already, in small letters, since some systems know no others.
#[derive(Debug, Default)]
pub(super) struct Names {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
}

/// How long a name may be, in characters and in bytes, so that a number has room beside it.
const LONGEST: usize = 80;
const LONGEST_BYTES: usize = 200;

/// How many steps a path may have; of more the last ones stay.
const DEEPEST: usize = 12;

/// Names that mean devices on Windows.
const DEVICES: [&str; 28] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "com¹", "com²", "com³", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "lpt¹",
    "lpt²", "lpt³",
];

/// How long an ending may be, in bytes.
const LONGEST_ENDING: usize = 16;

impl Names {
    /// Returns a relative path of plain names that no other file has, and that leads through none.
    pub(super) fn of(&mut self, steps: &[&str]) -> PathBuf {
        let (first, rest) = steps.split_at(steps.len().min(1));
        let rest = rest.get(rest.len().saturating_sub(DEEPEST)..).unwrap_or_default();
        let mut steps: Vec<&str> = first.iter().chain(rest).copied().collect();
        let (stem, ending) = divided(steps.pop().unwrap_or_default());
        let mut path = PathBuf::new();
        for folder in steps {
            let is_free = |name: &str| !self.files.contains(name);
            let (folder, key) = free(&path, &plain(folder, LONGEST_BYTES), "", is_free);
            self.folders.insert(key);
            path = folder;
        }
        let is_free = |name: &str| !self.files.contains(name) && !self.folders.contains(name);
        let (file, key) = free(&path, &stem, ending, is_free);
        self.files.insert(key);
        file
    }
}

/// Returns the first path that is free, with a number in its name if need be, and how it is remembered.
fn free(folder: &Path, stem: &str, ending: &str, is_free: impl Fn(&str) -> bool) -> (PathBuf, String) {
    let ending = if ending.is_empty() { String::new() } else { format!(".{ending}") };
    let mut number = 1_u64;
    loop {
        let path = match number {
            1 => folder.join(format!("{stem}{ending}")),
            number => folder.join(format!("{stem} {number}{ending}")),
        };
        let key = path.to_string_lossy().to_lowercase();
        if is_free(&key) {
            return (path, key);
        }
        number += 1;
    }
}

/// Divides a name into a plain one and its ending, so that what is left of a name of dots still has its ending.
fn divided(name: &str) -> (String, &str) {
    let is_ending = |ending: &str| {
        !ending.is_empty()
            && ending.len() <= LONGEST_ENDING
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    match name.rsplit_once('.').filter(|(_, ending)| is_ending(ending)) {
        Some((stem, ending)) => (plain(stem, LONGEST_BYTES - 1 - ending.len()), ending),
        None => (plain(name, LONGEST_BYTES), ""),
    }
}

/// Makes one plain name of so many bytes at most: no separators, no dots at the ends, nothing that a shell or a system reads otherwise.
fn plain(step: &str, longest: usize) -> String {
    let letter = |letter: char| match letter {
        ' ' | '.' | '-' | '_' | '(' | ')' | '[' | ']' | ',' | '!' | '&' | '+' | '\'' => letter,
        letter if letter.is_alphanumeric() => letter,
        _ => '_',
    };
    let ends = step.char_indices().rev().take(LONGEST).map(|(at, _)| at);
    let at = ends.take_while(|at| step.len() - at <= longest).last().unwrap_or(step.len());
    let cut = step.get(at..).unwrap_or_default();
    let name: String = cut.chars().map(letter).collect();
    let name = name.trim_matches([' ', '.']);
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
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
        check(&["worldbooks", "..json"], "worldbooks/_.json");
        check(&["worldbooks", "....json"], "worldbooks/_.json");
        check(&["worldbooks", ". . .json"], "worldbooks/_.json");
        check(&["worldbooks", "The end. .json"], "worldbooks/The end.json");
        check(&["con .txt.json"], "_con .txt.json");
        check(&["LPT².json"], "_LPT².json");
    }

    #[test]
    fn a_name_is_given_once() {
        let mut names = Names::default();
        assert_eq!(names.of(&["a.json"]), PathBuf::from("a.json"));
        assert_eq!(names.of(&["A.json"]), PathBuf::from("A 2.json"));
    }

    #[test]
    fn no_path_leads_through_a_file() {
        let mut names = Names::default();
        let mut named = |steps: &[&str]| names.of(steps).to_string_lossy().replace('\\', "/");
        assert_eq!(named(&["assets", "x"]), "assets/x");
        assert_eq!(named(&["assets", "X", "y"]), "assets/X 2/y");
        assert_eq!(named(&["assets", "z", "y"]), "assets/z/y");
        assert_eq!(named(&["assets", "z"]), "assets/z 2");
    }

    #[test]
    fn names_and_paths_have_an_end() {
        let long = "\u{20000}".repeat(90);
        let path = Names::default().of(&["worldbooks", &format!("{long}.json")]);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.len() <= 200 && name.strip_suffix(".json").is_some(), "{name}");
        let deep = vec!["a"; 4_000];
        assert_eq!(Names::default().of(&deep).components().count(), 13);
        check(&["COM7.json"], "_COM7.json");
    }
}
