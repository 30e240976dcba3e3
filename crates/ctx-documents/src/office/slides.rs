use ctx_types::ports::{ExtractedText, PortError};

use super::archive::Archive;
use super::markup::{Next, Token, read as read_markup};
use super::relations;
use crate::DocumentLimits;
use crate::page::Page;

pub(crate) fn read(bytes: &[u8], limits: &DocumentLimits) -> Result<ExtractedText, PortError> {
    let mut archive = Archive::open(bytes, limits)?;
    let slides = slides(&mut archive)?;
    let mut page = Page::new(limits);
    for (index, name) in slides.iter().take(limits.pages).enumerate() {
        let Some(xml) = archive.text(name)? else { continue };
        page.break_line();
        page.push(&format!("--- {} ---\n", index + 1));
        write(&xml, &mut page)?;
        if page.is_full {
            break;
        }
    }
    if slides.len() > limits.pages {
        page.note_omission(|| format!("omitted slides after the first {}", limits.pages));
    }
    Ok(page.finish())
}

fn slides(archive: &mut Archive<'_>) -> Result<Vec<String>, PortError> {
    let targets = relations::targets(archive, "ppt", "presentation.xml")?;
    let mut slides = Vec::new();
    read_markup(&archive.expect("ppt/presentation.xml")?, |token| {
        if let Token::Open(tag) = token
            && tag.name() == "sldId"
        {
            let relation = tag.relation_id();
            slides.extend(relation.and_then(|id| targets.get(&id)).cloned());
        }
        Next::Go
    })?;
    if slides.is_empty() {
        slides =
            archive.names().filter(|name| name.starts_with("ppt/slides/slide")).map(str::to_owned).collect();
        slides.sort_by_key(|name| (name.len(), name.clone()));
    }
    Ok(slides)
}

fn write(xml: &str, page: &mut Page) -> Result<(), PortError> {
    let (mut is_text, mut hidden, mut cells) = (false, 0_usize, 0_usize);
    read_markup(xml, |token| {
        match token {
            Token::Open(tag) => match tag.name() {
                "t" => is_text = true,
                "Fallback" => hidden += 1,
                "br" if cells == 0 => page.push("\n"),
                "tr" => page.push("|"),
                "tc" => {
                    cells += 1;
                    page.push(" ");
                }
                _ => {}
            },
            Token::Close(name) => match &*name {
                "t" => is_text = false,
                "Fallback" => hidden = hidden.saturating_sub(1),
                "p" if cells == 0 => page.break_line(),
                "tc" => {
                    cells = cells.saturating_sub(1);
                    page.push(" |");
                }
                "tr" => page.push("\n"),
                _ => {}
            },
            Token::Text(text) if is_text && hidden == 0 => page.push(&text),
            Token::Text(_) => {}
        }
        if page.is_full { Next::Stop } else { Next::Go }
    })
}
