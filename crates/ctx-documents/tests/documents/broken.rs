//! Damaged and hostile files never panic and use little memory.

use std::process::Command;

use ctx_types::ports::PortErrorKind;
use proptest::prelude::*;

use crate::build::{docx, pdf, stream, xlsx, zip, zlib};
use crate::pdf::{with_contents, with_lines};
use crate::{DOCX, MEMORY, PDF, PPTX, XLSX, check, check_error, read};

/// Maximum additional bytes at once.
const MOST: usize = 200 << 20;

#[track_caller]
fn within_memory(work: impl FnOnce()) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    work();
    let most = MEMORY.peak_usage().saturating_sub(before);
    assert!(most < MOST, "{} MiB", most >> 20);
}

#[test]
fn stops_decompression_bombs_at_limit() {
    let zeros = vec![b' '; 80 << 20];
    let bombs = [
        (zip(&[("word/document.xml", &zeros)]), DOCX),
        (zip(&[("xl/workbook.xml", &zeros)]), XLSX),
        (zip(&[("ppt/presentation.xml", &zeros)]), PPTX),
    ];
    for (bomb, mime_type) in &bombs {
        within_memory(|| check_error(bomb, mime_type, PortErrorKind::TooLarge));
    }
    let content = stream("/Filter [/FlateDecode /FlateDecode]", &zlib(&zlib(&zeros)));
    let page = b"<< /Type /Page /Contents [4 0 R 4 0 R 4 0 R 4 0 R 4 0 R 4 0 R] >>".to_vec();
    let objects =
        [b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), b"<< /Kids [3 0 R] >>".to_vec(), page, content];
    within_memory(|| assert!(read(&pdf(&objects), PDF).unwrap().1.unwrap().contains("50331648 bytes")));
}

#[test]
fn limits_memory_for_many_small_elements() {
    // Other tests of this process would be measured too.
    if std::env::var_os("CTX_MEASURE_MEMORY").is_none() {
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "broken::limits_memory_for_many_small_elements"]);
        let output = test.env("CTX_MEASURE_MEMORY", "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let strings = "<si><t>x</t></si>".repeat(500_000);
    let rows = "<row><c t=\"s\"><v>999999</v></c></row>".repeat(200_000);
    let sheet = xlsx(&rows, &strings, "");
    within_memory(|| assert!(read(&sheet, XLSX).unwrap().1.unwrap().contains("rows after the first 1000")));
    let paragraphs = docx(&"<w:p/>".repeat(500_000));
    within_memory(|| assert!(read(&paragraphs, DOCX).is_ok()));
    let elements = "<b>".repeat(300_000);
    within_memory(|| check_error(elements.as_bytes(), "text/html", PortErrorKind::Invalid));
    let objects = format!("%PDF-1.4\n{}", "1 0 obj << /Type /Page >> endobj\n".repeat(300_000));
    within_memory(|| check(objects.as_bytes(), PDF, ""));
}

#[test]
fn distinguishes_encrypted_from_broken_files() {
    let mut file = with_lines(&["secret"]);
    file.extend(b"trailer\n<< /Root 1 0 R /Encrypt 9 0 R >>\n");
    check_error(&file, PDF, PortErrorKind::Denied);
    let mut file = docx("<w:p/>");
    for at in 0..file.len() - 10 {
        match &file[at..at + 4] {
            b"PK\x03\x04" => file[at + 6] = 1,
            b"PK\x01\x02" => file[at + 8] = 1,
            _ => {}
        }
    }
    check_error(&file, DOCX, PortErrorKind::Denied);
}

#[test]
fn reads_truncated_files_as_far_as_possible() {
    let file = with_lines(&["first", "second"]);
    let end = file.windows(6).position(|window| window == b"second").unwrap();
    let (text, _) = read(&file[..end], PDF).unwrap();
    assert!(text.starts_with("first"), "{text}");
    check_error(&file[..20], PDF, PortErrorKind::Invalid);
    check_error(b"%PDF-1.7", PDF, PortErrorKind::Invalid);
    let file = docx("<w:p><w:t>x</w:t></w:p>");
    check_error(&file[..file.len() / 2], DOCX, PortErrorKind::Invalid);
    check_error(b"", DOCX, PortErrorKind::Invalid);
    check_error(&zip(&[]), XLSX, PortErrorKind::Invalid);
}

#[test]
fn stops_at_circular_references() {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Kids [2 0 R 3 0 R 2 0 R] /Resources 5 0 R >>".to_vec(),
        b"<< /Type /Page /Contents 4 0 R >>".to_vec(),
        stream("/Subtype /Form", b"/X Do BT /F 1 Tf (x) Tj ET"),
        b"<< /XObject << /X 4 0 R >> /Font << /F 6 0 R >> >>".to_vec(),
        b"6 0 R".to_vec(),
    ];
    check_error(&pdf(&[objects[0].clone(), b"2 0 R".to_vec()]), PDF, PortErrorKind::Invalid);
    assert_eq!(read(&pdf(&objects), PDF).unwrap().0.trim(), "");
}

#[test]
fn handles_deep_nesting() {
    let deep = format!("BT /F 1 Tf {} (x) Tj ET", "[".repeat(200_000));
    assert!(read(&with_contents("<< >>", &[deep.as_bytes()], &[]), PDF).is_ok());
    let deep = "<w:tbl>".repeat(200_000);
    check(&docx(&deep), DOCX, "");
    let deep = format!("%PDF-1.4 1 0 obj {} endobj", "<< /A ".repeat(100_000));
    check_error(deep.as_bytes(), PDF, PortErrorKind::Invalid);
}

#[test]
fn does_not_expand_entities() {
    let xml = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><w:p><w:t>&b;&lt;</w:t></w:p>";
    check(&zip(&[("word/document.xml", xml.as_bytes())]), DOCX, "&b;<\n");
}

fn samples() -> Vec<(Vec<u8>, &'static str)> {
    let table = stream("/Filter /FlateDecode", &zlib(b"1 beginbfrange <0000> <00ff> <4E00> endbfrange"));
    let font = "<< /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /W [1 [2 3] 4 9 5] >>] >>";
    vec![
        (with_lines(&["one two", "three"]), PDF),
        (with_contents(font, &[b"q 1 0 0 1 5 5 cm BT /F 9 Tf [<0001> -300 <0002>] TJ ET Q"], &[table]), PDF),
        (docx("<w:p><w:t>x</w:t></w:p>"), DOCX),
        (xlsx("<row><c r=\"A1\" t=\"s\" s=\"0\"><v>0</v></c></row>", "<si><t>x</t></si>", ""), XLSX),
        (b"<p>a<b>c</p><table><tr><td>x".to_vec(), "text/html"),
        ("中文 text".as_bytes().to_vec(), "text/plain"),
    ]
}

proptest! {
    #[test]
    fn parses_modified_files_without_panic(
        sample in 0..6_usize,
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<usize>()),
    ) {
        let (mut bytes, mime_type) = samples().swap_remove(sample);
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut % bytes.len());
        }
        if let Err(error) = read(&bytes, mime_type) {
            prop_assert!(!error.detail.to_string().contains("gave up"), "{}", error);
        }
    }
}
