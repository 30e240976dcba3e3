//! Documents in pictures, archives and base64, and damaged or malicious files.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctx_preset_import::{Format, Import, Importer, Limits, SourceFile, export_card_picture};
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::packed::{archive, import_bytes, patch, picture, text_picture};

fn card() -> String {
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Ada" } }).to_string()
}

/// Imports a file with small limits.
fn import_small(bytes: &[u8]) -> Import {
    let mut importer = Importer::default();
    importer.limits =
        Limits { packed_files: 3, packed_bytes: 10_000, packed_total_bytes: 15_000, ..importer.limits };
    importer.import(&[SourceFile { name: "file", bytes }])
}

fn deflated(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Checks the import of a file: its container, the name of the agent, and the diagnostics.
#[track_caller]
fn check(bytes: &[u8], (container, name): (&str, &str), expected: &[&str]) {
    let made = import_bytes(bytes);
    let report = &made.report.files[0];
    assert_eq!(report.container.as_deref(), Some(container));
    assert_eq!(made.agent.and_then(|agent| agent.name).as_deref(), Some(name));
    let found: Vec<String> =
        report.diagnostics.iter().map(|found| format!("{} {}", found.code, found.message)).collect();
    assert_eq!(found, expected);
    assert!(!made.assets.is_empty() && made.profile.is_none());
}

/// Checks that a file gives nothing.
#[track_caller]
fn check_nothing(bytes: &[u8], code: &str) {
    let made = import_bytes(bytes);
    assert!(made.agent.is_none() && made.profile.is_none() && made.assets.is_empty());
    let report = &made.report.files[0];
    assert_eq!((report.format, report.diagnostics[0].code.to_string().as_str()), (None, code));
}

#[test]
fn reads_card_from_archive_after_program_or_picture() {
    let zipped = archive(&[("card.json", card().as_bytes()), ("assets/icon/image/a.png", b"a")]);
    for prefix in [b"MZ program ".as_slice(), b"\xff\xd8\xff\xe0 picture ", b"\x7fELF program ", b""] {
        let bytes = [prefix, &zipped].concat();
        check(&bytes, ("zip:card.json", "Ada"), &[]);
        assert_eq!(import_bytes(&bytes).assets[0].path, "assets/icon/image/a.png");
    }
}

#[test]
fn reads_base64_without_padding_or_with_line_breaks() {
    let text = STANDARD.encode(card());
    for text in
        [text.clone(), text.trim_end_matches('=').to_owned(), format!("{}\n{}", &text[..20], &text[20..])]
    {
        assert!(import_bytes(text.as_bytes()).agent.is_some(), "{text}");
    }
}

#[test]
fn reads_text_chunks_of_all_kinds() {
    let card = card();
    let plain = [b"chara\0".as_slice(), card.as_bytes()].concat();
    let packed = [b"CHARA\0\0".as_slice(), &deflated(card.as_bytes())].concat();
    let international = [b"ccv3\0\x01\0en\0\0".as_slice(), &deflated(card.as_bytes())].concat();
    for (kind, data) in [("tEXt", plain), ("zTXt", packed), ("iTXt", international)] {
        assert!(import_bytes(&picture(&[(kind, &data)])).agent.is_some(), "{kind}");
    }
}

#[test]
fn reads_first_of_text_chunks_with_one_keyword() {
    let text = |name: &str| format!("chara\0{}", card().replace("Ada", name)).into_bytes();
    let (ada, bob) = (text("Ada"), text("Bob"));
    let made = import_bytes(&picture(&[("tEXt", &ada), ("tEXt", &bob)]));
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
}

#[test]
fn refuses_containers_beyond_limits_and_crafted_ones() {
    let card = card();
    let card = card.as_bytes();
    let bomb = picture(&[("zTXt", &[b"chara\0\0".as_slice(), &deflated(&vec![b'a'; 4 << 20])].concat())]);
    let zeros = vec![0; 9_000];
    let large = archive(&[("a.bin", &zeros), ("b.bin", &zeros)]);
    let many = archive(&[("a", b""), ("b", b""), ("c", b""), ("d", b"")]);
    // The number of files has two bytes: the end of an archive of 100,000 says 34,464.
    let end = many.len() - 22;
    let [mut wrapped, mut full] = [many.clone(), many.clone()];
    wrapped[end + 10..end + 12].copy_from_slice(&34_464_u16.to_le_bytes());
    full[end + 10..end + 12].fill(0xff);
    let mut overlapping = archive(&[("card.json", card), ("other.json", card)]);
    let second = memchr::memmem::rfind(&overlapping, b"PK\x01\x02").unwrap();
    overlapping[second + 42..second + 46].fill(0);
    let mut twice = archive(&[("card.json", card), ("cord.json", card)]);
    while let Some(at) = memchr::memmem::find(&twice, b"cord") {
        twice[at..at + 4].copy_from_slice(b"card");
    }
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("card.json", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let link = writer.finish().unwrap().into_inner();
    let mut nested = archive(&[("card.json", card)]);
    for _ in 0..8 {
        nested = archive(&[("card.json", &nested)]);
    }
    for (bytes, expected) in [
        (bomb, "a text chunk of the image exceeds 10000 bytes"),
        (large, "the files in the archive exceed 6000 bytes"),
        (many, "the archive has more than 3 files"),
        (wrapped, "the archive has more than 3 files"),
        (full, "the archive has more than 3 files"),
        (overlapping, "files in the archive overlap"),
        (twice, "the archive declares 2 files and lists 1: duplicate names, or damage"),
        (link, "the archive contains a link: `card.json`"),
        (archive(&[("../card.json", card)]), "the archive contains a path outside itself: `../card.json`"),
        (nested, "containers are nested too deeply"),
        (b"PK\x03\x04 and no more".to_vec(), "the archive is truncated"),
        (
            picture(&[("tEXt", b"other\0x")]),
            "the image is truncated and has no character, lorebook, or agent",
        ),
        (picture(&[("tEXt", b"chara\0?")]), "text chunk `chara` of the image is not base64"),
    ] {
        let made = import_small(&bytes);
        assert!(made.agent.is_none() && made.assets.is_empty());
        let found = &made.report.files[0].diagnostics[0];
        let expected = format!("cannot unpack the file: {expected}");
        assert_eq!((found.code.to_string(), found.message.to_string()), ("CTX0608".to_owned(), expected));
    }
}

#[test]
fn reports_archives_with_wrong_sizes_encryption_or_damage() {
    let card = card();
    let [mut lying, mut locked, mut torn] = [(); 3].map(|()| archive(&[("card.json", card.as_bytes())]));
    // The stated size has no effect: the file is read as far as it goes.
    patch(&mut lying, 0, 22, &10_u32.to_le_bytes());
    patch(&mut locked, 0, 6, &1_u16.to_le_bytes());
    torn[39..43].fill(0xff);
    assert!(import_bytes(&lying).agent.is_some());
    for bytes in [locked, torn] {
        check_nothing(&bytes, "CTX0608");
    }
}

#[test]
fn keeps_absolute_names_inside() {
    let made = import_bytes(&archive(&[("card.json", card().as_bytes()), ("/etc/own", b"a")]));
    assert!(made.assets.iter().all(|asset| !asset.path.starts_with('/') && !asset.path.contains("..")));
}

#[test]
fn explains_packed_files_of_risuai() {
    let made = Importer::default().import(&[SourceFile { name: "m.risum", bytes: b"o\0\xff\0" }]);
    let help = made.report.files[0].diagnostics[0].help.as_ref().unwrap().to_string();
    assert!(help.contains("is not public"), "{help}");
}

#[test]
fn reports_files_cut_off_anywhere() {
    let book = json!({ "entries": { "0": { "uid": 0, "key": ["k"], "content": "c".repeat(300) } } });
    let preset =
        json!({ "prompts": [{ "identifier": "main", "content": "m".repeat(300) }], "prompt_order": [] });
    let script = json!([{ "findRegex": "/a/g", "replaceString": "b".repeat(200), "placement": [1] }]);
    let data = json!({ "name": "Ada", "description": "D".repeat(400), "character_book": book });
    let card = json!({ "spec": "chara_card_v2", "data": data });
    let text = card.to_string();
    let header = json!({ "user_name": "a", "character_name": "b" });
    let samples = [
        export_card_picture(&card, None).unwrap(),
        archive(&[("card.json", text.as_bytes()), ("x", b"y")]),
        text.into_bytes(),
        book.to_string().into_bytes(),
        preset.to_string().into_bytes(),
        script.to_string().into_bytes(),
        format!("name: Ada\ngreeting: Hi\ncontext: {}\n", "c".repeat(200)).into_bytes(),
        format!("{header}\n{}\n", json!({ "mes": "m".repeat(200) })).into_bytes(),
    ];
    for whole in samples {
        for end in (0..whole.len()).step_by(64) {
            let file = &import_bytes(&whole[..end]).report.files[0];
            assert!(!file.fields.is_empty() || !file.diagnostics.is_empty(), "{end}");
        }
    }
}

#[test]
fn reports_truncated_pictures() {
    let data = json!({ "name": "Ada", "description": "long ".repeat(90) });
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data });
    let whole = export_card_picture(&card, None).unwrap();
    let found = |length: usize| -> Vec<String> {
        let report = &import_bytes(&whole[..length]).report.files[0];
        report.diagnostics.iter().map(|found| format!("{} {}", found.code, found.message)).collect()
    };
    assert!(found(whole.len()).is_empty());
    // The last chunk has twelve bytes.
    assert_eq!(found(whole.len() - 12)[0], "CTX0624 the image is truncated");
    let expected = "CTX0624 the image is truncated inside text chunk `ccv3`; `chara` is read instead";
    assert_eq!(found(whole.len() - 60)[0], expected);
    for length in (0..whole.len()).step_by(16) {
        assert!(!found(length).is_empty(), "{length} bytes");
    }
}

#[test]
fn reads_relabeled_cards_in_their_own_version() {
    let v2 = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Ada" } });
    let v3 = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Ada" } });
    let v1 = json!({ "name": "Ada", "description": "Counts.", "personality": "", "scenario": "", "first_mes": "Hi", "mes_example": "" });
    for (card, container, format) in [
        (v2, "png:chara", Format::CardV2),
        (v3, "png:ccv3", Format::CardV3),
        (v1, "png:chara", Format::CardV1),
    ] {
        let picture = export_card_picture(&card, None).unwrap();
        check(&picture, (container, "Ada"), &[]);
        assert_eq!(import_bytes(&picture).report.files[0].format, Some(format));
    }
}

#[test]
fn skips_text_chunks_without_a_document() {
    let card = card();
    for broken in [b"hello".as_slice(), b"", b"{\"spec\":", b"{\"spec\":}", b"{\"spec\" \"x\"}", b"[]"] {
        check(
            &text_picture(&[("chara", card.as_bytes()), ("CCv3", broken)]),
            ("png:chara", "Ada"),
            &["CTX0626 text chunk `ccv3` of the image is not a document; `chara` is read instead"],
        );
    }
    check_nothing(&text_picture(&[("ccv3", b"hello")]), "CTX0622");
    check_nothing(&text_picture(&[("ccv3", b"hello"), ("chara", b"there")]), "CTX0622");
    check_nothing(&text_picture(&[("ccv3", b"")]), "CTX0606");
}

#[test]
fn names_other_documents_of_a_picture() {
    let card = card();
    let book = br#"{"lorebookVersion":4,"entries":[]}"#;
    check(
        &text_picture(&[("naidata", book), ("chara", card.as_bytes()), ("aiob", b"{}")]),
        ("png:chara", "Ada"),
        &[
            "CTX0626 text chunk `chara` of the image is read; `naidata` is not",
            "CTX0626 text chunk `chara` of the image is read; `aiob` is not",
        ],
    );
}

#[test]
fn reads_data_urls() {
    let picture = STANDARD.encode(text_picture(&[("chara", card().as_bytes())]));
    check(format!("data:image/png;base64,{picture}\n").as_bytes(), ("base64/png:chara", "Ada"), &[]);
    let other = STANDARD.encode([255; 40]);
    check_nothing(format!("data:image/jpeg;base64,{other}").as_bytes(), "CTX0622");
}

#[test]
fn reads_card_pictures_from_archives() {
    let (card, bob) = (card(), card().replace("Ada", "Bob"));
    let ada = text_picture(&[("chara", card.as_bytes())]);
    let bob = text_picture(&[("ccv3", bob.as_bytes())]);
    let made =
        import_bytes(&archive(&[("c.png", &ada), ("d/e.png", &bob), ("notes.txt", b"n"), ("f.png", b"x")]));
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
    let containers: Vec<_> = made.report.files.iter().filter_map(|file| file.container.as_deref()).collect();
    assert_eq!(containers, ["zip:c.png/png:chara", "zip:d/e.png/png:ccv3"]);
    let assets: Vec<&str> = made.assets.iter().map(|file| &*file.path).collect();
    assert_eq!(assets, ["notes.txt", "f.png", "c.png", "d/e.png"]);
}

#[test]
fn names_pictures_after_their_files() {
    let face = STANDARD.encode(text_picture(&[("chara", card().as_bytes())]));
    let names = |bytes: &[u8]| -> Vec<String> {
        import_bytes(bytes).assets.into_iter().map(|asset| asset.path).collect()
    };
    let packed = archive(&[("x.json", face.as_bytes()), ("y.json", face.as_bytes())]);
    assert_eq!(names(&packed), ["x.json", "y.json"]);
    assert_eq!(names(face.as_bytes()), ["avatar.png"]);
}

#[test]
fn keeps_pictures_of_an_agent_as_assets() {
    let agent = json!({ "name": "Kim", "presetMessages": [{ "content": "Hi." }] }).to_string();
    let face = text_picture(&[("chara", card().as_bytes())]);
    let made =
        import_bytes(&archive(&[("Kim/Kim.agent.json", agent.as_bytes()), ("Kim/assets/face.png", &face)]));
    assert_eq!((made.report.files.len(), &*made.assets[0].path), (1, "Kim/assets/face.png"));
}

#[test]
fn refuses_archives_without_a_document() {
    check_nothing(&archive(&[("notes.txt", b"n"), ("f.png", b"x")]), "CTX0622");
    let broken = picture(&[("tEXt", b"chara\0?")]);
    check_nothing(&archive(&[("c.png", &broken)]), "CTX0608");
    // Only of an archive is it said that nothing in it can be read.
    let packed = STANDARD.encode(&broken);
    let bundle = json!({ "type": "AIO_Agent_Bundle", "data": packed }).to_string();
    for packed in [packed, bundle] {
        check_nothing(packed.as_bytes(), "CTX0608");
        assert_eq!(import_bytes(packed.as_bytes()).report.files[0].diagnostics.len(), 1);
    }
    let card = card();
    check(
        &archive(&[("c.png", &broken), ("d.json", card.as_bytes())]),
        ("zip:d.json", "Ada"),
        &["CTX0608 cannot unpack the file: text chunk `chara` of the image is not base64"],
    );
}

/// Imports an archive of three pictures with small limits.
fn import_pictures(pictures: [&[u8]; 3]) -> Import {
    let [a, b, c] = pictures;
    import_small(&archive(&[("a.png", a), ("b.png", b), ("c.png", c)]))
}

#[test]
fn limits_pictures_of_an_archive_together() {
    let card = card();
    let text = |text: &[u8]| picture(&[("zTXt", &[b"chara\0\0".as_slice(), &deflated(text)].concat())]);
    let large = text((card.clone() + &" ".repeat(6_000)).as_bytes());
    let made = import_pictures([&large; 3]);
    assert_eq!(made.report.files.len(), 2);
    let found = &made.report.files[1].diagnostics;
    assert!(found.iter().any(|found| found.code.to_string() == "CTX0608"), "{found:?}");
    // A broken picture uses as much of the limit as was unpacked of it.
    let good = text_picture(&[("chara", card.as_bytes())]);
    let torn = [b"chara\0\0".as_slice(), &deflated(&[b'a'; 4_000])[..12]].concat();
    for bad in [picture(&[("tEXt", b"chara\0?")]), picture(&[("zTXt", &torn)])] {
        let made = import_pictures([&bad, &bad, &good]);
        assert_eq!(made.agent.and_then(|agent| agent.name).as_deref(), Some("Ada"));
    }
    // Both are unpacked up to the limit of one text, after which little is left.
    let bomb = text(&vec![b'a'; 20_000]);
    assert!(import_pictures([&bomb, &bomb, &text(card.as_bytes())]).agent.is_none());
}
