use std::sync::Arc;
use std::time::Duration;

use ctx_anchors::AnchorRegistry;
use ctx_macros::{MacroPorts, Registry as MacroRegistry};
use ctx_pipeline::{ContextProcessor, ProcessorRegistry, RegistryError};
use ctx_processors::{MacroParts, default_set};
use ctx_tokens::ModelTable;
use ctx_types::internal::TextCache;
use ctx_types::worldbook::LoadedWorldbook;
use ctx_types::{Agent, Diagnostic, UserProfile};
use serde_json::Value;

use crate::compiled_agent::CompiledAgent;
use crate::inspect::cache_lint;
use crate::inspect::moving_text::find_moving_text;
use crate::inspect::sample_turns::sample_pairs;
use crate::switches::Switches;

/// Anchors, macros, processors, and models that an application's agents share. `Send + Sync`.
///
/// ```
/// use ctx_engine::{Compile, Engine};
/// use ctx_types::{Agent, Persist, Reader, TurnInput};
/// use ctx_types::session::Session;
///
/// let file = serde_json::json!({ "name": "Ada", "presetMessages": [
///     { "role": "system", "content": "You are {{char}}." },
///     { "type": "chat_history" },
/// ] });
/// let agent = Agent::read(file, &mut Reader::new());
/// let compiled = Engine::new().compile(&agent, &Compile::default());
/// let turn = TurnInput::new("Hello");
/// let context = compiled.assemble_blocking(&Session::new("s1"), &turn)?;
/// let texts: Vec<_> = context.messages.iter().map(|message| message.text()).collect();
/// assert_eq!(texts, ["You are Ada.", "Hello"]);
/// # Ok::<(), ctx_engine::AssembleError>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    /// Anchors available to presets.
    pub anchors: AnchorRegistry,
    /// Macros available to texts.
    pub macros: MacroRegistry,
    /// Application data available to macros: system facts, tools.
    pub macro_ports: MacroPorts,
    /// Facts about models.
    pub models: Arc<ModelTable>,
    plugins: Vec<Arc<dyn ContextProcessor>>,
}

/// Inputs for compiling an agent.
///
/// ```
/// use ctx_engine::{Compile, Switches};
///
/// let off = Switches { disable: vec!["token-limiter".into()], ..Switches::default() };
/// let with = Compile::default().with(|compile| compile.switches = off);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Compile {
    /// The user profile.
    pub profile: Option<UserProfile>,
    /// Available worldbooks, which the agent, user profile, settings, and conversations select by id or name.
    pub worldbooks: Vec<LoadedWorldbook>,
    /// The user's settings: an object with `processors`, like `parameters` of an agent.
    pub user_parameters: Option<Value>,
    /// The model's settings: an object with `processors`, like `parameters` of an agent.
    pub model_parameters: Option<Value>,
    /// Processors to enable or disable by id.
    pub switches: Switches,
    /// Time limit of each processor; `None` is unlimited.
    ///
    /// Needs a clock: [`Ports::deadline`](crate::Ports::deadline). A late processor changes nothing; if it is
    /// core, the assembly fails.
    pub time_limit: Option<Duration>,
    /// Token counts shared by compiled agents; by default not shared.
    pub texts: Option<Arc<TextCache>>,
}

impl Compile {
    /// Returns the inputs after `set` changed them.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

impl Engine {
    /// Creates an engine with the built-in anchors, macros, processors and models.
    pub fn new() -> Self {
        Self {
            anchors: AnchorRegistry::system(),
            macros: MacroRegistry::builtin(),
            macro_ports: MacroPorts::default(),
            models: Arc::new(ModelTable::builtin()),
            plugins: Vec::new(),
        }
    }

    /// Adds a processor to the built-in ones.
    pub fn register(&mut self, processor: Arc<dyn ContextProcessor>) -> Result<(), RegistryError> {
        self.processors().register(processor.clone())?;
        self.plugins.push(processor);
        Ok(())
    }

    /// Returns the processors: built-in ones, then plug-ins in order of registration.
    pub fn processors(&self) -> ProcessorRegistry {
        let mut registry = default_set(self.anchors.clone(), self.macro_parts());
        for plugin in &self.plugins {
            let registered = registry.register(plugin.clone());
            debug_assert!(registered.is_ok(), "`register` refuses ids that exist");
        }
        registry
    }

    pub(crate) fn macro_parts(&self) -> MacroParts {
        MacroParts { registry: self.macros.clone(), ports: self.macro_ports.clone() }
    }

    /// Compiles an agent for any number of turns, and reports all its problems.
    ///
    /// Diagnostics have JSON pointers into the agent's unified form. O(size of the preset).
    pub fn compile(&self, agent: &Agent, with: &Compile) -> CompiledAgent {
        CompiledAgent::new(self, agent, with)
    }

    /// Finds text that prevents use of the provider's prompt cache. Empty for append-only agents.
    ///
    /// Assembles up to 10 requests of a sample conversation. Reports macros that change every turn, variables set
    /// from them, session variables, card texts that are templates, and constant worldbook entries (with the
    /// worldbook as document), with an estimate of the tokens below. If the agent does not set `prefix`, also
    /// reports all text that moves or changes, with an estimate of the tokens that are billed again.
    pub fn cache_breakers(&self, compiled: &CompiledAgent) -> Vec<Diagnostic> {
        let pairs = sample_pairs(compiled);
        // An append-only context repeats the first values.
        if pairs.iter().any(|pair| pair.first.report.prefix.is_some()) {
            return Vec::new();
        }
        let is_unset = compiled.agent().prefix.is_none();
        let moving = is_unset.then(|| find_moving_text(&pairs)).flatten();
        moving.into_iter().chain(cache_lint::find_breakers(compiled, &pairs)).collect()
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

ctx_types::opaque!(Engine);
