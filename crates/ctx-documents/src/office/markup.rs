//! XML events with local names.

use std::borrow::Cow;

use ctx_types::ports::PortError;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::reader::invalid;

#[derive(Debug)]
pub(super) enum Token<'a> {
    /// An empty element also sends `Close`.
    Open(Tag<'a>),
    /// Local name.
    Close(String),
    Text(Cow<'a, str>),
}

#[derive(Debug)]
pub(super) struct Tag<'a> {
    start: BytesStart<'a>,
}

impl Tag<'_> {
    pub(super) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// Returns the prefixed `id` of a relationship (`r:id`); a plain `id` has another meaning.
    pub(super) fn relation_id(&self) -> Option<String> {
        let mut attributes = self.start.attributes().filter_map(Result::ok);
        let found = attributes.find(|attribute| attribute.key.into_inner().ends_with(":id"))?;
        Some(found.value.into_owned())
    }

    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.start.attributes().filter_map(Result::ok);
        let found = attributes.find(|attribute| attribute.key.local_name().into_inner() == name)?;
        Some(quick_xml::escape::unescape(&found.value).unwrap_or(Cow::Borrowed(&found.value)).into_owned())
    }
}

/// Calls `see` for every token in order until it returns `Next::Stop`.
///
/// Never expands entities that the document declares, which prevents entity bombs.
pub(super) fn read(xml: &str, mut see: impl FnMut(Token<'_>) -> Next) -> Result<(), PortError> {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    loop {
        let next =
            match reader.read_event().map_err(|_| invalid(ctx_types::phrase!("it contains invalid XML")))? {
                Event::Eof => return Ok(()),
                Event::Start(start) => see(Token::Open(Tag { start })),
                Event::Empty(start) => {
                    let name = start.local_name().into_inner().to_owned();
                    match see(Token::Open(Tag { start })) {
                        Next::Go => see(Token::Close(name)),
                        Next::Stop => Next::Stop,
                    }
                }
                Event::End(end) => see(Token::Close(end.local_name().into_inner().to_owned())),
                Event::Text(text) => see(Token::Text(text.xml10_content())),
                Event::CData(text) => see(Token::Text(text.xml10_content())),
                Event::GeneralRef(reference) => see(Token::Text(Cow::Owned(resolve(&reference)))),
                _ => Next::Go,
            };
        if next == Next::Stop {
            return Ok(());
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Go,
    Stop,
}

/// Keeps unknown entities.
fn resolve(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = reference.xml10_content();
    match quick_xml::escape::resolve_xml_entity(&name) {
        Some(text) => text.to_owned(),
        None => format!("&{name};"),
    }
}
