//! What a command printed, beside what the page shows.

/// Stands for any number of lines.
const ELISION: &str = "…";

/// Returns whether a page shows what was printed; blanks at the ends of lines, empty last lines and how many
/// milliseconds something took do not count.
pub(crate) fn is_shown(shown: &[String], printed: &str) -> bool {
    let (shown, printed) = (shown.join("\n"), without_times(printed));
    let shown = without_times(&shown);
    let (shown, printed) = (trimmed(shown.lines()), trimmed(printed.lines()));
    match shown.iter().position(|&line| line == ELISION) {
        None => shown == printed,
        Some(at) => {
            let (head, tail) = (&shown[..at], &shown[at + 1..]);
            assert!(!tail.contains(&ELISION), "more than one line `…` in {shown:#?}");
            printed.len() >= head.len() + tail.len() && printed.starts_with(head) && printed.ends_with(tail)
        }
    }
}

/// Writes what the page should show: what was printed, where the page leaves lines out without as many of them.
pub(crate) fn renewed(shown: &[String], printed: &str) -> Vec<String> {
    let shown = trimmed(shown.iter().map(String::as_str));
    let mut lines: Vec<String> = trimmed(printed.lines()).into_iter().map(str::to_owned).collect();
    if let Some(head) = shown.iter().position(|&line| line == ELISION) {
        let tail = shown.len() - head - 1;
        if lines.len() > head + tail {
            lines.splice(head..lines.len() - tail, [ELISION.to_owned()]);
        }
    }
    lines
}

/// Writes what differs, line by line.
pub(crate) fn difference(shown: &[String], printed: &str) -> String {
    let lines = |mark: char, lines: Vec<&str>| {
        lines.iter().flat_map(|line| ["\n  ".to_owned(), format!("{mark} {line}")]).collect::<String>()
    };
    lines('-', trimmed(shown.iter().map(String::as_str))) + &lines('+', trimmed(printed.lines()))
}

/// Puts a letter in the place of each number of milliseconds.
fn without_times(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for at in 1..words.len() {
        let is_unit = words[at].trim_end_matches([',', ')']).split('\n').next() == Some("ms");
        if is_unit && words[at - 1].bytes().all(|it| it.is_ascii_digit()) {
            words[at - 1] = "N";
        }
    }
    words.join(" ")
}

fn trimmed<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut lines: Vec<&str> = lines.map(str::trim_end).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}
