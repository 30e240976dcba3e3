use crate::conversation::Variables;
use crate::memory::Memory;
use crate::times::Times;

pub(crate) const CONDITIONS: &str = "\
A preset of 40 messages, a budget of 128,000 tokens, `o200k_base`.
Conversations in English and Chinese, some 640 bytes a message, every tenth turn with a tool call.
The tokenizer and the table of models are loaded before: once per process, no part of a turn.
Times are medians. Memory is that of the first assembly at its peak, beside what was loaded: what it allocated,
and by how much the process grew.
";

pub(crate) const WITH_VARIABLES: &str = "\
With session variables: every tenth message changes one of three, and one text of the preset shows all of them.
The first assembly reads the tags of the whole conversation, each next one those of the new message.
";

pub(crate) struct Row {
    pub(crate) size: usize,
    pub(crate) runs: usize,
    pub(crate) times: Times,
    pub(crate) memory: Memory,
}

type Line = (&'static str, fn(&Row) -> String);

const LINES: [Line; 15] = [
    ("messages", |row| number(row.size)),
    ("text", |row| bytes(row.times.text_bytes)),
    ("sent messages", |row| number(row.times.kept_messages)),
    ("sent text", |row| bytes(row.times.kept_bytes)),
    ("sent tokens", |row| number(usize::try_from(row.times.kept_tokens).unwrap_or(usize::MAX))),
    ("compile", |row| time(row.times.compile)),
    ("first assembly", |row| time(row.times.first)),
    ("next assembly", |row| time(row.times.next)),
    ("bare: count sent text", |row| time(row.times.count_kept)),
    ("bare: count all text", |row| time(row.times.count_all)),
    ("bare: copy sent text", |row| time(row.times.copy_kept)),
    ("memory, loaded", |row| row.memory.loaded.map_or_else(|| "n/a".to_owned(), bytes)),
    ("memory, allocated", |row| bytes(row.memory.heap)),
    ("memory, grown by", |row| row.memory.resident.map_or_else(|| "n/a".to_owned(), bytes)),
    ("runs", |row| number(row.runs)),
];

pub(crate) fn table(rows: &[Row]) -> String {
    let lines = LINES.iter().map(|(title, show)| {
        let cells = rows.iter().map(|row| format!(" {:>10} |", show(row)));
        format!("| {title:<21} |{}", cells.collect::<String>())
    });
    let mut lines: Vec<String> = lines.collect();
    lines.insert(1, format!("|{:-<23}|{}", "", "-----------:|".repeat(rows.len())));
    lines.join("\n") + "\n"
}

struct Figure {
    name: String,
    ratio: f64,
    limit: f64,
}

pub(crate) fn ratios(rows: &[Row], variables: Variables) -> String {
    let mut lines = vec![
        format!("| {:<52} | {:>7} | {:>7} | {:<6} |", "ratio", "is", "at most", ""),
        format!("|{:-<54}|--------:|--------:|--------|", ""),
    ];
    lines.extend(figures(rows, variables).iter().map(|figure| {
        let verdict = if figure.ratio <= figure.limit { "ok" } else { "missed" };
        let Figure { name, ratio, limit } = figure;
        format!("| {name:<52} | {ratio:>7.3} | {limit:>7.3} | {verdict:<6} |")
    }));
    lines.join("\n") + "\n"
}

fn figures(rows: &[Row], variables: Variables) -> Vec<Figure> {
    let mut figures = Vec::new();
    for row in rows.iter().filter(|_| variables == Variables::Off) {
        let name = format!("first / counting what is sent, {}", number(row.size));
        figures.push(Figure { name, ratio: row.times.first / row.times.count_kept, limit: 1.5 });
    }
    let at = |size| rows.iter().find(|row| row.size == size);
    let base = at(10_000);
    if let Some(row) = base {
        let name = "next / first, 10,000".to_owned();
        figures.push(Figure { name, ratio: row.times.next / row.times.first, limit: 1.0 / 20.0 });
    }
    if let Some((base, row)) = base.zip(at(1_000_000)) {
        let name = "next, 1,000,000 / next, 10,000".to_owned();
        figures.push(Figure { name, ratio: row.times.next / base.times.next, limit: 1.5 });
    }
    for row in rows {
        // The system does not see memory that the allocator reused.
        let name = format!("memory of assembly / text, {}", number(row.size));
        let taken = row.memory.heap.max(row.memory.resident.unwrap_or_default());
        figures.push(Figure { name, ratio: ratio(taken, row.times.text_bytes), limit: 0.3 });
    }
    figures
}

/// Divides byte counts, which are far below 2^52.
#[expect(clippy::cast_precision_loss, reason = "printed with three digits")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn time(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        0.001.. => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.1} µs", seconds * 1e6),
    }
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} KB", ratio(bytes, 1_000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", ratio(bytes, 1_000_000)),
        _ => format!("{:.2} GB", ratio(bytes, 1_000_000_000)),
    }
}

fn number(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
