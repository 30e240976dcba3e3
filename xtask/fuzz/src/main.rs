//! Changes seeds at random and feeds them to a target, for as long as it is asked to: what runs where the compiler
//! that can watch the code's branches is missing. The same seed number tries the same inputs.
#![expect(clippy::print_stdout, reason = "a terminal program talks to the terminal")]

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use fuzz::{seeds, target};

/// How many inputs are kept beside the seeds, for further changes.
const MOST_KEPT: usize = 2_000;

/// How long an input may get, in bytes.
const LONGEST: usize = 64 << 10;

/// What is put into inputs, since it means something to one of the targets.
const WORDS: [&[u8]; 22] = [
    b"null",
    b"[]",
    b"{}",
    b"\"\"",
    b"-1",
    b"1e309",
    b"true",
    b"\"extensions\":",
    b"\"entries\":",
    b"\"keys\":",
    b"\"key\":",
    b"\"imported\":",
    b"{{",
    b"}}",
    b"::",
    b"{{original}}",
    b"/a/g",
    b"(?<=",
    b"\\u{1F600}",
    b"PK\x03\x04",
    b"\xff",
    b"\0",
];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, seed, folder] = arguments.as_slice() else {
        bail!("usage: fuzz TARGET SECONDS SEED WORKSPACE; `cargo xtask fuzz` calls it so");
    };
    let target = target(name).with_context(|| format!("there is no target `{name}`"))?;
    let time = Duration::from_secs(seconds.parse().context("no number of seconds")?);
    let folder = Path::new(folder);
    let mut draws = Draws(seed.parse::<u64>().context("no seed")?.max(1));
    let mut inputs = seeds(name, folder);
    let crash = folder.join("target/fuzz").join(format!("{name}.input"));
    std::fs::create_dir_all(folder.join("target/fuzz"))?;
    let (begin, mut count) = (Instant::now(), 0_u64);
    while begin.elapsed() < time {
        let input = draws.changed(&inputs);
        let tried = std::panic::catch_unwind(|| (target.run)(&input));
        if tried.is_err() {
            std::fs::write(&crash, &input)?;
            bail!("input {count} of seed {seed} breaks `{name}`; it is in {}", crash.display());
        }
        count += 1;
        if inputs.len() < MOST_KEPT && draws.below(20) == 0 {
            inputs.push(input);
        }
    }
    println!("{name}: {count} inputs in {} s, no crash", begin.elapsed().as_secs());
    Ok(())
}

/// Numbers that look random and always are the same ones (xorshift64).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below another, 0 if that is 0.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % (limit.max(1) as u64)).unwrap_or_default()
    }

    /// Returns one of the inputs with some changes.
    fn changed(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut input = inputs.get(self.below(inputs.len())).cloned().unwrap_or_default();
        for _ in 0..=self.below(6) {
            self.change(&mut input, inputs);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(16)).min(input.len());
        match self.below(7) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => input.truncate(at),
            2 => drop(input.drain(at..end)),
            3 => {
                let part = input.get(at..end).unwrap_or_default().to_vec();
                input.splice(at..at, part);
            }
            4 => {
                let word = WORDS.get(self.below(WORDS.len())).copied().unwrap_or_default();
                input.splice(at..end, word.iter().copied());
            }
            5 => {
                let other = inputs.get(self.below(inputs.len())).map(Vec::as_slice).unwrap_or_default();
                let from = self.below(other.len());
                let to = (from + self.below(64)).min(other.len());
                input.splice(at..at, other.get(from..to).unwrap_or_default().iter().copied());
            }
            _ => {
                let byte = u8::try_from(self.below(256)).unwrap_or_default();
                input.splice(at..at, [byte]);
            }
        }
    }
}
