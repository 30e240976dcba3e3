use ctx_types::{RegexRule, Role};

/// Reason for which rules run on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The text is stored for the first time.
    Store,
    /// The user edited a stored text.
    Edit,
    /// The text is displayed.
    Render,
    /// The text is sent to the model.
    Request,
}

/// Kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A message of a role; `developer` is treated as `system`.
    Message(Role),
    /// Content of a worldbook entry.
    Worldbook,
    /// Visible reasoning of a model.
    Reasoning,
}

/// Properties of a text that rules match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Reason for the run.
    pub stage: Stage,
    /// Kind of the text.
    pub target: Target,
    /// Depth in the conversation; 0 is the newest message. `None` matches every depth range.
    pub depth: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    stages: u8,
    targets: u8,
    min: i64,
    max: i64,
}

const DEFAULT_ROLES: [Role; 3] = [Role::System, Role::User, Role::Assistant];

impl Scope {
    /// `unknown` gets the field, the position, and the name of each unknown target.
    pub(super) fn read(rule: &RegexRule, unknown: &mut dyn FnMut(&str, usize, &str)) -> Self {
        let mut targets = 0;
        if rule.target_roles.is_empty() && rule.kept.get("targetRoles").is_none() {
            targets = DEFAULT_ROLES.into_iter().fold(0, |bits, role| bits | Target::Message(role).bit());
        }
        for (at, role) in rule.target_roles.iter().enumerate() {
            match Role::parse(role) {
                Some(role) => targets |= Target::Message(role).bit(),
                None => unknown("/targetRoles", at, role),
            }
        }
        for (at, text) in rule.target_texts.iter().enumerate() {
            match &**text {
                "worldbook" => targets |= Target::Worldbook.bit(),
                "reasoning" => targets |= Target::Reasoning.bit(),
                _ => unknown("/targetTexts", at, text),
            }
        }
        let depths = rule.depth_range.as_ref();
        Self {
            stages: stages(rule),
            targets,
            min: depths.and_then(|depths| depths.min).unwrap_or(0),
            max: depths.and_then(|depths| depths.max).unwrap_or(i64::MAX),
        }
    }

    pub(super) fn settled_depth(self) -> usize {
        if self.stages & Stage::Request.bit() == 0 {
            return 0;
        }
        let beyond = if self.max == i64::MAX { 0 } else { self.max.saturating_add(1) };
        usize::try_from(self.min.max(beyond)).unwrap_or(0)
    }

    pub(super) fn applies_to(self, subject: Subject) -> bool {
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
