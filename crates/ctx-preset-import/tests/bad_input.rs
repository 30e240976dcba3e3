//! Files that are made to hurt: each is refused or imported with a finding, and none asks for much memory.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::io::Write as _;

use ctx_preset_import::{Import, Importer, SourceFile, export_card_picture};
use flate2::{Compress, Compression, FlushCompress};
use serde_json::{Value, json};

fn import_bytes(bytes: &[u8]) -> Import {
    Importer::default().import(&[SourceFile { name: "file", bytes }])
}

/// Checks that a file is refused, and how.
#[track_caller]
fn refuse(bytes: &[u8], expected: &str) {
    let made = import_bytes(bytes);
    let found = &made.report.files[0].diagnostics[0];
    assert!(made.agent.is_none() && made.assets.is_empty());
    assert_eq!((found.code.to_string().as_str(), found.message.to_string().as_str()), ("CTX0608", expected));
}

/// A file of an archive, with what the archive says of it.
#[derive(Clone)]
struct Entry {
    name: &'static str,
    data: Vec<u8>,
    /// How large it is said to be, unpacked.
    told: Option<u32>,
    crc: Option<u32>,
    method: u16,
    flags: u16,
    /// The permissions and the kind of the file on Unix.
    mode: u32,
    /// Which file's place it is said to have.
    place_of: Option<usize>,
}

fn entry(name: &'static str, data: &[u8]) -> Entry {
    Entry {
        name,
        data: data.to_vec(),
        told: None,
        crc: None,
        method: 0,
        flags: 0,
        mode: 0o100_644,
        place_of: None,
    }
}

/// An entry of repeated zeros.
fn zeros(name: &'static str, mebibytes: usize) -> Entry {
    let size = u32::try_from(mebibytes << 20).unwrap();
    let mut data = zero_blocks(mebibytes);
    data.extend([3, 0]);
    let mut crc = flate2::Crc::new();
    (0..mebibytes).for_each(|_| crc.update(&vec![0; 1 << 20]));
    Entry { data, told: Some(size), crc: Some(crc.sum()), method: 8, ..entry(name, b"") }
}

/// Deflated zeros, without an end.
fn zero_blocks(mebibytes: usize) -> Vec<u8> {
    let (mut block, mut deflate) = (Vec::with_capacity(1 << 16), Compress::new(Compression::best(), false));
    deflate.compress_vec(&vec![0; 1 << 20], &mut block, FlushCompress::Full).unwrap();
    block.repeat(mebibytes)
}

fn numbers(bytes: &mut Vec<u8>, values: &[(u32, usize)]) {
    for (value, size) in values {
        bytes.extend(&value.to_le_bytes()[..*size]);
    }
}

/// Writes an archive that says what its entries say.
fn archive(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut places, mut list) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        places.push(u32::try_from(bytes.len()).unwrap());
        let size = u32::try_from(entry.data.len()).unwrap();
        let told = entry.told.unwrap_or(size);
        let mut crc = flate2::Crc::new();
        crc.update(&entry.data);
        let sum = entry.crc.unwrap_or(crc.sum());
        let name = u32::try_from(entry.name.len()).unwrap();
        let shared = [
            (20, 2),
            (entry.flags.into(), 2),
            (entry.method.into(), 2),
            (0, 4),
            (sum, 4),
            (size, 4),
            (told, 4),
            (name, 2),
            (0, 2),
        ];
        let place = places[entry.place_of.unwrap_or(places.len() - 1)];
        numbers(&mut bytes, &[(0x0403_4b50, 4)]);
        numbers(&mut bytes, &shared);
        bytes.extend(entry.name.as_bytes());
        bytes.extend(&entry.data);
        numbers(&mut list, &[(0x0201_4b50, 4), (0x0314, 2)]);
        numbers(&mut list, &shared);
        numbers(&mut list, &[(0, 2), (0, 2), (0, 2), (entry.mode << 16, 4), (place, 4)]);
        list.extend(entry.name.as_bytes());
    }
    let (start, size) = (u32::try_from(bytes.len()).unwrap(), u32::try_from(list.len()).unwrap());
    let count = u32::try_from(entries.len()).unwrap();
    bytes.extend(list);
    numbers(&mut bytes, &[(0x0605_4b50, 4), (0, 4), (count, 2), (count, 2), (size, 4), (start, 4), (0, 2)]);
    bytes
}

fn card() -> Vec<u8> {
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Ada" } })
        .to_string()
        .into_bytes()
}

/// A PNG with one chunk.
fn picture(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    [b"\x89PNG\r\n\x1a\n".as_slice(), &length, kind, data, &[0; 4]].concat()
}

#[test]
fn an_archive_that_says_the_truth_is_read() {
    let made = import_bytes(&archive(&[entry("card.json", &card()), entry("assets/a.png", b"a")]));
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"), "{:?}", made.report);
    assert_eq!(made.assets.len(), 1);
}

#[test]
fn crafted_archives_are_refused() {
    let within = |message: &str| format!("cannot unpack the file: {message}");
    let limit = 64 << 20;
    let large = |limit: usize| within(&format!("the files in the archive exceed {limit} bytes"));
    refuse(&archive(&[zeros("card.json", 100)]), &large(limit));
    refuse(&archive(&[zeros("a", 60), zeros("b", 60), zeros("c", 60)]), &large((128 << 20) - (120 << 20)));
    let shared = Entry { place_of: Some(0), ..entry("other.json", &card()) };
    refuse(&archive(&[entry("card.json", &card()), shared]), &within("files in the archive overlap"));
    let outside = within("the archive contains a path outside itself: `../card.json`");
    refuse(&archive(&[entry("../card.json", &card())]), &outside);
    let link = Entry { mode: 0o120_777, ..entry("card.json", b"/etc/passwd") };
    refuse(&archive(&[link]), &within("the archive contains a link: `card.json`"));
    let twice = "the archive declares 2 files and lists 1: duplicate names, or damage";
    refuse(&archive(&[entry("card.json", &card()), entry("card.json", &card())]), &within(twice));
    let many: Vec<Entry> = (0..513).map(|_| entry("a", b"")).collect();
    refuse(&archive(&many), &within("the archive has more than 512 files"));
}

#[test]
fn archives_that_lie_about_sizes_or_are_locked_give_an_error() {
    let lying = Entry { told: Some(10), ..zeros("card.json", 1) };
    let locked = Entry { flags: 1, ..entry("card.json", &card()) };
    let torn = Entry { method: 8, ..entry("card.json", b"\xff\xff\xff\xff") };
    for bytes in [archive(&[lying]), archive(&[locked]), archive(&[torn])] {
        let made = import_bytes(&bytes);
        assert!(made.agent.is_none());
        // What is said of sizes does not count: the zeros are read, and are no text.
        let code = made.report.files[0].diagnostics[0].code.to_string();
        assert!(["CTX0601", "CTX0608"].contains(&code.as_str()), "{code}");
    }
}

#[test]
fn an_absolute_name_leads_nowhere_else() {
    let made = import_bytes(&archive(&[entry("card.json", &card()), entry("/etc/own", b"a")]));
    assert!(made.assets.iter().all(|asset| !asset.path.starts_with('/') && !asset.path.contains("..")));
}

#[test]
fn a_hundred_thousand_entries_are_refused_by_their_number() {
    // The number of entries has two bytes, so that such an archive says 34,464.
    let mut bytes = archive(&vec![entry("a", b""); 100_000 % 65_536]);
    refuse(&bytes, "cannot unpack the file: the archive has more than 512 files");
    let end = bytes.len() - 22;
    bytes[end + 8..end + 12].fill(0xff);
    refuse(&bytes, "cannot unpack the file: the archive has more than 512 files");
}

#[test]
fn archives_in_archives_have_an_end() {
    let mut bytes = archive(&[entry("card.json", &card())]);
    for _ in 0..8 {
        bytes = archive(&[entry("card.json", &bytes)]);
    }
    refuse(&bytes, "cannot unpack the file: containers are nested too deeply");
}

#[test]
fn texts_of_pictures_that_inflate_to_a_gigabyte_are_refused() {
    let body = [b"\x78\xda".as_slice(), &zero_blocks(1_024)].concat();
    let large = "cannot unpack the file: a text chunk of the image exceeds 67108864 bytes";
    refuse(&picture(b"zTXt", &[b"chara\0\0".as_slice(), &body].concat()), large);
    refuse(&picture(b"iTXt", &[b"ccv3\0\x01\0\0\0".as_slice(), &body].concat()), large);
    refuse(&picture(b"zTXt", &[b"chara-ext-asset_a\0\0".as_slice(), &body].concat()), large);
}

/// The files of each kind that are cut off and changed.
fn samples() -> Vec<Vec<u8>> {
    let book = json!({ "entries": { "0": { "uid": 0, "key": ["k"], "content": "c".repeat(300) } } });
    let preset =
        json!({ "prompts": [{ "identifier": "main", "content": "m".repeat(300) }], "prompt_order": [] });
    let script = json!([{ "findRegex": "/a/g", "replaceString": "b".repeat(200), "placement": [1] }]);
    let card: Value = json!({ "spec": "chara_card_v2", "data": { "name": "Ada", "description": "D".repeat(400), "character_book": book } });
    let yaml = format!("name: Ada\ngreeting: Hi\ncontext: {}\n", "c".repeat(200));
    let chat =
        format!("{{\"user_name\":\"a\",\"character_name\":\"b\"}}\n{{\"mes\":\"{}\"}}\n", "m".repeat(200));
    let text = card.to_string();
    vec![
        export_card_picture(&card, None).unwrap(),
        archive(&[entry("card.json", text.as_bytes()), entry("x", b"y")]),
        text.clone().into_bytes(),
        book.to_string().into_bytes(),
        preset.to_string().into_bytes(),
        script.to_string().into_bytes(),
        yaml.into_bytes(),
        chat.into_bytes(),
    ]
}

#[test]
fn what_is_cut_off_anywhere_has_a_report() {
    for whole in samples() {
        for end in (0..whole.len()).step_by(64) {
            let made = import_bytes(&whole[..end]);
            let file = &made.report.files[0];
            assert!(!file.fields.is_empty() || !file.diagnostics.is_empty(), "{end}");
        }
    }
}

#[test]
fn aliases_that_hold_themselves_and_ids_that_stand_twice_are_told() {
    let made = import_bytes(b"name: &a [*a]\ngreeting: Hi\ncontext: c\n");
    assert!(!made.report.files[0].diagnostics.is_empty());
    let twice = json!({ "spec": "chara_card_v2", "data": { "name": "Ada", "character_book": { "entries": [
        { "id": 1, "keys": ["a"], "content": "A" }, { "id": 1, "keys": ["b"], "content": "B" },
    ] } } });
    assert_eq!(import_bytes(twice.to_string().as_bytes()).worldbooks[0].book.entries.len(), 2);
}

/// Reads the most memory that this process ever had, in MiB, where the system tells.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? >> 10)
}

#[test]
fn no_file_asks_for_much_memory() {
    let mut wide = Vec::from(&b"{\"spec\":\"chara_card_v2\",\"data\":{\"own\":["[..]);
    wide.extend(b"0,".repeat(3_900_000));
    wide.extend(b"0]}}");
    let made = import_bytes(&wide);
    assert_eq!(made.report.files[0].diagnostics[0].code.to_string(), "CTX0605");
    let body = [b"\x78\xda".as_slice(), &zero_blocks(1_024)].concat();
    drop(import_bytes(&picture(b"zTXt", &[b"chara\0\0".as_slice(), &body].concat())));
    drop(import_bytes(&archive(&[zeros("a", 60), zeros("b", 60), zeros("c", 60)])));
    let peak = peak().unwrap_or_default();
    std::io::stderr().write_all(format!("peak: {peak} MiB\n").as_bytes()).unwrap();
    assert!(peak < 300, "{peak} MiB");
}

#[test]
fn of_many_chunks_with_one_keyword_the_first_counts() {
    let chunk = |name: &str| {
        let text = json!({ "spec": "chara_card_v2", "data": { "name": name } }).to_string();
        picture(b"tEXt", &[b"chara\0".as_slice(), text.as_bytes()].concat())[8..].to_vec()
    };
    let bytes = [b"\x89PNG\r\n\x1a\n".to_vec(), chunk("Ada"), chunk("Bob")].concat();
    assert_eq!(import_bytes(&bytes).agent.unwrap().name.as_deref(), Some("Ada"));
}

#[test]
fn a_packed_file_of_risu_says_why_it_is_not_read() {
    let made = Importer::default().import(&[SourceFile { name: "m.risum", bytes: b"o\0\xff\0" }]);
    let found = &made.report.files[0].diagnostics[0];
    assert!(
        found.help.as_ref().map(ToString::to_string).as_deref().unwrap().contains("is not public"),
        "{found:?}"
    );
}
