//! A page as a list of lines, and what of it is to be done.

use std::ops::Range;

/// A page.
pub(crate) struct Page {
    pub(crate) lines: Vec<String>,
    pub(crate) steps: Vec<Step>,
    blocks: Vec<Block>,
}

/// What is done, in the order of the page.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// A folder of the repository is copied.
    Folder(String),
    /// Commands print in this language from here on.
    Language(String),
    /// The model answers this next.
    Answer(String),
    /// The model calls a tool next: its name and its arguments.
    Call(String),
    /// A block becomes a file.
    File { name: String, text: String },
    /// Lines of a file are replaced.
    Change { name: String, old: String, new: String },
    /// A command is run and should print these lines of the page.
    Command { line: String, output: Range<usize> },
    /// Commands that must succeed, whatever they print, each with its line.
    Usage(Vec<(usize, String)>),
}

/// A block of code.
#[derive(Clone, Debug)]
struct Block {
    /// The word behind the fence.
    language: String,
    /// The second word behind the fence, or nothing.
    name: String,
    /// The lines between the fences.
    inside: Range<usize>,
}

impl Page {
    /// Reads a page.
    pub(crate) fn read(text: &str) -> Self {
        let mut page =
            Self { lines: text.lines().map(str::to_owned).collect(), steps: vec![], blocks: vec![] };
        let mut at = 0;
        while at < page.lines.len() {
            page.steps.extend(marker(&page.lines[at]));
            at = match page.block_at(at) {
                Some(block) => {
                    page.steps.extend(page.steps_of(&block));
                    page.blocks.push(block);
                    page.blocks.last().map_or(at, |block| block.inside.end)
                }
                None => at,
            } + 1;
        }
        page
    }

    /// Returns the language and the lines of each block.
    pub(crate) fn blocks(&self) -> Vec<(&str, &[String])> {
        self.blocks.iter().map(|it| (&*it.language, &self.lines[it.inside.clone()])).collect()
    }

    /// Returns the block that begins in this line.
    fn block_at(&self, at: usize) -> Option<Block> {
        let line = &self.lines[at];
        let fence: String = line.chars().take_while(|&it| it == '`').collect();
        let mut words = (fence.len() >= 3).then(|| line[fence.len()..].split_whitespace())?;
        let below = self.lines[at + 1..].iter().position(|line| line.trim_end() == fence);
        let end = below.map_or(self.lines.len(), |lines| at + 1 + lines);
        let [language, name] = [(); 2].map(|()| words.next().unwrap_or_default().to_owned());
        Some(Block { language, name, inside: at + 1..end })
    }

    fn steps_of(&self, block: &Block) -> Vec<Step> {
        let (lines, name) = (block.inside.clone(), block.name.clone());
        let text = |without: char| {
            let kept = self.lines[lines.clone()].iter().filter(|line| !line.starts_with(without));
            kept.map(|line| line.get(1..).unwrap_or_default().to_owned() + "\n").collect()
        };
        match &*block.language {
            "console" => commands(&self.lines, lines),
            "sh" => vec![Step::Usage(usages(&self.lines, lines))],
            // The tests of the packages run these programs.
            "python" | "js" => vec![],
            _ if name.is_empty() => vec![],
            "diff" => vec![Step::Change { name, old: text('+'), new: text('-') }],
            _ => {
                let text = self.lines[lines].iter().map(|line| line.clone() + "\n").collect();
                vec![Step::File { name, text }]
            }
        }
    }
}

/// Reads a comment that says what is there, or what a model answers.
fn marker(line: &str) -> Option<Step> {
    let (key, value) = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.split_once(':')?;
    let value = value.trim().to_owned();
    match key.trim() {
        "folder" => Some(Step::Folder(value)),
        "language" => Some(Step::Language(value)),
        "answer" => Some(Step::Answer(value)),
        "call" => Some(Step::Call(value)),
        _ => None,
    }
}

fn commands(lines: &[String], inside: Range<usize>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = inside.start;
    while at < inside.end {
        let Some(first) = lines[at].strip_prefix("$ ") else {
            panic!("a block of commands begins with `{}`, which is no command", lines[at]);
        };
        let (line, below) = joined(first, lines, at + 1..inside.end);
        let end = (below..inside.end).find(|&it| lines[it].starts_with("$ ")).unwrap_or(inside.end);
        steps.push(Step::Command { line, output: below..end });
        at = end;
    }
    steps
}

fn usages(lines: &[String], inside: Range<usize>) -> Vec<(usize, String)> {
    let mut usages = Vec::new();
    let mut at = inside.start;
    while at < inside.end {
        let (line, below) = joined(&lines[at], lines, at + 1..inside.end);
        usages.push((at, line));
        at = below;
    }
    usages
}

/// Joins a command that goes on where a line ends with a backslash, and returns the line below it.
fn joined(first: &str, lines: &[String], mut below: Range<usize>) -> (String, usize) {
    let mut line = first.to_owned();
    while line.ends_with('\\') && !below.is_empty() {
        line.pop();
        line.push_str(lines[below.start].trim_start());
        below.start += 1;
    }
    (line, below.start)
}
