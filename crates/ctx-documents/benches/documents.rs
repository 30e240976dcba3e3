//! Benchmarks of text extraction, in pages per second.
//!
//! A page has 3,000 characters in 40 lines, or 40 rows of 8 cells. Generated documents stay below all limits.
#![expect(clippy::unwrap_used, reason = "a panic fails the benchmark")]

#[path = "../tests/documents/build.rs"]
mod build;

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctx_documents::DocumentReader;

const PAGES: usize = 100;

/// Stays below the limit of 1,000 rows.
const SHEET_PAGES: usize = 20;

const LINES: usize = 40;
const LINE: &str = "The garden behind the house was wild when we came; nobody had cut the hedges";

criterion_group!(benches, documents);
criterion_main!(benches);

fn documents(criterion: &mut Criterion) {
    let office = |name: &str| format!("application/vnd.openxmlformats-officedocument.{name}");
    let documents = [
        ("PDF", PAGES, pdf(), "application/pdf".to_owned()),
        ("PDF in Chinese", PAGES, chinese_pdf(), "application/pdf".to_owned()),
        ("DOCX", PAGES, docx(), office("wordprocessingml.document")),
        ("XLSX", SHEET_PAGES, xlsx(), office("spreadsheetml.sheet")),
        ("PPTX", PAGES, pptx(), office("presentationml.presentation")),
        ("HTML", PAGES, html(), "text/html".to_owned()),
        ("text", PAGES, text(), "text/plain".to_owned()),
    ];
    let reader = DocumentReader::default();
    let mut group = criterion.benchmark_group("pages to text");
    group.sample_size(20);
    for (name, pages, bytes, mime_type) in documents {
        let read = reader.read(&bytes, &mime_type).unwrap();
        assert!(read.left_out.is_none(), "{name} is read whole");
        assert!(read.text.len() > pages * LINES * 40, "{name} has {} bytes of text", read.text.len());
        group.throughput(Throughput::Elements(pages as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_with_large_drop(|| reader.read(black_box(&bytes), &mime_type));
        });
    }
    group.finish();
}

fn lines(page: usize, line: impl Fn(usize) -> String) -> String {
    (page * LINES..(page + 1) * LINES).map(line).collect()
}

fn pdf() -> Vec<u8> {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    build_pdf(font, |page| lines(page, |at| format!("({at}: {LINE}) Tj T*\n")), &[])
}

/// Two-byte codes with a `ToUnicode` table.
fn chinese_pdf() -> Vec<u8> {
    let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 4 0 R /DescendantFonts [<< /DW 1000 >>] >>";
    let table = "1 begincodespacerange <0000> <FFFF> endcodespacerange\n1 beginbfrange <0000> <0FFF> <4E00> endbfrange";
    let table = build::stream("/Filter /FlateDecode", &build::zlib(table.as_bytes()));
    let line = |at: usize| {
        let letters = (0..36).map(|letter| format!("{:04x}", (at * 31 + letter * 97) % 0x0FFF));
        format!("<{}> Tj T*\n", letters.collect::<String>())
    };
    build_pdf(font, |page| lines(page, line), &[table])
}

fn build_pdf(font: &str, content: impl Fn(usize) -> String, more: &[Vec<u8>]) -> Vec<u8> {
    let first = 4 + more.len();
    let mut kids = String::new();
    let mut pages = Vec::new();
    for page in 0..PAGES {
        let at = first + 2 * page;
        write!(kids, "{at} 0 R ").unwrap();
        pages.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", at + 1).into_bytes());
        let content = format!("BT /F 10 Tf 12 TL 50 800 Td\n{}ET", content(page));
        pages.push(build::stream("/Filter /FlateDecode", &build::zlib(content.as_bytes())));
    }
    let tree = format!("<< /Type /Pages /Kids [{kids}] /Resources << /Font << /F 3 0 R >> >> >>");
    let head = [b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), tree.into_bytes(), font.as_bytes().to_vec()];
    build::pdf(&[head.as_slice(), more, pages.as_slice()].concat())
}

/// Each line is a paragraph of two runs, as in real files.
fn docx() -> Vec<u8> {
    let line = |at: usize| {
        format!(
            "<w:p><w:pPr><w:spacing w:after=\"120\"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space=\"preserve\">{at}: \
             </w:t></w:r><w:r><w:t>{LINE}</w:t></w:r></w:p>"
        )
    };
    build::docx(&(0..PAGES).map(|page| lines(page, line)).collect::<String>())
}

fn xlsx() -> Vec<u8> {
    let mut strings = String::new();
    for at in 0..100 {
        write!(strings, "<si><t>hedge {at}</t></si>").unwrap();
    }
    let row = |at: usize| {
        let cell = |(column, name): (usize, char)| match column % 2 {
            0 => format!("<c r=\"{name}{}\" t=\"s\"><v>{}</v></c>", at + 1, at % 100),
            _ => format!("<c r=\"{name}{}\"><v>{at}.25</v></c>", at + 1),
        };
        format!("<row r=\"{}\">{}</row>", at + 1, ('A'..='H').enumerate().map(cell).collect::<String>())
    };
    build::xlsx(&(0..SHEET_PAGES * LINES).map(row).collect::<String>(), &strings, "")
}

fn pptx() -> Vec<u8> {
    let line = |at: usize| format!("<a:p><a:r><a:rPr lang=\"en\"/><a:t>{at}: {LINE}</a:t></a:r></a:p>");
    let (mut ids, mut links) = (String::new(), String::new());
    let slides: Vec<(String, String)> = (0..PAGES)
        .map(|page| {
            write!(ids, "<p:sldId id=\"{page}\" r:id=\"r{page}\"/>").unwrap();
            write!(links, "<Relationship Id=\"r{page}\" Target=\"slides/slide{page}.xml\"/>").unwrap();
            (format!("ppt/slides/slide{page}.xml"), format!("<p:sld>{}</p:sld>", lines(page, line)))
        })
        .collect();
    let show = format!("<p:presentation><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>");
    let links = format!("<Relationships>{links}</Relationships>");
    let mut members = vec![
        ("ppt/presentation.xml", show.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", links.as_bytes()),
    ];
    members.extend(slides.iter().map(|(name, slide)| (name.as_str(), slide.as_bytes())));
    build::zip(&members)
}

fn html() -> Vec<u8> {
    let line = |at: usize| format!("<p class=\"line\"><b>{at}</b>: {LINE}</p>\n");
    let body: String = (0..PAGES).map(|page| lines(page, line)).collect();
    format!("<!doctype html><html><head><style>p {{ margin: 0 }}</style></head><body>{body}</body></html>")
        .into_bytes()
}

fn text() -> Vec<u8> {
    (0..PAGES).map(|page| lines(page, |at| format!("{at}: {LINE}\n"))).collect::<String>().into_bytes()
}
