//! `cargo xtask attachments`: the files that the messages of fixtures have, made here byte for byte.

mod archive;
mod picture;

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::workspace;
use archive::zip;
use picture::png;

/// Where the files are written.
const FOLDER: &str = "fixtures/attachments";

/// Writes the files.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "usage: cargo xtask attachments");
    let plan = pdf(&["The mill is by the river.", "It grinds at dawn."]);
    let talk = wav(400);
    let notes = docx(&["Notes", "The miller is called Ada.", "Her cat has no name."]);
    let sacks = b"day,sacks\nMonday,12\nTuesday,\"9, one torn\"\n".to_vec();
    let files = [
        ("each_dialect_takes_what_it_can", "plan.pdf", plan.clone()),
        ("each_dialect_takes_what_it_can", "mill.png", png(8, 4)),
        ("each_dialect_takes_what_it_can", "talk.wav", talk.clone()),
        ("each_dialect_takes_what_it_can", "notes.docx", notes),
        ("each_dialect_takes_what_it_can", "sacks.csv", sacks),
        ("a_transcript_that_is_there_stands_for_the_recording", "talk.wav", talk),
        ("old_files_become_text", "plan.pdf", plan),
    ];
    for (case, name, bytes) in files {
        let folder = workspace::root().join(FOLDER).join(case).join("assets");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder of `{case}`"))?;
        fs::write(folder.join(name), &bytes).with_context(|| format!("cannot write `{name}`"))?;
        println!("{case}/assets/{name}: {} bytes", bytes.len());
    }
    Ok(())
}

/// A PDF file with a line of text on each page.
fn pdf(lines: &[&str]) -> Vec<u8> {
    let pages: Vec<String> = (0..lines.len()).map(|index| format!("{} 0 R", 4 + 2 * index)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", pages.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (index, line) in lines.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources << /Font << /F1 3 0 R >> >> \
             /Contents {} 0 R >>",
            5 + 2 * index
        ));
        let content = format!("BT /F1 12 Tf 20 150 Td ({line}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut text = "%PDF-1.4\n".to_owned();
    let mut places = String::new();
    for (index, object) in objects.iter().enumerate() {
        places = format!("{places}{:010} 00000 n \n", text.len());
        text = format!("{text}{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let (start, count) = (text.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {count}\n0000000000 65535 f \n{places}trailer\n<< /Size {count} /Root 1 0 R >>\n\
         startxref\n{start}\n%%EOF\n"
    );
    (text + &end).into_bytes()
}

/// Sound of 8,000 bytes a second: a saw that is hardly heard.
fn wav(samples: u16) -> Vec<u8> {
    const RATE: u32 = 8_000;
    let sound = (0..samples).map(|sample| 120 + sample.to_le_bytes()[0] % 16);
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + u32::from(samples)).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(RATE.to_le_bytes());
    bytes.extend(RATE.to_le_bytes());
    bytes.extend([1, 0, 8, 0]);
    bytes.extend(b"data");
    bytes.extend(u32::from(samples).to_le_bytes());
    bytes.extend(sound);
    bytes
}

/// A DOCX file: a heading, then paragraphs.
fn docx(paragraphs: &[&str]) -> Vec<u8> {
    const TYPES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
        <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
        <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
        <Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/>\
        </Types>";
    const RELATIONS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
        <Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"word/document.xml\"/>\
        </Relationships>";
    let paragraph = |(index, text): (usize, &&str)| {
        let style = if index == 0 { "<w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr>" } else { "" };
        format!("<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body: String = paragraphs.iter().enumerate().map(paragraph).collect();
    let document = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\
         <w:body>{body}</w:body></w:document>"
    );
    zip(&[
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", RELATIONS.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ])
}
