use ctx_macros::{Env, State, Template};
use ctx_types::internal::SourcedText;
use ctx_types::{Injection, Order, Placement, Role, Source, SourceKind, Text, Trust};

use super::options::ANCHOR_FORMAT;
use crate::injection_text::{push_expansion, push_lines};
use crate::macro_values::AgentMacros;

/// Compiled setting `anchorFormat`.
#[derive(Clone, Debug)]
pub(crate) struct AnchorFormat {
    /// Text before, between, and after the entries.
    parts: Vec<Template>,
}

/// Placeholder for the entries.
const TEXTS: &str = "{0}";

/// Further placeholders stay text.
const MOST: usize = 16;

const ANCHORS: [&str; 2] = ["world_info_before", "world_info_after"];

impl AnchorFormat {
    /// Returns `None` if each entry is a separate message.
    pub(crate) fn compile(format: &str, macros: &AgentMacros) -> Option<Self> {
        if format.is_empty() {
            return None;
        }
        let mut parts: Vec<Template> =
            format.splitn(MOST + 1, TEXTS).map(|part| macros.parse(&Text::from(part))).collect();
        if parts.len() == 1 {
            parts.push(macros.parse(&Text::default()));
        }
        Some(Self { parts })
    }

    /// Joins the entries at each of `ANCHORS` with line breaks.
    pub(crate) fn gather(&self, injections: Vec<Injection>, env: &Env, state: &mut State) -> Vec<Injection> {
        let (mut gathered, mut others) = (ANCHORS.map(|_| Vec::new()), Vec::new());
        for injection in injections {
            let at = match &injection.placement {
                Placement::Anchor { target, .. } => ANCHORS.iter().position(|anchor| *anchor == &**target),
                _ => None,
            };
            match at.and_then(|at| gathered.get_mut(at)) {
                Some(list) => list.push(injection),
                None => others.push(injection),
            }
        }
        for list in gathered {
            others.extend(self.join(&list, env, state));
        }
        others
    }

    fn join(&self, list: &[Injection], env: &Env, state: &mut State) -> Option<Injection> {
        let mut joined = list.first()?.clone();
        let format = Source::new(SourceKind::Preset, Trust::Preset).with_id(ANCHOR_FORMAT);
        let mut text = SourcedText::default();
        for (number, part) in self.parts.iter().enumerate() {
            if number > 0 {
                push_lines(&mut text, list);
            }
            push_expansion(&mut text, &part.expand(env, state, &format), &format);
        }
        (joined.text, joined.written) = (Text::from(text.text), text.segments);
        joined.role = Role::System;
        if let Placement::Anchor { order, .. } = &mut joined.placement {
            *order = Order::DEFAULT;
        }
        Some(joined)
    }
}
