//! The standard set of processors.

use std::sync::Arc;

use ctx_anchors::AnchorRegistry;
use ctx_macros::{MacroPorts, Registry as MacroRegistry};
use ctx_pipeline::{ContextProcessor, ProcessorRegistry};

use crate::{
    ConvertSystemToUser, EnsureAlternatingRoles, InjectionAssembler, MergeConsecutiveRoles, MergeInjections,
    MergeSystemToHead, RegexProcessor, RequestCompressor, SessionLoader, TokenLimiter, VariableProcessor,
    WorldbookProcessor,
};

/// Returns the built-in processors in the order in which they run, for an application's anchors and macros,
/// and what it lends to macros.
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
    let processors: [Arc<dyn ContextProcessor>; 12] = [
        Arc::new(SessionLoader),
        Arc::new(RegexProcessor::new(macros.clone(), ports.clone())),
        Arc::new(WorldbookProcessor::new(macros.clone(), ports.clone())),
        Arc::new(InjectionAssembler::new(anchors, macros, ports)),
        Arc::new(MergeInjections),
        Arc::new(VariableProcessor),
        Arc::new(RequestCompressor),
        Arc::new(TokenLimiter),
        Arc::new(MergeSystemToHead),
        Arc::new(MergeConsecutiveRoles),
        Arc::new(ConvertSystemToUser),
        Arc::new(EnsureAlternatingRoles),
    ];
    let mut registry = ProcessorRegistry::default();
    for processor in processors {
        let registered = registry.register(processor);
        debug_assert!(registered.is_ok(), "the ids of built-in processors differ");
    }
    for id in PLANNED {
        registry.announce(id);
    }
    registry
}

/// The built-in processors that are designed and not there yet. Whoever adds one takes its id out.
const PLANNED: [&str; 2] = ["transcription-processor", "asset-resolver"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_announced() {
        let registry = default_set(AnchorRegistry::system(), MacroRegistry::builtin(), MacroPorts::default());
        let there: Vec<&str> = PLANNED.into_iter().filter(|id| registry.get(id).is_some()).collect();
        assert_eq!(there, [""; 0]);
        assert_eq!(registry.announced().count(), PLANNED.len());
    }
}
