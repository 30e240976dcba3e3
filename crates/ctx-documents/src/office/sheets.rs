//! XLSX as comma-separated values, sheet by sheet.

mod cells;
mod dates;
mod styles;

use ctx_types::ports::{ExtractedText, PortError};

use super::archive::Archive;
use super::markup::{Next, Token, read as read_markup};
use super::relations;
use crate::DocumentLimits;
use crate::page::Page;
use styles::Styles;

pub(crate) fn read(bytes: &[u8], limits: &DocumentLimits) -> Result<ExtractedText, PortError> {
    let mut archive = Archive::open(bytes, limits)?;
    let book = workbook(&mut archive)?;
    let strings = match archive.text("xl/sharedStrings.xml")? {
        Some(xml) => shared_strings(&xml)?,
        None => Vec::new(),
    };
    let styles = match archive.text("xl/styles.xml")? {
        Some(xml) => Styles::read(&xml, book.counts_from_1904)?,
        None => Styles::default(),
    };
    let mut page = Page::new(limits);
    for (name, path) in book.sheets.iter().take(limits.pages) {
        let Some(xml) = archive.text(path)? else { continue };
        page.break_line();
        page.push(&format!("--- {name} ---\n"));
        cells::write(&xml, &strings, &styles, limits, &mut page)?;
        if page.is_full {
            break;
        }
    }
    if book.sheets.len() > limits.pages {
        page.note_omission(|| format!("omitted sheets after the first {}", limits.pages));
    }
    Ok(page.finish())
}

#[derive(Default)]
struct Workbook {
    sheets: Vec<(String, String)>,
    counts_from_1904: bool,
}

fn workbook(archive: &mut Archive<'_>) -> Result<Workbook, PortError> {
    let targets = relations::targets(archive, "xl", "workbook.xml")?;
    let mut book = Workbook::default();
    read_markup(&archive.expect("xl/workbook.xml")?, |token| {
        let Token::Open(tag) = token else { return Next::Go };
        match tag.name() {
            "sheet" => {
                let path = tag.relation_id().and_then(|id| targets.get(&id).cloned());
                book.sheets.extend(path.map(|path| (tag.attribute("name").unwrap_or_default(), path)));
            }
            "workbookPr" => {
                // Extensions have an element of the same name without dates.
                book.counts_from_1904 |= matches!(tag.attribute("date1904").as_deref(), Some("1" | "true"));
            }
            _ => {}
        }
        Next::Go
    })?;
    Ok(book)
}

/// Skips phonetic hints (`rPh`).
fn shared_strings(xml: &str) -> Result<Vec<String>, PortError> {
    let (mut strings, mut is_text, mut phonetic) = (Vec::new(), false, 0_usize);
    read_markup(xml, |token| {
        match token {
            Token::Open(tag) => match tag.name() {
                "si" => strings.push(String::new()),
                "t" => is_text = true,
                "rPh" => phonetic += 1,
                _ => {}
            },
            Token::Close(name) => match &*name {
                "t" => is_text = false,
                "rPh" => phonetic = phonetic.saturating_sub(1),
                _ => {}
            },
            Token::Text(text) if is_text && phonetic == 0 => {
                if let Some(last) = strings.last_mut() {
                    last.push_str(&text);
                }
            }
            Token::Text(_) => {}
        }
        Next::Go
    })?;
    Ok(strings)
}
