use ctx_macros::Expansion;
use ctx_pipeline::Draft;
use ctx_types::internal::SourcedText;
use ctx_types::{Injection, Placement, Source, SourceKind, Trust};

/// Takes the injections at an anchor.
pub(crate) fn take_injections_at(draft: &mut Draft, anchor: &str) -> Vec<Injection> {
    let is_there = |injection: &Injection| matches!(&injection.placement, Placement::Anchor { target, .. } if &**target == anchor);
    let (there, others): (Vec<_>, Vec<_>) = draft.take_injections().into_iter().partition(is_there);
    for injection in others {
        draft.inject(injection);
    }
    there
}

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
