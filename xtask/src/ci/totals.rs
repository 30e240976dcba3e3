//! Runs tests, passes their output on line by line, and adds up what the test binaries report.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs a `cargo test` call and then what is to stand before the totals; prints these last, and fails if either does.
pub(super) fn run(command: &mut Command, before_totals: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start `cargo test`")?;
    let mut output = BufReader::new(child.stdout.take().context("`cargo test` has no output")?);
    let mut totals = Totals::default();
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        print!("{text}");
        totals.add(&text);
        line.clear();
    }
    let status = child.wait()?;
    let rest = before_totals();
    println!("{totals}");
    if !status.success() {
        bail!("`cargo test` ended with {status}");
    }
    rest
}

/// Sums over all test binaries and doctests.
#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Totals {
    /// Adds one line of output if it is the closing line of a test binary.
    fn add(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else { return };
        let words: Vec<&str> = counts.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
        for (number, name) in words.iter().zip(words.iter().skip(1)) {
            let Ok(number) = number.parse::<u64>() else { continue };
            match *name {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tests: {} passed, {} failed, {} skipped", self.passed, self.failed, self.ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::Totals;

    #[test]
    fn closing_lines_are_added_up() {
        let mut totals = Totals::default();
        for line in [
            "running 3 tests\n",
            "test result: ok. 39 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.10s\n",
            "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 1.00s\n",
            "test 5 passed ... ok\n",
        ] {
            totals.add(line);
        }
        assert_eq!(totals.to_string(), "tests: 42 passed, 1 failed, 2 skipped");
    }
}
