//! A generated book and conversation in English and Chinese.

use ctx_types::worldbook::Worldbook;
use ctx_types::{Persist as _, Reader};
use ctx_worldbook::{Book, BookSet, Level, Limits, ScanMessage, Settings};
use serde_json::{Value, json};

/// Size of the conversation.
pub(crate) const BYTES: usize = 200 * 1024;

const KEYS: usize = 3;

/// One of this many entries is mentioned, and mentions another entry.
const SPOKEN_OF: usize = 40;

const ENGLISH: [&str; 16] = [
    "harbour", "lantern", "winter", "silver", "keeper", "north", "bridge", "market", "river", "castle",
    "forest", "sailor", "mirror", "thunder", "garden", "temple",
];
const CHINESE: [&str; 16] = [
    "港口", "灯笼", "冬天", "银色", "守护", "北方", "石桥", "集市", "河流", "城堡", "森林", "水手", "镜子",
    "雷声", "花园", "寺庙",
];
const HAN: [char; 16] =
    ['龙', '凤', '云', '海', '山', '月', '星', '风', '雪', '火', '木', '金', '玉', '剑', '书', '琴'];

/// English keys of one and two words, and a Chinese key.
pub(crate) fn keys(entry: usize) -> [String; KEYS] {
    let english = |n: usize| ENGLISH[n % ENGLISH.len()];
    let han = |n: usize| HAN[n % HAN.len()];
    [
        format!("{}{}", english(entry), number(entry)),
        format!("{} {}{}", english(entry / 16), english(entry / 7), number(entry)),
        format!("{}{}{}{}", han(entry), han(entry / 16), han(entry / 256), han(entry / 4096 + 5)),
    ]
}

fn number(mut number: usize) -> String {
    let mut letters = String::new();
    loop {
        letters.push(char::from(b'a' + u8::try_from(number % 26).unwrap_or_default()));
        number /= 26;
        if number == 0 {
            return letters + "el";
        }
    }
}

pub(crate) fn book(entries: usize) -> Book {
    let entry = |n: usize| {
        let next = (n + 7 * SPOKEN_OF + 1) % entries.max(1);
        let speaks = if n.is_multiple_of(SPOKEN_OF) { keys(next)[n % KEYS].clone() } else { String::new() };
        json!({ "uid": n, "key": keys(n), "content": format!("The story of entry {n}. {speaks}") })
    };
    let file: Value = json!({ "entries": (0..entries).map(entry).collect::<Vec<_>>() });
    Book::read("Large", Level::Global, &Worldbook::read(file, &mut Reader::new())).0
}

pub(crate) fn set(book: Book) -> BookSet {
    let settings = Settings { depth: 1_000, recursive: true, budget_percent: 0.0, ..Settings::default() };
    BookSet::compile([book], settings, Limits::default()).0
}

/// Messages of about 400 bytes that mention some entries.
pub(crate) fn messages(entries: usize) -> Vec<ScanMessage> {
    let mut messages = Vec::new();
    let (mut bytes, mut n) = (0, 0_usize);
    while bytes < BYTES {
        let mut text = String::new();
        while text.len() < 400 {
            n += 1;
            let word = n.wrapping_mul(2_654_435_761) >> 7;
            match messages.len() % 2 {
                0 => text.extend([ENGLISH[word % 16], " Of the ", ENGLISH[(word / 16) % 16], ", "]),
                _ => text.extend([CHINESE[word % 16], "的", CHINESE[(word / 16) % 16], "，"]),
            }
        }
        if messages.len().is_multiple_of(10) {
            let entry = messages.len() / 10 * SPOKEN_OF % entries.max(1);
            text.push_str(&keys(entry)[entry / SPOKEN_OF % KEYS]);
        }
        bytes += text.len();
        messages.push(ScanMessage { name: None, text: text.into() });
    }
    messages
}
