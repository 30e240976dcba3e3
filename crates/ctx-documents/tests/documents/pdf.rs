use ctx_types::ports::PortErrorKind;

use crate::build::{pdf, stream, zlib};
use crate::{PDF, check, check_error, read};

pub(crate) fn with_contents(font: &str, contents: &[&[u8]], more: &[Vec<u8>]) -> Vec<u8> {
    let kids: Vec<String> = (0..contents.len()).map(|index| format!("{} 0 R", 4 + 2 * index)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Resources << /Font << /F 3 0 R >> >> >>", kids.join(" "))
            .into_bytes(),
        font.as_bytes().to_vec(),
    ];
    for (index, content) in contents.iter().enumerate() {
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", 5 + 2 * index).into_bytes());
        objects.push(stream("", content));
    }
    objects.extend_from_slice(more);
    pdf(&objects)
}

const HELVETICA: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

pub(crate) fn with_lines(lines: &[&str]) -> Vec<u8> {
    let contents: Vec<String> = lines.iter().map(|line| format!("BT /F 12 Tf ({line}) Tj ET")).collect();
    let contents: Vec<&[u8]> = contents.iter().map(String::as_bytes).collect();
    with_contents(HELVETICA, &contents, &[])
}

#[track_caller]
fn check_page(content: &str, expected: &str) {
    check(&with_contents(HELVETICA, &[content.as_bytes()], &[]), PDF, expected);
}

#[test]
fn reads_pages_in_order() {
    check(&with_lines(&["one", "two"]), PDF, "one\n\ntwo");
}

#[test]
fn derives_lines_and_spaces_from_positions() {
    check_page("BT /F 10 Tf 0 100 Td (a) Tj 0 -12 Td (b) Tj T* (c) Tj ET", "a\nbc");
    check_page("BT /F 10 Tf [(Hel) -20 (lo) -600 (you)] TJ ET", "Hello you");
    check_page("BT /F 10 Tf 1 0 0 1 0 50 Tm (a) Tj 1 0 0 1 200 50 Tm (b) Tj ET", "a b");
    check_page("q 1 0 0 1 0 90 cm BT /F 10 Tf (a) Tj ET Q q 1 0 0 1 0 10 cm BT /F 10 Tf (b) Tj ET Q", "a\nb");
    check_page("BT /F 10 Tf 14 TL (a) Tj (b) ' ET", "a\nb");
    check_page("BI /W 1 ID (x) Tj EI BT /F 10 Tf (y) Tj ET", "y");
}

#[test]
fn decodes_text_with_font_encoding() {
    check_page("BT /F 10 Tf (Caf\\351 \\200) Tj ET", "Café €");
    let named = "<< /Type /Font /Subtype /Type1 /Encoding << /Differences [65 /eacute /uni4E2D /fi] >> >>";
    check(&with_contents(named, &[b"BT /F 10 Tf (ABCD) Tj ET"], &[]), PDF, "é中fiD");
}

#[test]
fn decodes_type3_glyphs_named_by_code() {
    let font = "<< /Type /Font /Subtype /Type3 /Encoding << /Differences [65 /a65 /a66 67 /a1] >> >>";
    let (text, left_out) = read(&with_contents(font, &[b"BT /F 10 Tf (ABC) Tj ET"], &[]), PDF).unwrap();
    assert_eq!((&*text, left_out.is_some()), ("AB", true));
}

#[test]
fn reads_encoding_of_embedded_font() {
    let font = "<< /Type /Font /Subtype /Type1 /FontDescriptor << /FontFile 6 0 R >> >>";
    let program = stream("", b"/Encoding 256 array\ndup 12 /fi put\ndup 65 /B put\neexec dup 67 /X put");
    check(&with_contents(font, &[b"BT /F 10 Tf (\\014ACD) Tj ET"], &[program]), PDF, "fiBCD");
}

#[test]
fn decodes_collection_numbers() {
    let font = |order: &str| {
        let descendant =
            format!("<< /CIDSystemInfo << /Registry (Adobe) /Ordering ({order}) /Supplement 2 >> >>");
        format!("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [{descendant}] >>")
    };
    let content = b"BT /F 10 Tf <0022046503AC> Tj ET";
    check(&with_contents(&font("Japan1"), &[content], &[]), PDF, "A亜グ");
    check(&with_contents(&font("GB1"), &[content], &[]), PDF, "A秉啊");
    check_error(&with_contents(&font("Identity"), &[content], &[]), PDF, PortErrorKind::Invalid);
}

#[test]
fn separates_words_of_justified_line() {
    check_page("BT /F 10 Tf [(to) -150 (be)] TJ ET", "to be");
}

#[test]
fn prefers_unicode_table_of_font() {
    let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /DW 1000 >>] >>";
    let table = stream("/Filter /FlateDecode", &zlib(b"2 beginbfchar <0001> <4E2D> <0002> <6587> endbfchar"));
    check(&with_contents(font, &[b"BT /F 10 Tf <00010002> Tj ET"], &[table]), PDF, "中文");
}

#[test]
fn decodes_predefined_chinese_encodings() {
    let font = |encoding: &str| {
        format!("<< /Type /Font /Subtype /Type0 /Encoding /{encoding} /DescendantFonts [<< >>] >>")
    };
    let check = |encoding: &str, codes: &str, expected: &str| {
        let content = format!("BT /F 10 Tf <{codes}> Tj ET");
        check(&with_contents(&font(encoding), &[content.as_bytes()], &[]), PDF, expected);
    };
    check("GBK-EUC-H", "D6D0CEC4", "中文");
    check("GBKp-EUC-V", "D6D0CEC4", "中文");
    check("GB-EUC-H", "D6D0", "中");
    check("UniGB-UCS2-H", "4E2D6587", "中文");
    check("UniGB-UTF16-H", "D842DFB7", "𠮷");
    check("ETen-B5-H", "A4A4A4E5", "中文");
    let unknown = with_contents(&font("Identity-H"), &[b"BT /F 10 Tf <00010002> Tj ET"], &[]);
    check_error(&unknown, PDF, PortErrorKind::Invalid);
}

#[test]
fn reports_undefined_characters() {
    let font = "<< /Type /Font /Subtype /Type0 /Encoding /GBK-EUC-H /DescendantFonts [<< >>] >>";
    let file = with_contents(font, &[b"BT /F 10 Tf <D6D0FFFF> Tj ET"], &[]);
    let (text, left_out) = read(&file, PDF).unwrap();
    assert_eq!(text, "中");
    assert_eq!(left_out.unwrap(), "omitted 1 characters that the fonts do not define");
}

#[test]
fn ignores_object_syntax_in_text() {
    check(
        &with_lines(&["see 3 0 obj << >> endobj", "and 2 0 obj, trailer << /Root 9 0 R >>"]),
        PDF,
        "see 3 0 obj << >> endobj\n\nand 2 0 obj, trailer << /Root 9 0 R >>",
    );
    let title = b"<< /Title (of 4 0 obj) >>".to_vec();
    check(&with_contents(HELVETICA, &[b"BT /F 10 Tf (x) Tj ET"], &[title]), PDF, "x");
}

#[test]
fn skips_unterminated_objects() {
    for broken in ["<< /Title (of", "<< /Kids [ 1 0 R", "<< >> stream\nBT"] {
        let mut file = format!("%PDF-1.5\n9 0 obj\n{broken}\nendobj\n").into_bytes();
        file.extend(with_lines(&["x"]));
        check(&file, PDF, "x");
    }
}

/// Object 2 is the page tree.
fn with_objects(objects: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = b"%PDF-1.5\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n".to_vec();
    for (number, object) in objects {
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    file.extend(b"99 0 obj\n<< /Type /XRef /Root 1 0 R >>\nstream\n\nendstream\nendobj\n");
    file
}

#[test]
fn uses_later_version_of_object() {
    let packed = |page: &str| {
        let object = format!("<< /Type /Page /Parent 2 0 R /Contents {page} 0 R >>");
        stream("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", &zlib(format!("4 0 {object}").as_bytes()))
    };
    let pages = b"<< /Type /Pages /Kids [4 0 R] /Resources << /Font << /F 3 0 R >> >> >>".to_vec();
    let content = |text: &str| stream("", format!("BT /F 10 Tf ({text}) Tj ET").as_bytes());
    let common = [(2, pages), (3, HELVETICA.into()), (5, content("old")), (6, content("new"))];
    let with =
        |versions: [(u32, Vec<u8>); 2]| with_objects(&[common.as_slice(), versions.as_slice()].concat());
    check(&with([(7, packed("5")), (8, packed("6"))]), PDF, "new");
    let plain = |page: u32| format!("<< /Type /Page /Parent 2 0 R /Contents {page} 0 R >>").into_bytes();
    check(&with([(4, plain(5)), (7, packed("6"))]), PDF, "new");
    check(&with([(7, packed("5")), (4, plain(6))]), PDF, "new");
}

#[test]
fn reads_compressed_objects_and_contents() {
    let objects = b"2 0 4 48 << /Type /Pages /Kids [4 0 R] /Count 1        >> << /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F 3 0 R >> >> >>";
    let packed = stream("/Type /ObjStm /N 2 /First 9 /Filter /FlateDecode", &zlib(objects));
    let content = stream("/Filter [/FlateDecode]", &zlib(b"BT /F 10 Tf (packed) Tj ET"));
    let mut file = b"%PDF-1.5\n".to_vec();
    for (number, object) in
        [(1, b"<< /Type /Catalog /Pages 2 0 R >>".to_vec()), (3, HELVETICA.into()), (5, content), (6, packed)]
    {
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    file.extend(b"7 0 obj\n<< /Type /XRef /Root 1 0 R >>\nstream\n\nendstream\nendobj\n");
    check(&file, PDF, "packed");
}

#[test]
fn inserts_form_text_at_its_call() {
    let form = stream("/Type /XObject /Subtype /Form", b"BT /F 10 Tf 0 50 Td (inner) Tj ET");
    let page =
        b"<< /Type /Page /Contents 5 0 R /Resources << /Font << /F 3 0 R >> /XObject << /X 6 0 R >> >> >>";
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [4 0 R] >>".to_vec(),
        HELVETICA.into(),
        page.to_vec(),
        stream("", b"/X Do BT /F 10 Tf (outer) Tj ET"),
        form,
    ];
    check(&pdf(&objects), PDF, "inner\nouter");
}
