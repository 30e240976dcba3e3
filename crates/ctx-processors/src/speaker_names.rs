use std::sync::Arc;

use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::{Message, Place, Role, Source, SourceKind, Span, Trust};

use serde_json::Value;

use crate::macro_values::{AgentMacros, MacroParts};
use crate::rewrite::{Edit, rewrite};
use crate::window::is_after_conversation;

/// Removes speaker names, or sends them in the field `name` or as a text prefix.
///
/// Messages without a name get the name of the user or the agent. Tool results never have a name, system
/// messages only their own, in the field. In the field, a name has up to 64 ASCII letters, digits, and `_`, as
/// providers require. With `whiteSpace: send`, texts of the conversation lose carriage returns, and only empty
/// messages are not sent, as in `SillyTavern`.
#[derive(Clone, Debug)]
pub(crate) struct SpeakerNames(pub(crate) MacroParts);

#[derive(Debug)]
pub(crate) struct CompiledNames {
    macros: AgentMacros,
    settings: NameSettings,
}

settings! {
    pub(crate) NameSettings {
        mode: Mode = ConfigField::select("mode", "Speaker names", Mode::OPTIONS),
        sends_white_space: bool = ConfigField::select("whiteSpace", "Blank messages", &[
            ("leave_out", "Skip"),
            ("send", "Send without carriage returns; skip only empty messages"),
        ]),
    }
}

choices! {
    Mode {
        None = ("none", "Do not send"),
        Field = ("field", "In the `name` field"),
        Prefix = ("prefix", "As a prefix with a colon"),
        Forced = ("forced", "As a prefix, for other speakers (`force_avatar`)"),
    }
}

const LONGEST_NAME: usize = 64;

impl TypedProcessor for SpeakerNames {
    type Prepared = CompiledNames;

    describe!(305, "speaker-names", "Speaker names", "Sends or removes speaker names", optional);

    fn prepare(&self, input: &mut PrepareInput<'_>) -> CompiledNames {
        CompiledNames {
            macros: AgentMacros::new(input.agent, &self.0, &mut |_| ()),
            settings: NameSettings::read(&mut input.settings),
        }
    }

    async fn run(&self, compiled: &CompiledNames, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let CompiledNames { macros, settings: NameSettings { mode, sends_white_space } } = compiled;
        let env = macros.turn_env(cx.inputs.profile, cx.inputs.session, cx.inputs.turn);
        let session = cx.inputs.session;
        let is_said = |message: &Message| {
            let is_there = message.place == Place::History || is_after_conversation(message);
            is_there && message.role != Role::Tool
        };
        let is_forced = |message: &Message, name: &str| {
            let node = message.source.id.as_deref().and_then(|id| session.node(id));
            let avatar = node.and_then(|node| node.kept.get(FORCE_AVATAR));
            let is_set = avatar.is_some_and(|avatar| !matches!(avatar, Value::Null | Value::Bool(false)));
            let is_other = env.user.as_deref().map_or(message.role != Role::User, |user| user != name);
            is_set && avatar != Some(&Value::from("")) && is_other
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
            let is_instruction = message.role.is_instruction();
            match (mode, name) {
                (Mode::Field, name) => message.name = name.map(|name| plain(&name)),
                (Mode::Prefix, Some(name)) if !is_instruction => prefix(message, &name),
                (Mode::Forced, Some(name)) if !is_instruction && is_forced(message, &name) => {
                    prefix(message, &name);
                }
                _ if own.is_some() => message.name = None,
                _ => {}
            }
            if *sends_white_space && is_said(message) {
                remove_carriage_returns(message);
                let is_sent_last = is_after_conversation(message);
                message.is_silent = message.is_blank() && message.content.is_empty() && !is_sent_last;
            }
        }
        Ok(())
    }
}

/// `SillyTavern` sets it in messages of `/sendas`.
const FORCE_AVATAR: &str = "force_avatar";

fn remove_carriage_returns(message: &mut Message) {
    if !message.text().contains('\r') {
        return;
    }
    let source = Source::new(SourceKind::Formatter, Trust::Preset).with_id("speaker-names");
    let edits = |text: &str| {
        let places = text.match_indices('\r');
        places
            .map(|(at, _)| Edit { span: Span::new(at, at + 1), text: String::new(), source: source.clone() })
            .collect()
    };
    rewrite(message, edits);
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
    rewrite(message, edits);
    message.name = None;
    if message.is_silent {
        message.is_silent = false;
    }
}
