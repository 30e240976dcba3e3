//! Which texts a rule changes.

use std::sync::Arc;

use ctx_types::{RegexRule, Role};

/// For what a text is made when rules run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// It is stored in the conversation for the first time.
    Store,
    /// It is stored anew because a person edited it.
    Edit,
    /// It is shown.
    Render,
    /// It is sent to the model.
    Request,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The text of a message, by who speaks it; `developer` counts as `system`.
    Message(Role),
    /// The content of a worldbook entry.
    Worldbook,
    /// The visible reasoning of a model.
    Reasoning,
}

/// A text, as rules see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// For what it is made.
    pub stage: Stage,
    /// What it is.
    pub target: Target,
    /// How deep in the conversation it stands, the newest message being 0; rules with a range of depths change
    /// any text that has none.
    pub depth: Option<usize>,
}

/// What a rule changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// A bit for each stage and target.
    stages: u8,
    targets: u8,
    min: i64,
    max: i64,
}

/// The roles of a rule that names none.
const DEFAULT_ROLES: [Role; 3] = [Role::System, Role::User, Role::Assistant];

/// What a rule is meant for and is not understood: the list and the place in it.
pub(super) struct UnknownTarget {
    pub(super) field: &'static str,
    pub(super) at: usize,
    pub(super) name: Arc<str>,
}

impl Scope {
    /// Reads what a rule changes, and what of it is not understood.
    pub(super) fn read(rule: &RegexRule) -> (Self, Vec<UnknownTarget>) {
        let mut unknown = Vec::new();
        let mut targets = 0;
        if rule.target_roles.is_empty() && rule.kept.get("targetRoles").is_none() {
            targets = DEFAULT_ROLES.into_iter().fold(0, |bits, role| bits | Target::Message(role).bit());
        }
        for (at, role) in rule.target_roles.iter().enumerate() {
            match Role::parse(role) {
                Some(role) => targets |= Target::Message(role).bit(),
                None => unknown.push(UnknownTarget { field: "targetRoles", at, name: role.clone() }),
            }
        }
        for (at, text) in rule.target_texts.iter().enumerate() {
            match &**text {
                "worldbook" => targets |= Target::Worldbook.bit(),
                "reasoning" => targets |= Target::Reasoning.bit(),
                _ => unknown.push(UnknownTarget { field: "targetTexts", at, name: text.clone() }),
            }
        }
        let depths = rule.depth_range.as_ref();
        let scope = Self {
            stages: stages(rule),
            targets,
            min: depths.and_then(|depths| depths.min).unwrap_or(0),
            max: depths.and_then(|depths| depths.max).unwrap_or(i64::MAX),
        };
        (scope, unknown)
    }

    /// Returns the depth from which on a text of a request gets no other answer when it moves deeper.
    pub(super) fn settled_depth(self) -> usize {
        if self.stages & Stage::Request.bit() == 0 {
            return 0;
        }
        let beyond = if self.max == i64::MAX { 0 } else { self.max.saturating_add(1) };
        usize::try_from(self.min.max(beyond)).unwrap_or(0)
    }

    pub(super) fn admits(self, subject: Subject) -> bool {
        let is_deep_enough = subject.depth.is_none_or(|depth| {
            let depth = i64::try_from(depth).unwrap_or(i64::MAX);
            self.min <= depth && depth <= self.max
        });
        is_deep_enough && self.targets & subject.target.bit() != 0 && self.stages & subject.stage.bit() != 0
    }
}

impl Stage {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl Target {
    const fn bit(self) -> u8 {
        match self {
            Self::Message(Role::User) => 1 << 1,
            Self::Message(Role::Assistant) => 1 << 2,
            Self::Message(Role::Tool) => 1 << 3,
            Self::Message(_) => 1,
            Self::Worldbook => 1 << 4,
            Self::Reasoning => 1 << 5,
        }
    }
}

fn stages(rule: &RegexRule) -> u8 {
    let Some(stages) = &rule.apply_to else { return Stage::Render.bit() | Stage::Request.bit() };
    let bit = |flag: Option<bool>, stage: Stage| if flag.unwrap_or(false) { stage.bit() } else { 0 };
    let edits = if rule.run_on_edit == Some(true) { stages.store } else { None };
    bit(stages.store, Stage::Store)
        | bit(edits, Stage::Edit)
        | bit(stages.render, Stage::Render)
        | bit(stages.request, Stage::Request)
}
