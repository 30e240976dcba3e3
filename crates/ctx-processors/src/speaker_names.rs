use std::sync::Arc;

use async_trait::async_trait;
use ctx_macros::MacroPorts;
use ctx_pipeline::{
    Config, ConfigField, ContextProcessor, Descriptor, PipelineContext, PrepareContext, PreparedData,
    ProcessorError,
};
use ctx_types::{Agent, Message, Place, Role, Source, SourceKind, Span, Text, Trust};

use crate::macro_values::MacroValues;
use crate::rewrite::{Edit, rewrite};
use crate::window::is_after_conversation;

/// Removes speaker names, or sends them in the field `name` or as a text prefix.
///
/// Messages without a name get the name of the user or the agent. Instructions and tool results never have a
/// name. In the field, a name has up to 64 ASCII letters, digits, and `_`, as providers require.
#[derive(Clone, Debug)]
pub struct SpeakerNames {
    ports: MacroPorts,
}

impl SpeakerNames {
    /// Creates the processor with the application's macro ports.
    pub fn new(ports: MacroPorts) -> Self {
        Self { ports }
    }
}

const MODES: [(&str, &str); 3] =
    [("none", "Do not send"), ("field", "In the `name` field"), ("prefix", "As a prefix with a colon")];

const LONGEST_NAME: usize = 64;

#[async_trait]
impl ContextProcessor for SpeakerNames {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("speaker-names", "Speaker names", "Sends or removes speaker names").with(
            |descriptor| {
                descriptor.priority = 305;
                descriptor.default_enabled = false;
                descriptor.config_fields = vec![ConfigField::select("mode", "Speaker names", &MODES)];
            },
        )
    }

    fn prepare(&self, agent: &Agent, _config: &Config, _cx: &mut PrepareContext) -> PreparedData {
        PreparedData::new(MacroValues::from_agent(agent, self.ports.clone(), &mut |_| {}))
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let Some(values) = cx.prepared.get::<MacroValues>() else {
            return Err(ProcessorError::failed("the names were not prepared"));
        };
        let env = values.turn_env(cx.inputs.profile, cx.inputs.session, cx.inputs.turn);
        let mode = cx.config.text("mode").to_owned();
        let is_said = |message: &Message| {
            let is_there = message.place == Place::History || is_after_conversation(message);
            is_there && matches!(message.role, Role::User | Role::Assistant)
        };
        let messages = cx.draft.messages_mut();
        for message in messages.iter_mut().filter(|message| message.source.kind.is_history()) {
            let own = message.name.clone();
            let of_role = match message.role {
                Role::User => env.user.as_deref().map(Arc::from),
                Role::Assistant => env.char.as_deref().map(Arc::from),
                _ => None,
            };
            let name = own.clone().or(of_role).filter(|_| is_said(message));
            match (&*mode, name) {
                ("field", name) => message.name = name.map(|name| plain(&name)),
                ("prefix", Some(name)) => prefix(message, &name),
                _ if own.is_some() => message.name = None,
                _ => {}
            }
        }
        Ok(())
    }
}

fn plain(name: &str) -> Arc<str> {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    name.chars().take(LONGEST_NAME).map(letter).collect::<String>().into()
}

fn prefix(message: &mut Message, name: &str) {
    let mut is_first = true;
    let source = Source::new(SourceKind::Formatter, Trust::Preset).with_id("speaker-names");
    let edits = |_: &str| {
        let edit = Edit { span: Span::new(0, 0), text: format!("{name}: "), source: source.clone() };
        if std::mem::take(&mut is_first) { vec![edit] } else { Vec::new() }
    };
    rewrite(message, edits, |text: Text| text);
    message.name = None;
    if message.is_silent {
        message.is_silent = false;
    }
}
