use std::sync::Arc;

use ctx_anchors::AnchorRegistry;
use ctx_macros::{MacroPorts, Registry as MacroRegistry};
use ctx_pipeline::{ContextProcessor, ProcessorRegistry};

use crate::macro_values::MacroParts;
use crate::{
    AssetResolver, AuthorNote, ConvertSystemToUser, DialogueExamples, EnsureAlternatingRoles,
    GenerationPrompt, InjectionAssembler, MergeConsecutiveRoles, MergeInjections, MergeSystemToHead,
    RecallProcessor, RegexProcessor, RequestCompressor, SessionLoader, SpeakerNames, SquashSystem,
    TokenLimiter, TranscriptionProcessor, VariableProcessor, WorldbookProcessor,
};

/// Returns the built-in processors in run order, with the application's anchors, macros, and macro ports.
///
/// ```
/// use ctx_anchors::AnchorRegistry;
/// use ctx_macros::{MacroPorts, Registry};
/// use ctx_processors::default_set;
///
/// let registry = default_set(AnchorRegistry::system(), Registry::builtin(), MacroPorts::default());
/// assert!(registry.get("token-limiter").is_some());
/// ```
pub fn default_set(anchors: AnchorRegistry, macros: MacroRegistry, ports: MacroPorts) -> ProcessorRegistry {
    let parts = MacroParts { registry: macros.clone(), ports: ports.clone() };
    let processors: [Arc<dyn ContextProcessor>; 20] = [
        Arc::new(SessionLoader),
        Arc::new(RegexProcessor::new(macros.clone(), ports.clone())),
        Arc::new(TranscriptionProcessor),
        Arc::new(WorldbookProcessor(parts.clone())),
        Arc::new(AuthorNote(parts.clone())),
        Arc::new(DialogueExamples(parts.clone())),
        Arc::new(InjectionAssembler::new(anchors, macros, ports.clone())),
        Arc::new(SpeakerNames(ports)),
        Arc::new(MergeInjections),
        Arc::new(GenerationPrompt(parts)),
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
