//! Executes text operators of pages.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::file::File;
use super::fonts::Font;
use super::lexer::{Lexer, Token, is_blank};
use super::matrix::Matrix;
use super::object::{Dict, Object};
use super::pages::PageObject;
use crate::page::Page;

/// Maximum operators and glyphs of a document.
const MAX_STEPS: usize = 8_000_000;

const MAX_OPERANDS: usize = 64;

/// Minimum gap between words, relative to the font size; justified lines have narrow gaps.
const WORD_GAP: f64 = 0.1;

const MAX_FORMS: usize = 8;

const MAX_STATES: usize = 256;

pub(super) struct PageWriter<'w, 'a> {
    file: &'w mut File<'a>,
    page: &'w mut Page,
    fonts: BTreeMap<u32, Rc<Font>>,
    state: State,
    saved_states: Vec<State>,
    /// Position of the next glyph, and start of its line.
    text: Matrix,
    line: Matrix,
    /// End of the last glyph (x, y) and its size; `None` at the start of a page.
    last: Option<(f64, f64, f64)>,
    steps: usize,
    unreadable: usize,
}

#[derive(Clone)]
struct State {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    letter_space: f64,
    word_space: f64,
    stretch: f64,
    leading: f64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            page: Matrix::IDENTITY,
            font: None,
            size: 1.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
        }
    }
}

impl<'w, 'a> PageWriter<'w, 'a> {
    pub(super) fn new(file: &'w mut File<'a>, page: &'w mut Page) -> Self {
        Self {
            file,
            page,
            fonts: BTreeMap::new(),
            state: State::default(),
            saved_states: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            last: None,
            steps: MAX_STEPS,
            unreadable: 0,
        }
    }

    pub(super) const fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// Returns whether more pages fit.
    pub(super) fn write(&mut self, page: &PageObject) -> bool {
        if !self.page.text.is_empty() {
            self.page.break_line();
            self.page.push("\n");
        }
        (self.state, self.last) = (State::default(), None);
        self.saved_states.clear();
        // Concatenated by the specification, but words never cross streams.
        for number in &page.contents {
            if let Some((_, content)) = self.file.stream(*number) {
                self.draw(&content, &page.resources, 0);
            }
        }
        !self.page.is_full && self.steps > 0
    }

    fn draw(&mut self, content: &[u8], resources: &Dict, depth: usize) {
        let mut lexer = Lexer::new(content, 0);
        let mut operands = Vec::new();
        while let Some(token) = lexer.next() {
            let word = match token {
                Token::Object(object) => {
                    if operands.len() < MAX_OPERANDS {
                        operands.push(object);
                    }
                    continue;
                }
                Token::Word(word) => word,
            };
            match word {
                b"ID" => skip_image(&mut lexer),
                b"Do" => self.form(&operands, resources, depth),
                word => self.operator(word, &operands, resources),
            }
            operands.clear();
            self.steps = self.steps.saturating_sub(1);
            if self.steps == 0 || self.page.is_full {
                return;
            }
        }
    }

    fn operator(&mut self, word: &[u8], operands: &[Object], resources: &Dict) {
        let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or_default();
        match word {
            b"q" if self.saved_states.len() < MAX_STATES => self.saved_states.push(self.state.clone()),
            b"Q" => self.state = self.saved_states.pop().unwrap_or_else(|| self.state.clone()),
            b"cm" => {
                if let Some(matrix) = Matrix::from_operands(operands) {
                    self.state.page = matrix.then(self.state.page);
                }
            }
            b"BT" => (self.text, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            b"Tc" => self.state.letter_space = number(0),
            b"Tw" => self.state.word_space = number(0),
            b"Tz" => self.state.stretch = number(0) / 100.0,
            b"TL" => self.state.leading = number(0),
            b"Tf" => self.set_font(operands, resources),
            b"Td" => self.move_line(number(0), number(1)),
            b"TD" => {
                self.state.leading = -number(1);
                self.move_line(number(0), number(1));
            }
            b"Tm" => {
                if let Some(matrix) = Matrix::from_operands(operands) {
                    (self.text, self.line) = (matrix, matrix);
                }
            }
            b"T*" => self.move_line(0.0, -self.state.leading),
            b"Tj" => self.show(operands.first()),
            b"TJ" => self.show_all(operands.first()),
            b"'" | b"\"" => {
                self.move_line(0.0, -self.state.leading);
                self.show(operands.last());
            }
            _ => {}
        }
    }

    fn set_font(&mut self, operands: &[Object], resources: &Dict) {
        let name = operands.first().and_then(Object::name).and_then(|name| std::str::from_utf8(name).ok());
        self.state.size = operands.get(1).and_then(Object::number).unwrap_or(1.0);
        let fonts = self.file.dict(resources, "Font");
        let Some(entry) = fonts.as_ref().zip(name).and_then(|(fonts, name)| fonts.get(name)) else { return };
        let known = match entry {
            Object::Reference(number) => self.fonts.get(number).cloned(),
            _ => None,
        };
        let font = known.or_else(|| {
            let dict = self.file.resolve(entry);
            let font = Rc::new(Font::read(self.file, dict.dict()?));
            if let Object::Reference(number) = entry {
                self.fonts.insert(*number, font.clone());
            }
            Some(font)
        });
        self.state.font = font.or_else(|| self.state.font.take());
    }

    fn move_line(&mut self, x: f64, y: f64) {
        self.line = Matrix::translation(x, y).then(self.line);
        self.text = self.line;
    }

    fn show_all(&mut self, list: Option<&Object>) {
        for item in list.and_then(Object::array).unwrap_or_default() {
            match item {
                Object::Number(number) => self.advance(-number / 1_000.0 * self.state.size),
                item => self.show(Some(item)),
            }
        }
    }

    fn advance(&mut self, x: f64) {
        self.text = Matrix::translation(x * self.state.stretch, 0.0).then(self.text);
    }

    fn show(&mut self, string: Option<&Object>) {
        let Some(font) = self.state.font.clone() else { return };
        let mut rest = string.and_then(Object::string).unwrap_or_default();
        if rest.is_empty() {
            return;
        }
        self.separate_words();
        while !rest.is_empty() && self.steps > 0 && !self.page.is_full {
            self.steps -= 1;
            let (glyph, after) = font.take(rest);
            rest = after;
            match &glyph.letters {
                Some(letters) => self.page.push(&letters.replace(|c: char| c.is_control(), " ")),
                None => self.unreadable += 1,
            }
            let word_space = if glyph.is_space { self.state.word_space } else { 0.0 };
            self.advance(glyph.width / 1_000.0 * self.state.size + self.state.letter_space + word_space);
        }
        let (x, y, size) = self.place();
        self.last = Some((x, y, size));
    }

    /// Returns the position and size of the next glyph.
    fn place(&self) -> (f64, f64, f64) {
        let matrix = self.text.then(self.state.page);
        let (x, y) = matrix.origin();
        (x, y, (self.state.size * matrix.scale()).abs().max(0.1))
    }

    /// Writes a line break or a space before a distant glyph.
    fn separate_words(&mut self) {
        let (x, y, size) = self.place();
        let Some((last_x, last_y, last_size)) = self.last else { return };
        let size = size.max(last_size);
        if (y - last_y).abs() > size * 0.5 {
            self.page.break_line();
        } else if (x - last_x > size * WORD_GAP || last_x - x > size)
            && !self.page.text.ends_with(char::is_whitespace)
        {
            self.page.push(" ");
        }
    }

    fn form(&mut self, operands: &[Object], resources: &Dict, depth: usize) {
        let name = operands.last().and_then(Object::name).and_then(|name| std::str::from_utf8(name).ok());
        let objects = self.file.dict(resources, "XObject");
        let entry = objects.as_ref().zip(name).and_then(|(objects, name)| objects.get(name));
        let Some(Object::Reference(number)) = entry.filter(|_| depth < MAX_FORMS) else { return };
        let is_form = self.file.object(*number).and_then(|object| Some(object.dict()?.is("Subtype", "Form")));
        if is_form != Some(true) {
            return;
        }
        let Some((dict, content)) = self.file.stream(*number) else { return };
        let own = self.file.dict(&dict, "Resources");
        let saved = self.state.clone();
        let matrix = self.file.get(&dict, "Matrix");
        if let Some(matrix) = matrix.as_ref().and_then(Object::array).and_then(Matrix::from_operands) {
            self.state.page = matrix.then(self.state.page);
        }
        self.draw(&content, own.as_ref().unwrap_or(resources), depth + 1);
        self.state = saved;
    }
}

/// Skips an inline image.
fn skip_image(lexer: &mut Lexer<'_>) {
    let rest = lexer.bytes.get(lexer.at..).unwrap_or_default();
    let is_end = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| rest.get(before));
        let after = rest.get(at + 2);
        before.is_some_and(|byte| is_blank(*byte)) && after.is_none_or(|byte| is_blank(*byte))
    };
    let end = memchr::memmem::find_iter(rest, b"EI").find(is_end);
    lexer.at += end.map_or(rest.len(), |end| end + 2);
}
