//! What an import made, on one screen; and the fields of its report, for whoever wants to know more.

use ctx_language::Language;
use std::borrow::Cow;
use std::path::Path;

use ctx_preset_import::codes::GUESSED_FORMAT;
use ctx_preset_import::{FieldReport, FieldStatus, FileReport, Import, ImportReport, NamedBook};
use ctx_types::{Agent, Phrase, PresetMessage, count_of, phrase};

use crate::lang;
use crate::show;

/// How many lines the names of one list take.
const MAX_NAME_LINES: usize = 3;

/// How many lines a part has, however little room there is.
const MIN_LINES: usize = 2;

/// How many columns the name of a file takes before what is said of it.
const FILE: usize = 16;

/// How far lines below a title are indented.
const INDENT: usize = 2;

/// The columns that the titles of a list take.
const TITLE: usize = 11;

/// Writes what was made, what differs here, what has no effect, and what was guessed: in `room` lines, unless each part
/// would have fewer than [`MIN_LINES`].
pub(super) fn made(language: Language, made: &Import, room: usize) -> String {
    let report = &made.report;
    let guesses = made.diagnostics().filter(|found| found.code == GUESSED_FORMAT);
    let guesses = guesses.map(|found| cut(&format!("{:INDENT$}{}", "", lang::say(language, &found.message))));
    let mut parts = vec![
        ("", files(language, report)),
        ("Created", made_lines(language, made)),
        ("Approximated", reasons(language, report, FieldStatus::Approximated)),
        ("Kept without effect", reasons(language, report, FieldStatus::Kept)),
        ("Unsupported", reasons(language, report, FieldStatus::Unsupported)),
        ("Guessed", guesses.collect()),
    ];
    parts.retain(|(_, lines)| !lines.is_empty());
    // Each part but the first has a title, and an empty line above it.
    let room = room.saturating_sub(2 * parts.len().saturating_sub(1)).max(MIN_LINES * parts.len());
    let shares = shares(&parts.iter().map(|(_, lines)| lines.len()).collect::<Vec<_>>(), room);
    let part = |((title, lines), most): ((&str, Vec<String>), usize)| {
        let lines = first(language, lines, most).concat();
        if title.is_empty() { lines } else { format!("{}\n{lines}", lang::word(language, title)) }
    };
    parts.into_iter().zip(shares).map(part).collect::<Vec<_>>().join("\n")
}

/// Shares a number of lines: each part gets one in turn until it has as many as it wants.
fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut left = room.min(wanted.iter().sum());
    let mut shares = vec![0; wanted.len()];
    while left > 0 {
        for (share, wanted) in shares.iter_mut().zip(wanted) {
            if left > 0 && *share < *wanted {
                *share += 1;
                left -= 1;
            }
        }
    }
    shares
}

/// Lists the fields of each file that are not mapped, by their results and reasons.
pub(super) fn reasons_of_fields(language: Language, report: &ImportReport) -> String {
    let statuses = [FieldStatus::Approximated, FieldStatus::Unsupported, FieldStatus::Kept];
    per_file(report, |file| {
        let mut lines = Vec::new();
        for status in statuses {
            let mut rows: Vec<&FieldReport> =
                file.fields.iter().filter(|field| field.status == status).collect();
            while let Some(note) = rows.first().map(|row| row.note) {
                let title = lang::word(language, status.as_str());
                let reason = lang::word(language, note.unwrap_or(UNREAD));
                lines.push(format!("{title}{}{reason}", show::colon(language)));
                let same = rows.extract_if(.., |row| row.note == note);
                lines.extend(same.map(|row| format!("{:INDENT$}{}", "", field_line(language, row))));
            }
        }
        lines.join("\n")
    })
}

/// Lists all fields of each file.
pub(super) fn fields(language: Language, report: &ImportReport) -> String {
    per_file(report, |file| {
        let line = |field: &FieldReport| {
            let why = field.note.map(|note| in_brackets(language, &lang::word(language, note)));
            format!("{} {}{}", field.status, field_line(language, field), why.unwrap_or_default())
        };
        file.fields.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Describes a field: its path, its place, the number of its values, and whether all are empty.
fn field_line(language: Language, field: &FieldReport) -> String {
    let to = field.to.as_ref().map(|to| format!(" → {to}")).unwrap_or_default();
    let count = if field.count > 1 { format!(" ×{}", field.count) } else { String::new() };
    let empty =
        empty(field.is_empty, field.count).map(|empty| in_brackets(language, &lang::word(language, empty)));
    show::clean_line(&format!("{}{to}{count}{}", pattern(field), empty.unwrap_or_default()))
}

fn per_file(report: &ImportReport, text: impl Fn(&FileReport) -> String) -> String {
    let part = |file: &FileReport| format!("{}\n{}\n", show::clean_line(&file.path), text(file).trim_end());
    report.files.iter().map(part).collect::<Vec<_>>().join("\n")
}

/// Names the files, with what each was taken for.
fn files(language: Language, report: &ImportReport) -> Vec<String> {
    let name = |file: &FileReport| show::cut_middle(&show::clean_line(&file.path), show::width() / 2);
    let widest = report.files.iter().map(|file| name(file).chars().count()).max().unwrap_or(0);
    let line = |file: &FileReport| {
        let format =
            file.format.map_or_else(|| lang::word(language, nameless(file)), |format| format.id().into());
        let inside =
            file.container.as_ref().map(|container| in_brackets(language, container)).unwrap_or_default();
        cut(&format!("{:widest$}  {format}{inside}", name(file)))
    };
    report.files.iter().map(line).collect()
}

/// Describes what a file without a format is: its fields were read, or not even these.
fn nameless(file: &FileReport) -> &'static str {
    if file.fields.is_empty() { "unreadable" } else { "unknown" }
}

fn made_lines(language: Language, made: &Import) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |title: &str, names: Vec<String>| {
        if !names.is_empty() {
            lines.extend(list(language, &lang::word(language, title), &names));
        }
    };
    if let Some(agent) = &made.agent {
        add("agent", agent.name.iter().map(ToString::to_string).collect());
        let [on, off] = prompts(agent);
        add("prompts on", on);
        add("prompts off", off);
        add(
            "greetings",
            Some(agent.greetings.len()).filter(|count| *count > 0).map(count).into_iter().collect(),
        );
        add("scripts", scripts(language, agent));
    }
    add("worldbooks", made.worldbooks.iter().map(|made| book(language, made)).collect());
    add(
        "profile",
        made.profile.iter().filter_map(|profile| Some(profile.name.as_ref()?.to_string())).collect(),
    );
    add("chats", made.conversations.iter().map(|chat| chat.name.clone()).collect());
    add("template", made.template.iter().map(|_| "template.yaml".to_owned()).collect());
    add("files", made.assets.iter().map(|asset| asset.path.clone()).collect());
    lines
}

fn count(number: usize) -> String {
    number.to_string()
}

/// Names the entries of a preset: those that are on, and those that are off.
fn prompts(agent: &Agent) -> [Vec<String>; 2] {
    let is_on = |entry: &&PresetMessage| entry.is_enabled != Some(false);
    let (on, off): (Vec<_>, Vec<_>) = agent.preset_messages.iter().partition(is_on);
    [on, off].map(|entries| entries.into_iter().map(prompt).collect())
}

fn prompt(entry: &PresetMessage) -> String {
    let name = entry.name.as_deref().or(entry.id.as_deref()).or(entry.kind.as_deref());
    name.map_or_else(|| "?".to_owned(), |name| name.trim().to_owned())
}

fn book(language: Language, book: &NamedBook) -> String {
    let entries = book.book.entries.len();
    let is_off = |disable: &ctx_types::worldbook::WorldbookEntry| disable.disable.is_some_and(|flag| flag.0);
    let off = book.book.entries.iter().filter(|(_, entry)| is_off(entry)).count();
    let entries = if entries == 1 { phrase!("1 entry") } else { phrase!("{count} entries", count = entries) };
    let entries = lang::say(language, &entries);
    let off = (off > 0).then(|| phrase!("{count} {word}", count = off, word = Phrase::from("off")));
    let off = off.map(|off| lang::say(language, &off));
    let about: Vec<String> = [entries].into_iter().chain(off).collect();
    book.name.clone() + &in_brackets(language, &language.list(&about))
}

/// Names the regex rules, with those that are off marked.
fn scripts(language: Language, agent: &Agent) -> Vec<String> {
    let presets = agent.regex_config.iter().flat_map(|config| &config.presets);
    let rules = presets.flat_map(|preset| preset.rules.iter().map(move |rule| (preset, rule)));
    let name = |(preset, rule): (&ctx_types::RegexPreset, &ctx_types::RegexRule)| {
        let name = rule.name.as_deref().or(rule.id.as_deref()).unwrap_or("?").to_owned();
        let is_off = rule.enabled == Some(false) || preset.enabled == Some(false);
        if is_off { name + &in_brackets(language, &lang::word(language, "off")) } else { name }
    };
    rules.map(name).collect()
}

/// Formats a remark in brackets.
fn in_brackets(language: Language, text: &str) -> String {
    lang::say(language, &phrase!(" ({counter})", counter = text))
}

/// Writes names behind a title, as far as some lines hold them.
fn list(language: Language, title: &str, names: &[String]) -> Vec<String> {
    let width = show::width().saturating_sub(INDENT + TITLE + 2).max(24);
    let names: Vec<String> = names.iter().map(|name| show::cut_line(name, width / 2)).collect();
    let comma = match language {
        Language::Zh => "、",
        _ => ", ",
    };
    let mut lines = vec![String::new()];
    for (index, name) in names.iter().enumerate() {
        let last = lines.len() - 1;
        let is_full = lines[last].chars().count() + name.chars().count() + 2 > width;
        if is_full && lines.len() == MAX_NAME_LINES {
            let more = names.len() - index;
            lines[last] += &lang::say(language, &phrase!("and {more} more", more));
            break;
        }
        if is_full && index > 0 {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        lines[last] += name;
        if index + 1 < names.len() {
            lines[last] += comma;
        }
    }
    let line = |(index, line): (usize, String)| {
        let title = show::left(if index == 0 { title } else { "" }, TITLE);
        format!("{:INDENT$}{title}  {}\n", "", line.trim_end())
    };
    lines.into_iter().enumerate().map(line).collect()
}

/// Lists why the fields of a status have it, those with the same reason together.
fn reasons(language: Language, report: &ImportReport, status: FieldStatus) -> Vec<String> {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for file in &report.files {
        for field in file.fields.iter().filter(|field| field.status == status && !field.is_alike) {
            let is_same = |reason: &&mut Reason<'_>| reason.note == field.note && reason.file == file.path;
            match reasons.iter_mut().find(is_same) {
                Some(reason) => reason.add(field),
                None => reasons.push(Reason::of(file, field)),
            }
        }
    }
    // What is empty says nothing about what is sent.
    reasons.sort_by_key(|reason| reason.are_empty);
    let is_only = report.files.len() == 1;
    let line = |reason: &Reason<'_>| cut(&format!("{:INDENT$}{}", "", reason.told(language, is_only)));
    reasons.iter().map(line).collect()
}

/// Why a field has no effect of which no more is known.
const UNREAD: &str = "not used here";

/// Fields of one file with the same reason.
struct Reason<'a> {
    file: &'a str,
    note: Option<&'static str>,
    status: FieldStatus,
    patterns: Vec<String>,
    count: usize,
    are_empty: bool,
}

impl<'a> Reason<'a> {
    fn of(file: &'a FileReport, field: &FieldReport) -> Self {
        let (count, are_empty) = (field.count, field.is_empty);
        let (note, status, patterns) = (field.note, field.status, vec![pattern(field)]);
        Self { file: &file.path, note, status, patterns, count, are_empty }
    }

    fn add(&mut self, field: &FieldReport) {
        self.patterns.push(pattern(field));
        self.count += field.count;
        self.are_empty &= field.is_empty;
    }

    fn told(&self, language: Language, is_only: bool) -> String {
        let first = self.patterns.first().map(String::as_str).unwrap_or_default();
        let more = match self.patterns.len() - 1 {
            0 => String::new(),
            more => format!(" {}", lang::say(language, &phrase!("and {more} more", more))),
        };
        let count =
            if self.count > self.patterns.len() { format!(" ×{}", self.count) } else { String::new() };
        let is_unread = self.status == FieldStatus::Kept && !self.are_empty;
        let reason = self.note.or_else(|| is_unread.then_some(UNREAD));
        let why = note(language, reason, empty(self.are_empty, self.count));
        let why = if why.is_empty() { why } else { show::colon(language).to_owned() + &why };
        let name = Path::new(self.file).file_name().map(std::ffi::OsStr::to_string_lossy);
        let name = name.unwrap_or(Cow::Borrowed(self.file));
        let of = if is_only { String::new() } else { show::cut_middle(&name, FILE) + "  " };
        format!("{of}{first}{more}{count}{why}")
    }
}

fn pattern(field: &FieldReport) -> String {
    if field.pointer.is_empty() { "/".to_owned() } else { field.pointer.clone() }
}

fn empty(is_empty: bool, count: usize) -> Option<&'static str> {
    is_empty.then_some(if count == 1 { "empty" } else { "all empty" })
}

fn note(language: Language, note: Option<&'static str>, empty: Option<&str>) -> String {
    let note = note.map(|note| lang::word(language, note).into_owned());
    let empty = empty.map(|empty| lang::word(language, empty).into_owned());
    note.into_iter().chain(empty).collect::<Vec<_>>().join(match language {
        Language::Zh => "；",
        _ => "; ",
    })
}

fn cut(line: &str) -> String {
    show::cut_line(line, show::width()) + "\n"
}

/// Takes the first lines, and says how many others there are.
fn first(language: Language, mut lines: Vec<String>, most: usize) -> Vec<String> {
    let wanted = lines.len();
    if wanted > most {
        lines.truncate(most.saturating_sub(1));
        let more = wanted - lines.len();
        let told = phrase!("and {more}; use `--report` to list all", more = count_of!(more, "more line"));
        lines.push(format!("{:INDENT$}{}\n", "", lang::say(language, &told)));
    }
    lines
}
