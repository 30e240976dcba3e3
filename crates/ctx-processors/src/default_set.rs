use std::sync::Arc;

use ctx_anchors::AnchorRegistry;
use ctx_pipeline::{ContextProcessor, ProcessorRegistry};

use crate::asset_resolver::AssetResolver;
use crate::author_note::AuthorNote;
use crate::convert_system_to_user::ConvertSystemToUser;
use crate::dialogue_examples::DialogueExamples;
use crate::ensure_alternating_roles::EnsureAlternatingRoles;
use crate::generation_prompt::GenerationPrompt;
use crate::injection_assembler::InjectionAssembler;
use crate::macro_values::MacroParts;
use crate::merge_consecutive_roles::MergeConsecutiveRoles;
use crate::merge_injections::MergeInjections;
use crate::merge_system_to_head::MergeSystemToHead;
use crate::recall::RecallProcessor;
use crate::regex_processor::RegexProcessor;
use crate::request_compressor::RequestCompressor;
use crate::session_loader::SessionLoader;
use crate::speaker_names::SpeakerNames;
use crate::squash_system::SquashSystem;
use crate::token_limiter::TokenLimiter;
use crate::transcription_processor::TranscriptionProcessor;
use crate::variable_processor::VariableProcessor;
use crate::worldbook_processor::WorldbookProcessor;

/// Returns the built-in processors in run order, with the application's anchors and macros.
///
/// ```
/// use ctx_anchors::AnchorRegistry;
/// use ctx_processors::{MacroParts, default_set};
///
/// let registry = default_set(AnchorRegistry::system(), MacroParts::default());
/// assert!(registry.get("token-limiter").is_some());
/// ```
pub fn default_set(anchors: AnchorRegistry, macros: MacroParts) -> ProcessorRegistry {
    let mut registry = ProcessorRegistry::default();
    for processor in built_in_processors(anchors, macros) {
        let registered = registry.register(processor);
        debug_assert!(registered.is_ok(), "the ids of built-in processors differ");
    }
    registry
}

/// Returns the built-in processors in run order.
pub fn built_in_processors(anchors: AnchorRegistry, macros: MacroParts) -> [Arc<dyn ContextProcessor>; 20] {
    [
        Arc::new(SessionLoader),
        Arc::new(RegexProcessor(macros.clone())),
        Arc::new(TranscriptionProcessor),
        Arc::new(WorldbookProcessor(macros.clone())),
        Arc::new(AuthorNote(macros.clone())),
        Arc::new(DialogueExamples(macros.clone())),
        Arc::new(InjectionAssembler::new(anchors, macros.clone())),
        Arc::new(SpeakerNames(macros.clone())),
        Arc::new(MergeInjections),
        Arc::new(GenerationPrompt(macros)),
        Arc::new(VariableProcessor),
        Arc::new(RequestCompressor),
        Arc::new(RecallProcessor),
        Arc::new(TokenLimiter),
        Arc::new(MergeSystemToHead),
        Arc::new(SquashSystem),
        Arc::new(MergeConsecutiveRoles),
        Arc::new(ConvertSystemToUser),
        Arc::new(EnsureAlternatingRoles),
        Arc::new(AssetResolver),
    ]
}
