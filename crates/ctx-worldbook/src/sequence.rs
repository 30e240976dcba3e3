use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::book::{Book, Level};
use crate::entry::Entry;
use crate::settings::CharacterStrategy;

/// Returns entries by level, then by descending order, then as in the books.
///
/// A repeated book is kept at one level: global, else conversation, else profile.
pub(crate) fn sequence(books: Vec<Book>, strategy: CharacterStrategy) -> (Vec<Book>, Vec<SequencedEntry>) {
    let mut books = used_once(books);
    let mut entries: Vec<SequencedEntry> = Vec::new();
    // Global books come first among equals.
    let mut numbers: Vec<usize> = (0..books.len()).collect();
    numbers.sort_by_key(|number| Reverse(books[*number].level));
    for number in numbers {
        let book = &mut books[number];
        let listed = std::mem::take(&mut book.entries).into_iter().map(|entry| SequencedEntry {
            book: number,
            id: format!("{}.{}", book.name, entry.uid).into(),
            entry,
        });
        entries.extend(listed);
    }
    make_ids_unique(&mut entries);
    entries.sort_by_key(|listed| (rank(books[listed.book].level, strategy), Reverse(listed.entry.order)));
    (books, entries)
}

#[derive(Debug)]
pub(crate) struct SequencedEntry {
    pub(crate) book: usize,
    pub(crate) id: Arc<str>,
    pub(crate) entry: Entry,
}

/// Makes ids unique. O(entries · log entries).
fn make_ids_unique(entries: &mut [SequencedEntry]) {
    let mut taken: BTreeSet<Arc<str>> = entries.iter().map(|listed| listed.id.clone()).collect();
    let mut uses: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for listed in entries {
        let count = uses.entry(listed.id.clone()).or_default();
        *count += 1;
        while *count > 1 {
            let numbered = format!("{}#{count}", listed.id).into();
            if taken.insert(Arc::clone(&numbered)) {
                listed.id = numbered;
                break;
            }
            *count += 1;
        }
    }
}

fn rank(level: Level, strategy: CharacterStrategy) -> u8 {
    match (level, strategy) {
        (Level::Conversation, _) => 0,
        (Level::Profile, _) => 1,
        (_, CharacterStrategy::Evenly) => 2,
        (Level::Character, CharacterStrategy::CharacterFirst) => 2,
        (Level::Global, CharacterStrategy::CharacterFirst) => 3,
        (Level::Global, CharacterStrategy::GlobalFirst) => 2,
        (Level::Character, CharacterStrategy::GlobalFirst) => 3,
    }
}

/// A repeated book is kept at its first level in this order.
const LEVEL_PRIORITY: [Level; 4] = [Level::Global, Level::Conversation, Level::Profile, Level::Character];

fn used_once(books: Vec<Book>) -> Vec<Book> {
    let mut kept: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for level in LEVEL_PRIORITY {
        for (number, book) in books.iter().enumerate().filter(|(_, book)| book.level == level) {
            kept.entry(book.name.clone()).or_insert(number);
        }
    }
    let numbered = books.into_iter().enumerate();
    numbered.filter(|(number, book)| kept[&book.name] == *number).map(|(_, book)| book).collect()
}

#[cfg(test)]
mod tests {
    use ctx_types::Order;

    use super::*;

    fn book(name: &str, level: Level, orders: &[f64]) -> Book {
        let entry =
            |order: &f64| Entry { uid: order.to_string().into(), order: Order(*order), ..Entry::default() };
        Book { name: name.into(), level, entries: orders.iter().map(entry).collect(), token_budget: None }
    }

    #[track_caller]
    fn check(books: Vec<Book>, strategy: CharacterStrategy, expected: &[&str]) {
        let (_, entries) = sequence(books, strategy);
        assert_eq!(entries.iter().map(|listed| &*listed.id).collect::<Vec<_>>(), expected);
    }

    fn four() -> Vec<Book> {
        vec![
            book("g", Level::Global, &[1.0, 9.0]),
            book("c", Level::Character, &[5.0]),
            book("p", Level::Profile, &[2.0]),
            book("t", Level::Conversation, &[0.0]),
        ]
    }

    #[test]
    fn sorts_conversation_before_profile_worldbooks() {
        check(four(), CharacterStrategy::CharacterFirst, &["t.0", "p.2", "c.5", "g.9", "g.1"]);
        check(four(), CharacterStrategy::GlobalFirst, &["t.0", "p.2", "g.9", "g.1", "c.5"]);
        check(four(), CharacterStrategy::Evenly, &["t.0", "p.2", "g.9", "c.5", "g.1"]);
    }

    #[test]
    fn keeps_worldbook_order_for_equal_entries() {
        let books = vec![
            book("c", Level::Character, &[1.0]),
            book("a", Level::Global, &[1.0]),
            book("b", Level::Global, &[1.0]),
        ];
        check(books.clone(), CharacterStrategy::Evenly, &["a.1", "b.1", "c.1"]);
        check(books, CharacterStrategy::CharacterFirst, &["c.1", "a.1", "b.1"]);
    }

    #[test]
    fn assigns_unique_id_to_each_entry() {
        let named = |name: &str, uids: &[&str]| {
            let entry = |uid: &&str| Entry { uid: (*uid).into(), ..Entry::default() };
            Book { name: name.into(), entries: uids.iter().map(entry).collect(), ..Book::default() }
        };
        let (_, entries) = sequence(vec![named("u", &["5", "5", "5#2", "5"])], CharacterStrategy::Evenly);
        assert_eq!(
            entries.iter().map(|listed| &*listed.id).collect::<Vec<_>>(),
            ["u.5", "u.5#3", "u.5#2", "u.5#4"]
        );
        let books = vec![named("a", &["b.c"]), named("a.b", &["c"])];
        let (_, entries) = sequence(books, CharacterStrategy::Evenly);
        assert_eq!(entries.iter().map(|listed| &*listed.id).collect::<Vec<_>>(), ["a.b.c", "a.b.c#2"]);
    }

    #[test]
    fn ignores_duplicate_worldbooks() {
        let books = vec![
            book("a", Level::Conversation, &[1.0]),
            book("a", Level::Global, &[1.0]),
            book("b", Level::Global, &[2.0]),
        ];
        check(books, CharacterStrategy::Evenly, &["b.2", "a.1"]);
        let books = vec![book("a", Level::Character, &[1.0]), book("a", Level::Profile, &[1.0])];
        check(books, CharacterStrategy::Evenly, &["a.1"]);
    }
}
