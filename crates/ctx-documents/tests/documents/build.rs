use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};

pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let at = u32::try_from(bytes.len()).unwrap();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(data).unwrap();
        let packed = encoder.finish().unwrap();
        let len = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
        let mut about = vec![0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        about.extend(len(packed.len()));
        about.extend(len(data.len()));
        about.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        about.extend([0, 0]);
        bytes.extend(b"PK\x03\x04\x14\0");
        bytes.extend(&about);
        bytes.extend(name.as_bytes());
        bytes.extend(&packed);
        list.extend(b"PK\x01\x02\x14\0\x14\0");
        list.extend(&about);
        list.extend([0; 10]);
        list.extend(at.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let at = u32::try_from(bytes.len()).unwrap();
    bytes.extend(&list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(u16::try_from(members.len()).unwrap().to_le_bytes());
    bytes.extend(u16::try_from(members.len()).unwrap().to_le_bytes());
    bytes.extend(u32::try_from(list.len()).unwrap().to_le_bytes());
    bytes.extend(at.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

pub(crate) fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn docx(body: &str) -> Vec<u8> {
    let document =
        format!("<?xml version=\"1.0\"?><w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>");
    zip(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", document.as_bytes())])
}

/// Builds a workbook with one sheet `S`.
pub(crate) fn xlsx(rows: &str, strings: &str, styles: &str) -> Vec<u8> {
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    zip(&[
        (
            "xl/workbook.xml",
            b"<workbook><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            b"<Relationships><Relationship Id=\"r1\" Target=\"worksheets/s.xml\"/></Relationships>",
        ),
        ("xl/worksheets/s.xml", sheet.as_bytes()),
        ("xl/sharedStrings.xml", format!("<sst>{strings}</sst>").as_bytes()),
        ("xl/styles.xml", format!("<styleSheet>{styles}</styleSheet>").as_bytes()),
    ])
}

/// Builds a PDF without a cross-reference table; the first object is the catalog.
pub(crate) fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.5\n".to_vec();
    for (index, object) in objects.iter().enumerate() {
        bytes.extend(format!("{} 0 obj\n", index + 1).into_bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    bytes.extend(b"trailer\n<< /Root 1 0 R >>\n%%EOF\n");
    bytes
}

pub(crate) fn stream(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = format!("<< /Length {} {dict} >>\nstream\n", data.len()).into_bytes();
    bytes.extend(data);
    bytes.extend(b"\nendstream");
    bytes
}
