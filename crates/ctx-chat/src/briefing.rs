//! What a model is told beside the preset: its persona, the mode, the tools it may use, the step of a run, data.
//!
//! Instructions become entries of the preset, so that they go through the engine like all others and macros work in
//! them. What users, hosts and files bring becomes messages of the turn, in which macros are data.

use std::fmt;
use std::sync::Arc;

use ctx_types::{Agent, Content, Message, PresetMessage, Role, Source, SourceKind, Text, Trust};
use serde_json::Value;

use crate::tools::{ToolPolicy, ToolRules};

/// In which way a conversation is led.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The user and the model talk.
    #[default]
    Chat,
    /// The model works as the agent.
    Agent,
    /// The model works off the steps of a workflow.
    Run,
}

impl Mode {
    /// Every mode, in the order in which help lists them.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Agent, Self::Run];

    /// Returns the name, as messages and commands spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Agent => "agent",
            Self::Run => "run",
        }
    }

    /// Reads a name; anything else is `None`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    /// The lines that tell the model the mode; older messages may come from another.
    fn banner(self) -> String {
        let name = self.as_str().to_uppercase();
        format!(
            "# Mode: {name}\n\nEarlier messages may come from other modes. Follow the instructions of this one."
        )
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who the model is, as agents with a `persona` describe it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Persona {
    /// The name.
    pub name: Option<Text>,
    /// What it does.
    pub role: Option<Text>,
    /// Where it comes from and what it can do.
    pub identity: Option<Text>,
    /// How it speaks.
    pub communication_style: Option<Text>,
    /// What it holds to.
    pub principles: Vec<Text>,
    /// What is said in place of all that, if anything.
    pub system_prompt: Option<Text>,
}

impl Persona {
    /// Reads the persona of an agent's file: `persona`, `systemPrompt`, `metadata.name`; none if it has neither of
    /// the first two.
    pub fn of(agent: &Agent) -> Option<Self> {
        let persona = agent.kept.get("persona").filter(|persona| persona.is_object());
        let text = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            text.map(Text::from)
        };
        let system_prompt = text(agent.kept.get("systemPrompt"));
        if persona.is_none() && system_prompt.is_none() {
            return None;
        }
        let field = |names: [&str; 2]| names.into_iter().find_map(|name| text(persona?.get(name)));
        let principles = persona.and_then(|persona| persona.get("principles"));
        let named = text(agent.kept.get("metadata").and_then(|metadata| metadata.get("name")));
        Some(Self {
            name: named
                .or_else(|| agent.name.as_deref().map(Text::from))
                .or_else(|| agent.id.as_deref().map(Text::from)),
            role: field(["role", "role"]),
            identity: field(["identity", "identity"]),
            communication_style: field(["communication_style", "communicationStyle"]),
            principles: match principles {
                Some(Value::Array(list)) => list.iter().filter_map(|item| text(Some(item))).collect(),
                single => text(single).into_iter().collect(),
            },
            system_prompt,
        })
    }

    fn section(&self) -> String {
        if let Some(prompt) = &self.system_prompt {
            return prompt.as_str().to_owned();
        }
        let mut lines = vec!["## Agent Persona".to_owned(), String::new()];
        let fields = [
            ("Name", &self.name),
            ("Role", &self.role),
            ("Identity", &self.identity),
            ("Communication style", &self.communication_style),
        ];
        let fields = fields.into_iter().filter_map(|(title, text)| Some((title, text.as_ref()?)));
        lines.extend(fields.map(|(title, text)| format!("**{title}:** {}", text.as_str())));
        if !self.principles.is_empty() {
            lines.extend([String::new(), "**Principles:**".to_owned()]);
            lines.extend(self.principles.iter().map(|text| format!("- {}", text.as_str())));
        }
        lines.join("\n")
    }
}

/// What a model is told of its role, beside the preset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Briefing {
    /// What holds for every agent.
    pub base_rules: Option<Text>,
    /// Which tools it may use; nothing is said where that is all of them.
    pub policy: ToolPolicy,
    /// Who it is; told only where it works as the agent.
    pub persona: Option<Persona>,
    /// The mode.
    pub mode: Mode,
}

impl Briefing {
    /// Returns the agent with the briefing before its own preset.
    ///
    /// Each section is an entry of its own: rules, tools, persona, mode. They are made for each request and never
    /// become part of a conversation.
    #[must_use]
    pub fn apply(&self, agent: &Agent) -> Agent {
        let persona = self.persona.as_ref().filter(|_| self.mode != Mode::Chat);
        let sections = [
            ("briefing-rules", self.base_rules.as_ref().map(|rules| rules.as_str().to_owned())),
            ("briefing-tools", tools(&self.policy)),
            ("briefing-persona", persona.map(Persona::section)),
            ("briefing-mode", Some(self.mode.banner())),
        ];
        let entries = sections.into_iter().filter_map(|(id, text)| Some(entry(id, text?)));
        let mut agent = agent.clone();
        agent.preset_messages.splice(..0, entries);
        agent
    }
}

fn entry(id: &str, text: String) -> PresetMessage {
    PresetMessage {
        id: Some(id.into()),
        role: Some(Role::System),
        content: Some(Content::Text(text.into())),
        ..PresetMessage::default()
    }
}

/// Names which tools may be used, where not all may be.
fn tools(policy: &ToolPolicy) -> Option<String> {
    let mut lines: Vec<String> =
        policy.allowed().iter().map(|rules| format!("- Use only {}.", names(rules, "no tool"))).collect();
    if !policy.denied().is_empty() {
        lines.push(format!("- Never use {}.", names(policy.denied(), "any tool")));
    }
    (!lines.is_empty()).then(|| format!("## Tools\n\n{}", lines.join("\n")))
}

fn names(rules: &ToolRules, none: &str) -> String {
    let quoted = |set: &std::collections::BTreeSet<Arc<str>>| {
        set.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    match (rules.tools.is_empty(), rules.categories.is_empty()) {
        (true, true) => none.to_owned(),
        (false, true) => quoted(&rules.tools),
        (true, false) => format!("tools of {}", quoted(&rules.categories)),
        (false, false) => format!("{} and tools of {}", quoted(&rules.tools), quoted(&rules.categories)),
    }
}

/// Marks what the user says, for agents that tell it from what their host says by that.
///
/// ```
/// assert_eq!(ctx_chat::user_input("Hello").as_str(), "USER_INPUT\nHello");
/// ```
pub fn user_input(text: &str) -> Text {
    format!("USER_INPUT\n{text}").into()
}

/// A message of the host in the user's name, such as a script to carry out; sent with the turn and not stored.
pub fn extra_message(text: impl Into<Text>) -> Message {
    Message::new(Role::User, text, Source::new(SourceKind::Plugin, Trust::User).with_id("extra"))
}

/// Data that come with the turn: what they are called, where they are, how they begin.
pub fn data_context(label: &str, path: &str, preview: &str) -> Message {
    let text = format!("DATA_CONTEXT\n- Label: {label}\n- Path: {path}\n\n{preview}");
    Message::new(Role::User, text, Source::new(SourceKind::File, Trust::File).with_id(path))
}

/// The messages of a run's turn: what to do in general, and in this step. After the last step there is none.
pub fn run_directive(directive: &str, step: Option<&str>) -> Vec<Message> {
    let block = |id: &str, title: &str, text: &str| {
        let source = Source::new(SourceKind::Plugin, Trust::Preset).with_id(id);
        Message::new(Role::User, format!("{title}\n{text}"), source)
    };
    let directive = block("run-directive", "RUN_DIRECTIVE", directive);
    let step =
        step.filter(|step| !step.trim().is_empty()).map(|step| block("node-brief", "NODE_BRIEF", step));
    std::iter::once(directive).chain(step).collect()
}
