use std::sync::Arc;

use ctx_anchors::AnchorRegistry;
use ctx_pipeline::{ContextProcessor, ProcessorRegistry};

use crate::macro_values::MacroParts;
use crate::{
    AssetResolver, AuthorNote, ConvertSystemToUser, DialogueExamples, EnsureAlternatingRoles,
    GenerationPrompt, InjectionAssembler, MergeConsecutiveRoles, MergeInjections, MergeSystemToHead,
    RecallProcessor, RegexProcessor, RequestCompressor, SessionLoader, SpeakerNames, SquashSystem,
    TokenLimiter, TranscriptionProcessor, VariableProcessor, WorldbookProcessor,
};

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
    let processors: [Arc<dyn ContextProcessor>; 20] = [
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
    ];
    let mut registry = ProcessorRegistry::default();
    for processor in processors {
        let registered = registry.register(processor);
        debug_assert!(registered.is_ok(), "the ids of built-in processors differ");
    }
    registry
}
