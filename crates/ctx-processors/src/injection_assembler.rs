use ctx_anchors::{AnchorRegistry, Preset, RenderRequest, RenderedText, Target, assemble, internal::Entry};
use ctx_macros::{Env, State, Template};
use ctx_pipeline::{
    ConfigField, Inputs, PipelineContext, PrepareContext, PrepareInput, ProcessorResult, TypedProcessor,
};
use ctx_types::internal::TextCache;
use ctx_types::{Content, ContentPart, Diagnostic, Text};

use crate::append_only::{AppendOnly, JoinedDraft, TextStability};
use crate::internal::ids;
use crate::macro_values::{AgentMacros, MacroParts};
use crate::transcription_processor::resolve_placed_files;
use crate::window::{LoadedWindow, window};
use crate::worldbook_processor::WorldbookScan;

/// Expands macros, renders template anchors, and places entries and injections.
#[derive(Clone, Debug)]
pub(crate) struct InjectionAssembler {
    anchors: AnchorRegistry,
    parts: MacroParts,
}

impl InjectionAssembler {
    /// Creates the processor with anchors and macros.
    pub(crate) fn new(anchors: AnchorRegistry, parts: MacroParts) -> Self {
        Self { anchors, parts }
    }
}

#[derive(Debug)]
pub(crate) struct CompiledAssembler {
    preset: Preset,
    /// Templates of each content part; `None` for a part without text.
    templates: Vec<Vec<Option<Template>>>,
    macros: AgentMacros,
    has_variables: bool,
    /// Shares expanded texts between turns.
    memory: TextCache,
}

settings! {
    pub(crate) AssemblerSettings {
        omits: bool = ConfigField::select("switchedOffAnchors", "Injections at disabled anchors", &[
            ("stand_in", "Insert worldbook and plug-in texts nearby"),
            ("omit", "Drop"),
        ]),
        sends_white_space: bool = ConfigField::select("whiteSpace", "Blank entries", &[
            ("leave_out", "Skip"),
            ("send", "Send; skip only empty entries"),
        ]),
        places_world_info: bool = ConfigField::select("worldInfoPlace", "Role and depth of world info", &[
            ("entry", "From each worldbook entry"),
            ("anchor", "From the anchor's entry in the preset"),
        ]),
    }
}

impl TypedProcessor for InjectionAssembler {
    type Prepared = CompiledAssembler;

    describe!(
        300,
        ids::INJECTION_ASSEMBLER,
        "Injection assembler",
        "Expands macros and assembles preset, conversation, and injections",
        is_core
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> CompiledAssembler {
        let PrepareInput { settings, agent, cx } = input;
        let AssemblerSettings { omits, sends_white_space, places_world_info } =
            AssemblerSettings::read(settings);
        let (preset, found) = Preset::compile(agent, &self.anchors);
        let preset = preset.omit_at_disabled_anchors(omits).send_white_space(sends_white_space);
        let preset = preset.place_world_info(places_world_info);
        let used = |diagnostic: &Diagnostic| {
            let is_entry = |entry: &&Entry| {
                entry.is_world_info() && diagnostic.location.pointer.as_deref() == Some(&entry_pointer(entry))
            };
            places_world_info
                && diagnostic.code == ctx_anchors::codes::PLACED_ANCHOR
                && preset.entries().iter().any(|entry| is_entry(&entry))
        };
        for diagnostic in found.into_iter().filter(|diagnostic| !used(diagnostic)) {
            cx.report(diagnostic);
        }
        let macros = AgentMacros::new(agent, &self.parts, &mut |finding| cx.report(finding));
        let templates = preset.entries().iter().map(|entry| compile_entry(entry, &macros, cx)).collect();
        let has_variables = agent.variable_config.is_some();
        CompiledAssembler { preset, templates, macros, has_variables, memory: TextCache::default() }
    }

    async fn run(&self, compiled: &CompiledAssembler, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let turn = cx.inputs.turn;
        let mut state = cx.draft.macros_mut().clone();
        let env = compiled.macros.run_env(cx, &mut state);
        let skipped = cx.blackboard.get::<LoadedWindow>().map_or(0, |window| window.skipped);
        let mut window = window(cx.draft.take_messages(), skipped);
        let append_only = cx.blackboard.get::<AppendOnly>().cloned();
        let fixed = append_only.as_ref().map(|sent| sent.take_fixed_parts(&mut window, turn));
        let injections = cx.draft.take_injections();
        let target = Target {
            model: model_name(&cx.inputs),
            profile: turn.profile.as_deref(),
            kind: Some(turn.kind.as_str()),
        };
        let mut found = Vec::new();
        let mut render = |request: RenderRequest<'_>| compiled.render(request, &env, &mut state, &mut found);
        let assembled = assemble(&compiled.preset, window, injections, target, &mut render);
        let (messages, decisions) = match append_only.zip(fixed) {
            Some((sent, fixed)) => {
                let scan = cx.blackboard.get::<WorldbookScan>();
                let stability = TextStability {
                    macros: &compiled.macros,
                    has_variables: compiled.has_variables,
                    constant_entries: scan.map(WorldbookScan::constant_entries).unwrap_or_default(),
                };
                let JoinedDraft { messages, inserted, diagnostics, decisions } =
                    sent.join(fixed, assembled, &stability);
                found.extend(diagnostics);
                cx.blackboard.insert(inserted);
                (messages, decisions)
            }
            None => (assembled.messages, assembled.decisions),
        };
        for diagnostic in found {
            cx.report(diagnostic);
        }
        cx.draft.set_macros(state);
        cx.draft.set_messages(messages);
        cx.draft.decide_all(decisions);
        resolve_placed_files(cx).await
    }
}

fn compile_entry(entry: &Entry, macros: &AgentMacros, cx: &mut PrepareContext) -> Vec<Option<Template>> {
    let mut compile = |part: usize, text: &Text| {
        let template = macros.parse(text);
        if entry.has_own_content() && entry.off_reason().is_none() {
            let pointer = text_pointer(entry, part);
            for diagnostic in template.diagnostics() {
                cx.report(diagnostic.clone().at_pointer(pointer.clone()));
            }
        }
        template
    };
    match &entry.content {
        Content::Text(text) => vec![Some(compile(0, text))],
        Content::Parts(parts) => {
            let parts = parts.iter().enumerate();
            parts.map(|(index, part)| part_text(part).map(|text| compile(index, text))).collect()
        }
    }
}

impl CompiledAssembler {
    fn render(
        &self,
        request: RenderRequest<'_>,
        env: &Env,
        state: &mut State,
        found: &mut Vec<Diagnostic>,
    ) -> RenderedText {
        let templates = self.templates.get(request.entry.index);
        let template = templates.and_then(|parts| parts.get(request.part)).and_then(Option::as_ref);
        let Some(template) = template.filter(|template| !template.is_plain()) else {
            return RenderedText::unchanged(request.text);
        };
        let expansion = template.expand(env, state, &request.entry.source);
        let written = expansion.segments();
        let pointer = text_pointer(request.entry, request.part);
        found.extend(expansion.diagnostics.into_iter().map(|one| one.at_pointer(pointer.clone())));
        RenderedText { text: self.memory.share(expansion.text), written }
    }
}

fn model_name<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    let name = inputs.turn.model.as_deref().or(inputs.agent.model_id.as_deref());
    name.filter(|name| !name.is_empty())
}

fn part_text(part: &ContentPart) -> Option<&Text> {
    match part {
        ContentPart::Text(text) => Some(text),
        ContentPart::Other(_) => None,
    }
}

fn entry_pointer(entry: &Entry) -> String {
    format!("/presetMessages/{}", entry.index)
}

fn text_pointer(entry: &Entry, part: usize) -> String {
    match &entry.content {
        Content::Text(_) => format!("/presetMessages/{}/content", entry.index),
        Content::Parts(_) => format!("/presetMessages/{}/content/{part}/text", entry.index),
    }
}
