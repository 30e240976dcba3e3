//! DOCX: paragraphs, headings, lists and tables.

use ctx_types::ports::{ExtractedText, PortError};

use super::archive::Archive;
use super::markup::{Next, Tag, Token, read as read_markup};
use crate::DocumentLimits;
use crate::page::Page;

/// In output order.
const PARTS: [&str; 3] = ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"];

pub(crate) fn read(bytes: &[u8], limits: &DocumentLimits) -> Result<ExtractedText, PortError> {
    let mut archive = Archive::open(bytes, limits)?;
    let mut page = Page::new(limits);
    let [main, notes @ ..] = PARTS;
    write(&archive.expect(main)?, &mut page)?;
    for part in notes {
        if let Some(xml) = archive.text(part)? {
            page.break_line();
            write(&xml, &mut page)?;
        }
    }
    Ok(page.finish())
}

fn write(xml: &str, page: &mut Page) -> Result<(), PortError> {
    let mut writer = WordWriter::default();
    read_markup(xml, |token| {
        match token {
            Token::Open(tag) => writer.open(&tag, page),
            Token::Close(name) => writer.close(&name, page),
            Token::Text(text) if writer.is_text && writer.hidden == 0 => page.push(&text),
            Token::Text(_) => {}
        }
        if page.is_full { Next::Stop } else { Next::Go }
    })
}

#[derive(Default)]
struct WordWriter {
    /// Whether inside a text element.
    is_text: bool,
    hidden: usize,
    /// Depth of nested table cells.
    cells: usize,
    has_words: bool,
}

/// Alternatives for older programs, and deleted text.
const HIDDEN: [&str; 3] = ["Fallback", "del", "moveFrom"];

impl WordWriter {
    fn open(&mut self, tag: &Tag<'_>, page: &mut Page) {
        match tag.name() {
            "t" => self.is_text = true,
            name if HIDDEN.contains(&name) => self.hidden += 1,
            _ if self.hidden > 0 => {}
            "p" if self.cells > 0 && self.has_words => page.push(" "),
            "p" => self.has_words = self.cells > 0,
            "pStyle" => page.push(&heading(tag)),
            "numPr" if self.cells == 0 => page.push("- "),
            "tab" => page.push("\t"),
            "br" | "cr" if self.cells == 0 => page.push("\n"),
            "noBreakHyphen" => page.push("-"),
            "tr" if self.cells == 0 => page.push("|"),
            "tc" => {
                self.cells += 1;
                self.has_words = false;
                page.push(" ");
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str, page: &mut Page) {
        match name {
            "t" => self.is_text = false,
            name if HIDDEN.contains(&name) => self.hidden = self.hidden.saturating_sub(1),
            _ if self.hidden > 0 => {}
            "p" if self.cells == 0 => page.push("\n"),
            "tc" => {
                self.cells = self.cells.saturating_sub(1);
                page.push(" |");
            }
            "tr" if self.cells == 0 => page.push("\n"),
            _ => {}
        }
    }
}

/// Returns the Markdown prefix of a heading style.
fn heading(tag: &Tag<'_>) -> String {
    let style = tag.attribute("val").unwrap_or_default().to_ascii_lowercase();
    let level = style.strip_prefix("heading").and_then(|level| level.trim().parse::<usize>().ok());
    let level = if style == "title" { Some(1) } else { level };
    level.filter(|level| (1..=6).contains(level)).map(|level| "#".repeat(level) + " ").unwrap_or_default()
}
