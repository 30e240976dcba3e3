//! Caches card and user profile texts within a run.

use std::borrow::Cow;

use ctx_types::Text;

use crate::dialect::Dialect;
use crate::registry::Registry;
use crate::template::Template;

/// More than a card has, except for its greetings.
const MAX_TEXTS: usize = 64;

/// Compares texts by pointer.
#[derive(Clone, Debug, Default)]
pub(crate) struct DerivedTexts {
    derived: Vec<DerivedText>,
    templates: Vec<Template>,
}

#[derive(Clone, Debug)]
struct DerivedText {
    of: Text,
    form: TextForm,
    text: Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// Without surrounding white space and carriage returns.
    Trimmed,
    /// Example dialogues.
    Examples,
}

impl DerivedTexts {
    pub(crate) fn derive(&mut self, of: &Text, form: TextForm, make: fn(&str) -> Cow<'_, str>) -> Text {
        let is_meant = |known: &&DerivedText| known.form == form && known.of.is_shared_with(of);
        if let Some(known) = self.derived.iter().find(is_meant) {
            return known.text.clone();
        }
        let text = match make(of) {
            Cow::Borrowed(same) if same.len() == of.len() => of.clone(),
            made => Text::from(made.into_owned()),
        };
        make_room(&mut self.derived);
        self.derived.push(DerivedText { of: of.clone(), form, text: text.clone() });
        text
    }

    pub(crate) fn template(&mut self, text: &Text, dialect: Dialect, registry: &Registry) -> Template {
        let is_meant = |known: &&Template| {
            known.text().is_shared_with(text)
                && known.dialect() == dialect
                && known.registry().is_shared_with(registry)
        };
        if let Some(known) = self.templates.iter().find(is_meant) {
            return known.clone();
        }
        let template = Template::parse(text, dialect, registry);
        make_room(&mut self.templates);
        self.templates.push(template.clone());
        template
    }
}

fn make_room<T>(known: &mut Vec<T>) {
    if known.len() >= MAX_TEXTS {
        known.remove(0);
    }
}
