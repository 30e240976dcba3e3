use ctx_types::ports::PortError;

use super::styles::Styles;
use crate::DocumentLimits;
use crate::office::markup::{Next, Tag, Token, read as read_markup};
use crate::page::Page;

const MAX_COLUMNS: usize = 256;

pub(super) fn write(
    xml: &str,
    strings: &[String],
    styles: &Styles,
    limits: &DocumentLimits,
    page: &mut Page,
) -> Result<(), PortError> {
    let mut sheet =
        SheetWriter { strings, styles, cell: Cell::default(), column: 0, rows: 0, is_value: false };
    read_markup(xml, |token| {
        match token {
            Token::Open(tag) => sheet.open(&tag),
            Token::Close(name) => sheet.close(&name, page),
            Token::Text(text) if sheet.is_value => sheet.cell.value.push_str(&text),
            Token::Text(_) => {}
        }
        if sheet.rows >= limits.rows {
            page.note_omission(|| format!("omitted rows after the first {}", limits.rows));
            return Next::Stop;
        }
        if page.is_full { Next::Stop } else { Next::Go }
    })
}

struct SheetWriter<'a> {
    strings: &'a [String],
    styles: &'a Styles,
    cell: Cell,
    /// Number of columns written in this row.
    column: usize,
    rows: usize,
    is_value: bool,
}

#[derive(Default)]
struct Cell {
    /// From 0; by default next to the previous cell.
    column: Option<usize>,
    kind: String,
    style: usize,
    value: String,
}

impl SheetWriter<'_> {
    fn open(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            "c" => {
                self.cell = Cell {
                    column: tag.attribute("r").as_deref().and_then(column),
                    kind: tag.attribute("t").unwrap_or_default(),
                    style: tag.attribute("s").and_then(|style| style.parse().ok()).unwrap_or_default(),
                    value: String::new(),
                };
            }
            "v" | "t" => self.is_value = true,
            "row" => self.column = 0,
            _ => {}
        }
    }

    fn close(&mut self, name: &str, page: &mut Page) {
        match name {
            "v" | "t" => self.is_value = false,
            "c" => self.put(page),
            "row" => {
                page.push("\n");
                self.rows += 1;
            }
            _ => {}
        }
    }

    fn put(&mut self, page: &mut Page) {
        let cell = std::mem::take(&mut self.cell);
        let column = cell.column.unwrap_or(self.column).max(self.column);
        if column >= MAX_COLUMNS {
            return page.note_omission(|| format!("omitted columns after the first {MAX_COLUMNS}"));
        }
        if cell.value.is_empty() {
            return;
        }
        // One after each written cell, and one per empty cell.
        let commas = if self.column == 0 { column } else { column - self.column + 1 };
        page.push(&",".repeat(commas));
        page.push(&quote_value(&self.cell_text(&cell)));
        self.column = column + 1;
    }

    fn cell_text(&self, cell: &Cell) -> String {
        match &*cell.kind {
            "s" => {
                let index = cell.value.trim().parse::<usize>().ok();
                index.and_then(|index| self.strings.get(index)).cloned().unwrap_or_default()
            }
            "b" => if cell.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "" | "n" => self.styles.format_number(cell.style, &cell.value),
            _ => cell.value.clone(),
        }
    }
}

fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic).take(4);
    let number =
        letters.fold(0, |number, letter| number * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1);
    number.checked_sub(1)
}

fn quote_value(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
