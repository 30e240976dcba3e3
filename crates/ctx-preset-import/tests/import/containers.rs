//! Documents in pictures, archives and base64, and what is refused of them.

use std::io::{Cursor, Write as _};

use ctx_preset_import::{Import, Importer, Limits, SourceFile, export_card_picture};
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn import_bytes(bytes: &[u8]) -> Import {
    Importer::default().import(&[SourceFile { name: "file", bytes }])
}

/// Checks that a file is refused, and how.
#[track_caller]
fn refuse(bytes: &[u8], options: &Importer, expected: &str) {
    let made = options.import(&[SourceFile { name: "file", bytes }]);
    assert!(made.agent.is_none());
    let found = &made.report.files[0].diagnostics[0];
    assert_eq!((found.code.to_string().as_str(), found.message.to_string().as_str()), ("CTX0608", expected));
}

fn card() -> String {
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Ada" } }).to_string()
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn small() -> Importer {
    let mut options = Importer::default();
    options.limits =
        Limits { packed_files: 3, packed_bytes: 10_000, packed_total_bytes: 15_000, ..options.limits };
    options
}

/// A PNG with one chunk.
fn picture(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.extend_from_slice(&u32::try_from(data.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(kind);
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(&[0; 4]);
    bytes
}

fn deflated(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_card_comes_out_of_an_archive_with_its_files() {
    let made = import_bytes(&archive(&[("card.json", card().as_bytes()), ("assets/icon.png", b"i")]));
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
    assert_eq!(made.report.files[0].container.as_deref(), Some("zip:card.json"));
    assert_eq!(made.assets[0].path, "assets/icon.png");
}

#[test]
fn an_archive_may_stand_behind_a_picture() {
    let mut bytes = b"\xff\xd8\xff\xe0 picture ".to_vec();
    bytes.extend(archive(&[("card.json", card().as_bytes())]));
    assert!(import_bytes(&bytes).agent.is_some());
}

#[test]
fn base64_may_lack_its_padding() {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(card());
    for text in
        [text.clone(), text.trim_end_matches('=').to_owned(), format!("{}\n{}", &text[..20], &text[20..])]
    {
        assert!(import_bytes(text.as_bytes()).agent.is_some(), "{text}");
    }
}

#[test]
fn texts_of_pictures_may_be_of_any_kind() {
    let card = card();
    let plain = [b"chara\0".as_slice(), card.as_bytes()].concat();
    assert!(import_bytes(&picture(b"tEXt", &plain)).agent.is_some());
    let packed = [b"CHARA\0\0".as_slice(), &deflated(card.as_bytes())].concat();
    assert!(import_bytes(&picture(b"zTXt", &packed)).agent.is_some());
    let international = [b"ccv3\0\x01\0en\0\0".as_slice(), &deflated(card.as_bytes())].concat();
    assert!(import_bytes(&picture(b"iTXt", &international)).agent.is_some());
}

#[test]
fn what_asks_for_too_much_is_refused() {
    let bomb = [b"chara\0\0".as_slice(), &deflated(&vec![b'a'; 4 << 20])].concat();
    refuse(
        &picture(b"zTXt", &bomb),
        &small(),
        "cannot unpack the file: a text chunk of the image exceeds 10000 bytes",
    );
    let zeros = vec![0; 9_000];
    let large = archive(&[("a.bin", &zeros), ("b.bin", &zeros)]);
    refuse(&large, &small(), "cannot unpack the file: the files in the archive exceed 6000 bytes");
    let many = archive(&[("a", b""), ("b", b""), ("c", b""), ("d", b"")]);
    refuse(&many, &small(), "cannot unpack the file: the archive has more than 3 files");
    refuse(
        &picture(b"tEXt", b"other\0x"),
        &small(),
        "cannot unpack the file: the image is truncated and has no character, lorebook, or agent",
    );
    refuse(
        &picture(b"tEXt", b"chara\0?"),
        &small(),
        "cannot unpack the file: text chunk `chara` of the image is not base64",
    );
    refuse(b"PK\x03\x04 and no more", &small(), "cannot unpack the file: the archive is truncated");
}

#[test]
fn names_that_lead_outside_are_refused() {
    let outside = archive(&[("../card.json", card().as_bytes())]);
    refuse(
        &outside,
        &small(),
        "cannot unpack the file: the archive contains a path outside itself: `../card.json`",
    );
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_no_panic() {
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada", "description": "D".repeat(600) } });
    let picture = export_card_picture(&card, None).unwrap();
    let archive = archive(&[("card.json", card.to_string().as_bytes()), ("x", b"y")]);
    for whole in [picture, archive, card.to_string().into_bytes()] {
        for end in (0..whole.len()).step_by(64) {
            assert_eq!(import_bytes(&whole[..end]).report.files.len(), 1);
        }
    }
}

/// A picture whose card has version 2, as applications save it: in both chunks, with two labels.
fn both(card: &serde_json::Value) -> Vec<u8> {
    export_card_picture(card, None).unwrap()
}

#[test]
fn a_card_that_only_got_another_label_keeps_its_own() {
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Ada" } });
    let made = import_bytes(&both(&card));
    assert_eq!(made.report.files[0].container.as_deref(), Some("png:chara"));
    assert_eq!(made.report.files[0].format.map(ctx_preset_import::Format::id), Some("card_v2"));
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Ada" } });
    assert_eq!(import_bytes(&both(&card)).report.files[0].container.as_deref(), Some("png:ccv3"));
}

#[test]
fn a_card_without_a_version_has_one_chunk() {
    let card = json!({ "name": "Ada", "description": "Counts.", "personality": "", "scenario": "", "first_mes": "Hi", "mes_example": "" });
    let made = import_bytes(&both(&card));
    assert_eq!(made.report.files[0].container.as_deref(), Some("png:chara"));
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
}

/// A whole PNG with these texts in base64.
fn picture_with(texts: &[(&str, &[u8])]) -> Vec<u8> {
    use base64::Engine as _;
    let chunk = |kind: &[u8], data: &[u8]| picture(kind, data)[8..].to_vec();
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (keyword, text) in texts {
        let text = base64::engine::general_purpose::STANDARD.encode(text);
        bytes.extend(chunk(b"tEXt", format!("{keyword}\0{text}").as_bytes()));
    }
    bytes.extend(chunk(b"IEND", b""));
    bytes
}

/// Checks what becomes of a file: the container that is read, the name of the agent, and what is found.
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

/// Checks that nothing is made of a file.
#[track_caller]
fn check_nothing(bytes: &[u8], code: &str) {
    let made = import_bytes(bytes);
    assert!(made.agent.is_none() && made.profile.is_none() && made.assets.is_empty());
    let report = &made.report.files[0];
    assert_eq!((report.format, report.diagnostics[0].code.to_string().as_str()), (None, code));
}

#[test]
fn a_text_of_a_picture_that_is_no_document_is_passed_over() {
    let card = card();
    for broken in [b"hello".as_slice(), b"", b"{\"spec\":", b"{\"spec\":}", b"{\"spec\" \"x\"}", b"[]"] {
        check(
            &picture_with(&[("chara", card.as_bytes()), ("CCv3", broken)]),
            ("png:chara", "Ada"),
            &["CTX0626 text chunk `ccv3` of the image is not a document; `chara` is read instead"],
        );
    }
    check_nothing(&picture_with(&[("ccv3", b"hello")]), "CTX0622");
    check_nothing(&picture_with(&[("ccv3", b"hello"), ("chara", b"there")]), "CTX0622");
    check_nothing(&picture_with(&[("ccv3", b"")]), "CTX0606");
}

#[test]
fn a_document_beside_the_one_that_counts_is_told() {
    let card = card();
    let book = br#"{"lorebookVersion":4,"entries":[]}"#;
    check(
        &picture_with(&[("naidata", book), ("chara", card.as_bytes()), ("aiob", b"{}")]),
        ("png:chara", "Ada"),
        &[
            "CTX0626 text chunk `chara` of the image is read; `naidata` is not",
            "CTX0626 text chunk `chara` of the image is read; `aiob` is not",
        ],
    );
}

#[test]
fn an_address_with_data_is_what_it_holds() {
    use base64::Engine as _;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let picture = encode(&picture_with(&[("chara", card().as_bytes())]));
    check(format!("data:image/png;base64,{picture}\n").as_bytes(), ("base64/png:chara", "Ada"), &[]);
    check_nothing(format!("data:image/jpeg;base64,{}", encode(&[255; 40])).as_bytes(), "CTX0622");
}

#[test]
fn a_card_in_a_picture_comes_out_of_an_archive() {
    let (card, bob) = (card(), card().replace("Ada", "Bob"));
    let (ada, bob) = (picture_with(&[("chara", card.as_bytes())]), picture_with(&[("ccv3", bob.as_bytes())]));
    let made =
        import_bytes(&archive(&[("c.png", &ada), ("d/e.png", &bob), ("notes.txt", b"n"), ("f.png", b"x")]));
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
    let containers: Vec<_> = made.report.files.iter().filter_map(|file| file.container.as_deref()).collect();
    assert_eq!(containers, ["zip:c.png/png:chara", "zip:d/e.png/png:ccv3"]);
    let assets: Vec<&str> = made.assets.iter().map(|file| &*file.path).collect();
    assert_eq!(assets, ["notes.txt", "f.png", "c.png", "d/e.png"]);
}

#[test]
fn a_picture_has_the_name_of_what_it_was_packed_in() {
    use base64::Engine as _;
    let face =
        base64::engine::general_purpose::STANDARD.encode(picture_with(&[("chara", card().as_bytes())]));
    let names = |bytes: &[u8]| -> Vec<String> {
        import_bytes(bytes).assets.into_iter().map(|asset| asset.path).collect()
    };
    let packed = archive(&[("x.json", face.as_bytes()), ("y.json", face.as_bytes())]);
    assert_eq!(names(&packed), ["x.json", "y.json"]);
    assert_eq!(names(face.as_bytes()), ["avatar.png"]);
}

#[test]
fn pictures_of_an_agent_are_its_own() {
    let agent = json!({ "name": "Kim", "presetMessages": [{ "content": "Hi." }] }).to_string();
    let face = picture_with(&[("chara", card().as_bytes())]);
    let made =
        import_bytes(&archive(&[("Kim/Kim.agent.json", agent.as_bytes()), ("Kim/assets/face.png", &face)]));
    assert_eq!((made.report.files.len(), &*made.assets[0].path), (1, "Kim/assets/face.png"));
}

#[test]
fn an_archive_without_a_document_is_refused() {
    use base64::Engine as _;
    check_nothing(&archive(&[("notes.txt", b"n"), ("f.png", b"x")]), "CTX0622");
    let broken = picture(b"tEXt", b"chara\0?");
    check_nothing(&archive(&[("c.png", &broken)]), "CTX0608");
    // Only of an archive is it said that nothing in it can be read.
    let packed = base64::engine::general_purpose::STANDARD.encode(&broken);
    check_nothing(packed.as_bytes(), "CTX0608");
    let bundle = json!({ "type": "AIO_Agent_Bundle", "data": packed }).to_string();
    for packed in [packed, bundle] {
        let found = import_bytes(packed.as_bytes()).report.files.remove(0).diagnostics;
        assert_eq!(found.len(), 1, "{found:?}");
    }
    let card = card();
    let beside = archive(&[("c.png", &broken), ("d.json", card.as_bytes())]);
    check(
        &beside,
        ("zip:d.json", "Ada"),
        &["CTX0608 cannot unpack the file: text chunk `chara` of the image is not base64"],
    );
}

#[test]
fn pictures_of_an_archive_share_one_limit() {
    let card = card() + &" ".repeat(6_000);
    let packed = [b"chara\0\0".as_slice(), &deflated(card.as_bytes())].concat();
    let picture = picture(b"zTXt", &packed);
    let files: Vec<(&str, &[u8])> = vec![("a.png", &picture), ("b.png", &picture), ("c.png", &picture)];
    let made = small().import(&[SourceFile { name: "file", bytes: &archive(&files) }]);
    assert_eq!(made.report.files.len(), 2);
    let found = &made.report.files[1].diagnostics;
    assert!(found.iter().any(|found| found.code.to_string() == "CTX0608"), "{found:?}");
}

#[test]
fn what_is_broken_counts_as_far_as_it_was_unpacked() {
    let (card, broken) = (card(), picture(b"tEXt", b"chara\0?"));
    let torn = [b"chara\0\0".as_slice(), &deflated(&[b'a'; 4_000])[..12]].concat();
    for bad in [broken, picture(b"zTXt", &torn)] {
        let good = picture_with(&[("chara", card.as_bytes())]);
        let files: Vec<(&str, &[u8])> = vec![("a.png", &bad), ("b.png", &bad), ("c.png", &good)];
        let made = small().import(&[SourceFile { name: "file", bytes: &archive(&files) }]);
        assert_eq!(made.agent.and_then(|agent| agent.name).as_deref(), Some("Ada"));
    }
    // Both are unpacked up to the limit of one text, after which little is left.
    let bomb = picture(b"zTXt", &[b"chara\0\0".as_slice(), &deflated(&vec![b'a'; 20_000])].concat());
    let good = picture(b"zTXt", &[b"chara\0\0".as_slice(), &deflated(card.as_bytes())].concat());
    let files: Vec<(&str, &[u8])> = vec![("a.png", &bomb), ("b.png", &bomb), ("c.png", &good)];
    let made = small().import(&[SourceFile { name: "file", bytes: &archive(&files) }]);
    assert!(made.agent.is_none());
}

#[test]
fn a_picture_that_is_cut_off_is_told() {
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Ada", "description": "long ".repeat(90) } });
    let whole = both(&card);
    assert!(import_bytes(&whole).report.files[0].diagnostics.is_empty());
    let told = |bytes: &[u8]| -> Vec<String> {
        import_bytes(bytes).report.files[0].diagnostics.iter().map(ToString::to_string).collect()
    };
    let end = whole.len();
    // The last chunk has twelve bytes.
    let found = told(&whole[..end - 12]);
    assert!(found[0].contains("CTX0624") && found[0].contains("the image is truncated"), "{found:?}");
    let found = told(&whole[..end - 60]);
    let expected = "the image is truncated inside text chunk `ccv3`; `chara` is read instead";
    assert!(found[0].contains("CTX0624") && found[0].contains(expected), "{found:?}");
    for length in (0..end).step_by(16) {
        assert!(!told(&whole[..length]).is_empty(), "{length} bytes");
    }
}
