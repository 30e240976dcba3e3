use ctx_macros::Expansion;
use ctx_types::{Injection, Source, SourceKind, SourcedText, Trust};

pub(crate) fn push_separator(text: &mut SourcedText, separator: &str) {
    text.push(separator, Source::new(SourceKind::Separator, Trust::Preset), Vec::new());
}

pub(crate) fn push_expansion(text: &mut SourcedText, expansion: &Expansion, source: &Source) {
    text.append(&expansion.text, &expansion.segments(), source);
}

pub(crate) fn push_lines(text: &mut SourcedText, injections: &[Injection]) {
    for (index, injection) in injections.iter().enumerate() {
        if index > 0 {
            push_separator(text, "\n");
        }
        text.append(&injection.text, &injection.written, &injection.source);
    }
}
