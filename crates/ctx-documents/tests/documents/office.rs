use crate::build::{docx, xlsx, zip};
use crate::{DOCX, PPTX, XLSX, check, read};

#[track_caller]
fn check_word(body: &str, expected: &str) {
    check(&docx(body), DOCX, expected);
}

#[test]
fn writes_paragraphs_headings_and_lists_as_lines() {
    check_word(
        "<w:p><w:r><w:t>a &amp; b</w:t></w:r></w:p><w:p><w:r><w:t>中</w:t><w:tab/><w:t>c</w:t></w:r></w:p>",
        "a & b\n中\tc\n",
    );
    check_word("<w:p><w:pPr><w:pStyle w:val=\"Heading2\"/></w:pPr><w:t>T</w:t></w:p>", "## T\n");
    check_word("<w:p><w:pPr><w:numPr/></w:pPr><w:t>one</w:t><w:br/><w:t>more</w:t></w:p>", "- one\nmore\n");
}

#[test]
fn writes_tables_as_rows_of_cells() {
    let cell = |text: &str| format!("<w:tc><w:p><w:t>{text}</w:t></w:p></w:tc>");
    let row = format!("<w:tr>{}{}</w:tr>", cell("a"), cell("b</w:t></w:p><w:p><w:t>c"));
    check_word(&format!("<w:tbl>{row}</w:tbl>"), "| a | b c |\n");
}

#[test]
fn omits_deleted_and_fallback_text() {
    check_word(
        "<w:p><w:del><w:r><w:delText>x</w:delText><w:t>y</w:t></w:r></w:del><w:t>z</w:t></w:p>",
        "z\n",
    );
    check_word(
        "<w:p><mc:AlternateContent><mc:Choice><w:t>a</w:t></mc:Choice><mc:Fallback><w:t>a</w:t></mc:Fallback>\
         </mc:AlternateContent></w:p>",
        "a\n",
    );
    check_word("<w:p><w:instrText>PAGE</w:instrText><w:t>1</w:t></w:p>", "1\n");
}

#[test]
fn writes_sheets_as_lines_of_values() {
    let rows = "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\"><v>1.5</v></c></row>\
                <row r=\"2\"><c r=\"B2\" t=\"inlineStr\"><is><t>a,\"b\"</t></is></c><c r=\"C2\" t=\"b\"><v>1</v></c></row>\
                <row r=\"3\"><c r=\"A3\" s=\"1\"><v>46053</v></c><c s=\"2\"><v>46053.5</v></c><c s=\"0\"><v>7</v></c></row>";
    let strings = "<si><r><t>he</t></r><r><t>llo</t></r><rPh><t>x</t></rPh></si>";
    let styles = "<numFmts><numFmt numFmtId=\"200\" formatCode=\"yyyy\\-mm\"/></numFmts>\
                  <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"200\"/></cellXfs>";
    let expected = "--- S ---\nhello,,1.5\n,\"a,\"\"b\"\"\",TRUE\n2026-01-31,2026-01-31 12:00:00,7\n";
    check(&xlsx(rows, strings, styles), XLSX, expected);
}

#[test]
fn writes_numbers_in_shortest_form() {
    let rows =
        "<row><c><v>2.2999999999999998</v></c><c><v>0.083333333333333329</v></c><c><v>1.5E-300</v></c></row>";
    check(&xlsx(rows, "", ""), XLSX, "--- S ---\n2.3,0.08333333333333333,1.5E-300\n");
}

#[test]
fn reads_dates_counted_from_1904() {
    let book = "<workbook><workbookPr date1904=\"1\"/><sheets><sheet name=\"S\" r:id=\"r1\"/></sheets>\
                <x15:workbookPr chartTrackingRefBase=\"1\"/></workbook>";
    let file = zip(&[
        ("xl/workbook.xml", book.as_bytes()),
        (
            "xl/_rels/workbook.xml.rels",
            b"<Relationships><Relationship Id=\"r1\" Target=\"worksheets/s.xml\"/></Relationships>",
        ),
        ("xl/worksheets/s.xml", b"<worksheet><row><c s=\"0\"><v>40908</v></c></row></worksheet>"),
        ("xl/styles.xml", b"<styleSheet><cellXfs><xf numFmtId=\"14\"/></cellXfs></styleSheet>"),
    ]);
    check(&file, XLSX, "--- S ---\n2016-01-01\n");
}

#[test]
fn truncates_sheets_at_limit() {
    let rows = "<row><c><v>1</v></c></row>".repeat(1_500);
    let (text, left_out) = read(&xlsx(&rows, "", ""), XLSX).unwrap();
    assert_eq!(
        (text.lines().count(), left_out.as_deref()),
        (1_001, Some("omitted rows after the first 1000"))
    );
    let far = "<row><c r=\"XFD1\"><v>1</v></c></row>".repeat(100);
    let (text, left_out) = read(&xlsx(&far, "", ""), XLSX).unwrap();
    assert!(text.len() < 200 && left_out.unwrap().contains("omitted columns after the first 256"), "{text}");
}

#[test]
fn reads_slides_in_presentation_order() {
    let slide =
        |text: &str| format!("<p:sld><a:p><a:r><a:t>{text}</a:t></a:r></a:p><a:p><a:t>x</a:t></a:p></p:sld>");
    let file = zip(&[
        (
            "ppt/presentation.xml",
            b"<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"r2\"/><p:sldId id=\"257\" r:id=\"r1\"/></p:sldIdLst></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            b"<Relationships><Relationship Id=\"r1\" Target=\"slides/slide1.xml\"/><Relationship Id=\"r2\" Target=\"/ppt/slides/slide2.xml\"/></Relationships>",
        ),
        ("ppt/slides/slide1.xml", slide("first made").as_bytes()),
        ("ppt/slides/slide2.xml", slide("first shown").as_bytes()),
    ]);
    check(&file, PPTX, "--- 1 ---\nfirst shown\nx\n--- 2 ---\nfirst made\nx\n");
}
