use std::sync::Arc;

use ctx_macros::{
    CardTexts, Conversation, Dialect, Env, MacroPorts, ModelValues, Registry, SpokenText, State, Template,
    codes,
    internal::{AgentAssets, VirtualTime, read_instant},
};
use ctx_pipeline::PipelineContext;
use ctx_types::internal::{Argument, Divider, excerpt, nearest};
use ctx_types::ports::{ToolCatalog, ToolDefinition};
use ctx_types::session::{Node, Session};
use ctx_types::{
    Agent, Character, Content, Diagnostic, Fix, Role, Source, Text, Trust, TurnInput, UserProfile, phrase,
};
use serde_json::Value;

use crate::card_expansion::{compile_card, expand_card};
use crate::window::InstructingInput;
use crate::worldbooks::Outlets;

/// Limit for searches in the conversation.
const LOOK_BACK: usize = 1_024;

/// The application's macros.
#[derive(Clone, Debug)]
pub struct MacroParts {
    /// Macros available to texts.
    pub registry: Registry,
    /// Application data available to macros.
    pub ports: MacroPorts,
}

/// The built-in macros without application data.
impl Default for MacroParts {
    fn default() -> Self {
        Self { registry: Registry::builtin(), ports: MacroPorts::default() }
    }
}

/// The macros of an agent, with the values of its card, computed once.
#[derive(Clone, Debug)]
pub struct AgentMacros {
    env: Env,
    /// For macro syntaxes that expand card texts before use.
    card: Option<Arc<[Option<Template>]>>,
    /// Macro syntax of the agent.
    pub dialect: Dialect,
    /// Macros available to texts.
    pub registry: Registry,
}

impl AgentMacros {
    /// Reads the agent's macro syntax and values. Reports invalid ones.
    pub fn new(agent: &Agent, parts: &MacroParts, report: &mut dyn FnMut(Diagnostic)) -> Self {
        let (dialect, unknown) = macro_dialect(agent);
        unknown.into_iter().for_each(&mut *report);
        let character = &agent.character.clone().unwrap_or_default();
        let nickname = character.nickname.as_deref().filter(|nickname| !nickname.trim().is_empty());
        let env = Env {
            char: nickname.or(agent.name.as_deref()).map(Text::from),
            description: character.description.clone().or_else(|| agent.description.clone()),
            personality: character.personality.clone(),
            scenario: character.scenario.clone(),
            card: card(agent, character),
            assets: AgentAssets::read(agent.assets.as_ref(), agent.kept.get("assetGroups")),
            virtual_time: virtual_time(agent, report),
            model: ModelValues { id: agent.model_id.as_deref().map(Text::from), ..ModelValues::default() },
            ports: parts.ports.clone(),
            ..Env::default()
        };
        let registry = parts.registry.clone();
        let card = dialect.expands_card_texts().then(|| compile_card(&env, dialect, &registry).into());
        Self { env, card, dialect, registry }
    }

    /// Compiles a text.
    pub fn parse(&self, text: &Text) -> Template {
        Template::parse(text, self.dialect, &self.registry)
    }

    /// Adds the values of the user profile, the conversation, and the turn. O(1) for most conversations.
    pub fn turn_env(&self, profile: Option<&UserProfile>, session: &Session, turn: &TurnInput) -> Env {
        self.input_env(profile, session, turn, turn.input.clone())
    }

    fn input_env(
        &self,
        profile: Option<&UserProfile>,
        session: &Session,
        turn: &TurnInput,
        pending: Option<Text>,
    ) -> Env {
        let mut env = Env {
            user: profile
                .and_then(|profile| profile.name.as_deref())
                .or_else(|| user_name(session))
                .map(Text::from),
            persona: profile.and_then(|profile| profile.content.clone()),
            model: ModelValues {
                id: turn.model.as_deref().map(Text::from).or_else(|| self.env.model.id.clone()),
                name: turn.model_name.as_deref().map(Text::from),
                provider: turn.provider.as_deref().map(Text::from),
                profile_id: turn.profile_id.as_deref().map(Text::from),
                profile_name: turn.profile.as_deref().map(Text::from),
                ..ModelValues::default()
            },
            input: turn.input.clone(),
            generation: Some(Arc::from(turn.kind.as_str())),
            conversation: conversation(session, turn, pending),
            at_millis: turn.at_millis,
            zone: turn.zone.clone(),
            seed: turn.seed,
            ..self.env.clone()
        };
        if env.ports.tools.is_none() && !turn.tools.is_empty() {
            env.ports.tools = Some(Arc::new(TurnTools(turn.tools.clone())));
        }
        env
    }

    /// Adds the values of a pipeline run: those of the turn, and the token limits of request and response.
    ///
    /// Macros in card texts set their variables in `state`. An input that is an instruction is not a message.
    pub(crate) fn run_env(&self, cx: &PipelineContext<'_>, state: &mut State) -> Env {
        let inputs = &cx.inputs;
        let is_said = cx.blackboard.get::<InstructingInput>().is_none();
        let pending = inputs.turn.input.clone().filter(|_| is_said);
        let mut env = self.input_env(inputs.profile, inputs.session, inputs.turn, pending);
        env.model.context_tokens = inputs.budget.window().map(u64::from);
        env.model.response_tokens = Some(u64::from(inputs.budget.reserve()));
        if let Some(card) = &self.card {
            expand_card(card, self.dialect, &self.registry, &mut env, state);
        }
        env.outlets = Outlets::texts(cx.blackboard);
        env
    }

    /// Returns the values of a run and a copy of its variables, which macros in card texts do not change.
    pub(crate) fn start(&self, cx: &mut PipelineContext<'_>) -> (Env, State) {
        let state = cx.draft.macros_mut().clone();
        (self.run_env(cx, &mut state.clone()), state)
    }
}

/// Returns the macro syntax of an agent. For an unknown or removed syntax, returns the replacement and a
/// diagnostic.
pub fn macro_dialect(agent: &Agent) -> (Dialect, Option<Diagnostic>) {
    let Some(name) = agent.dialect.as_deref() else { return (Dialect::default(), None) };
    if let Some(dialect) = Dialect::parse(name) {
        return (dialect, None);
    }
    if let Some(used) = Dialect::replacing(name) {
        let message = phrase!(
            "macro syntax `{name}` was removed; `{used}` is used",
            name = excerpt(name),
            used = used.as_str()
        );
        let removed = Diagnostic::warning(crate::codes::UNKNOWN_DIALECT, message).at_pointer("/dialect");
        let help =
            phrase!("write `dialect: {used}`; macros are expanded from left to right", used = used.as_str());
        return (used, Some(removed.with_help(help)));
    }
    let used = Dialect::default();
    let message = phrase!(
        "unknown macro syntax `{name}`; `{used}` is used",
        name = excerpt(name),
        used = used.as_str()
    );
    let unknown = Diagnostic::warning(crate::codes::UNKNOWN_DIALECT, message).at_pointer("/dialect");
    let known: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::as_str).collect();
    let near = nearest(name, known.iter().copied());
    let unknown = unknown.with_guess_or(near, Fix::text, || {
        phrase!("use one of {known}", known = Argument::names(&known, Divider::Comma))
    });
    (used, Some(unknown))
}

fn card(agent: &Agent, character: &Character) -> CardTexts {
    let mut greetings =
        agent.greetings.iter().filter_map(|greeting| greeting.content.as_ref()).map(whole_text);
    let prompt = character.depth_prompt.as_ref().and_then(|note| note.get("prompt"));
    CardTexts {
        first_message: greetings.next(),
        greetings: greetings.collect(),
        examples: character.examples.clone(),
        system_prompt: character.system_prompt.clone(),
        post_history: character.post_history.clone(),
        depth_prompt: prompt.and_then(Value::as_str).map(Text::from),
        creator_notes: character.creator_notes.clone(),
        version: agent.agent_version.as_deref().or(character.version.as_deref()).map(Text::from),
        visual_guideline: agent.kept.get("visualGuideline").and_then(Value::as_str).map(Text::from),
    }
}

fn virtual_time(agent: &Agent, report: &mut dyn FnMut(Diagnostic)) -> Option<VirtualTime> {
    let config = agent.virtual_time_config.as_ref().filter(|config| !config.is_null())?;
    match VirtualTime::read(config) {
        Ok(clock) => Some(clock),
        Err(problem) => {
            let message = phrase!("invalid clock of the agent: {problem}; the real time is used", problem);
            let finding = Diagnostic::warning(codes::BAD_VIRTUAL_TIME, message);
            report(finding.at_pointer("/virtualTimeConfig").with_help(
                phrase!("write `virtualBaseTime` and `realBaseTime` like `2025-11-07T22:30:00`, and `timeScale` as a number"),
            ));
            None
        }
    }
}

/// User name in the header of a `SillyTavern` chat. Newer versions write `unused`.
fn user_name(session: &Session) -> Option<&str> {
    let name = session.header.kept.get("user_name")?.as_str()?;
    Some(name).filter(|name| !name.trim().is_empty() && *name != "unused")
}

/// The pending input is the newest message. Unfinished replies are ignored.
fn conversation(session: &Session, turn: &TurnInput, pending: Option<Text>) -> Conversation {
    let pending = pending.filter(|input| !input.trim().is_empty());
    let pending = pending.map(|text| SpokenText { text, trust: Trust::User });
    let mut found = Conversation {
        id: session.header.id.clone(),
        length: session.sent_len() + usize::from(pending.is_some()),
        last_user: pending.clone(),
        last: pending,
        ..Conversation::default()
    };
    let mut idle_since = None;
    let newest = (0..session.sent_len()).rev().take(LOOK_BACK);
    let messages = newest.filter_map(|at| session.sent_node(at)).map(|(_, node)| node);
    for node in messages.filter(|node| node.status.as_deref() != Some("generating") && !node.is_summary()) {
        let Some((role, said)) = spoken_text(node) else { continue };
        if role == Role::User && found.last.is_some() && idle_since.is_none() {
            idle_since = Some(node.timestamp.clone());
        }
        if found.last.is_none() {
            (found.swipes, found.current_swipe) = versions(session, node);
        }
        found.last.get_or_insert_with(|| said.clone());
        match role {
            Role::User => found.last_user.get_or_insert(said),
            _ => found.last_agent.get_or_insert(said),
        };
        if found.last_user.is_some() && found.last_agent.is_some() && idle_since.is_some() {
            break;
        }
    }
    let zone = turn.zone.as_deref();
    found.user_idle_since = idle_since.flatten().and_then(|time| read_instant(&time, zone).ok());
    found
}

/// Number of versions of a reply and position of this one, from 1. SillyTavern stores them in `swipes`.
fn versions(session: &Session, node: &Node) -> (Option<usize>, Option<usize>) {
    if let Some(swipes) =
        node.kept.get("swipes").and_then(Value::as_array).filter(|swipes| !swipes.is_empty())
    {
        let swipe = node.kept.get("swipe_id").and_then(Value::as_u64);
        let place = swipe.and_then(|swipe| usize::try_from(swipe).ok()).filter(|place| *place < swipes.len());
        return (Some(swipes.len()), place.map(|place| place + 1));
    }
    let parent = node.parent_id.as_ref().and_then(|id| session.node(id));
    let Some(parent) = parent.filter(|_| node.role == Some(Role::Assistant)) else { return (None, None) };
    let siblings = parent.children_ids.iter().take(LOOK_BACK).filter_map(|id| session.node(id));
    let answers: Vec<&Node> = siblings.filter(|node| node.role == Some(Role::Assistant)).collect();
    let place = answers.iter().position(|answer| std::ptr::eq(*answer, node));
    (Some(answers.len()), place.map(|place| place + 1))
}

/// Returns `None` for tools, instructions, and messages without text.
fn spoken_text(node: &Node) -> Option<(Role, SpokenText)> {
    let role = node.role.unwrap_or_default();
    let content = node.content.as_ref().filter(|content| !content.is_blank())?;
    matches!(role, Role::User | Role::Assistant)
        .then(|| (role, SpokenText { text: whole_text(content), trust: Source::history("", role).trust }))
}

fn whole_text(content: &Content) -> Text {
    match content {
        Content::Text(text) => text.clone(),
        Content::Parts(_) => Text::from(&*content.text()),
    }
}

/// Values and variables for one expansion.
pub(crate) struct MacroContext<'a> {
    pub(crate) env: &'a Env,
    pub(crate) state: &'a mut State,
}

struct TurnTools(Vec<ToolDefinition>);

impl ToolCatalog for TurnTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        self.0.clone()
    }
}
