//! Plans and failures as JSON.

use ctx_types::ports::PortErrorKind;
use ctx_types::session::NodeId;
use serde_json::{Value, json};

use crate::mask::accept::SummaryFault;
use crate::mask::ask::SummaryFailure;
use crate::mask::commit::StaleMask;
use crate::mask::plan::{MaskPlan, MaskTarget, SummaryTask};
use crate::mask::range::NoRange;

impl MaskPlan {
    /// Returns the plan as JSON, without texts.
    ///
    /// ```
    /// use ctx_compress::mask::{MaskConfig, MaskPlan, MaskSelection};
    /// use ctx_tokens::Counter;
    /// use ctx_types::Role;
    /// use ctx_types::session::{Node, Session};
    ///
    /// let nodes = (0..30).map(|n| Node::new(if n % 2 == 0 { Role::User } else { Role::Assistant }, "hello"));
    /// let (session, _) = Session::linear("s1", nodes);
    /// let plan = MaskPlan::new(&session, &MaskConfig::default(), &MaskSelection::Oldest, &Counter::estimate())?;
    /// let json = plan.to_json();
    /// assert_eq!((&json["after"], &json["replacedTokens"]), (&"n20".into(), &100.into()));
    /// # Ok::<(), ctx_compress::mask::NoRange>(())
    /// ```
    pub fn to_json(&self) -> Value {
        let ids = |ids: &[NodeId]| ids.iter().map(|id| Value::from(&**id)).collect::<Value>();
        json!({
            "target": match &self.target {
                MaskTarget::New => Value::Null,
                MaskTarget::Existing(id) => json!(id),
            },
            "messages": ids(&self.range.messages),
            "covered": ids(&self.range.covered),
            "previous": ids(&self.range.previous),
            "after": self.range.after,
            "task": self.task.as_str(),
            "profile": self.kind.as_str(),
            "language": self.language.as_str(),
            "replacedTokens": self.replaced_tokens,
            "originalTokens": self.original_tokens,
            "originalMessages": self.original_messages,
            "hidesReasoning": self.hides_reasoning,
        })
    }
}

impl SummaryTask {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Append => "append",
            Self::Merge => "merge",
            Self::Parts => "parts",
        }
    }
}

impl SummaryFailure {
    /// Returns the name used in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Port { kind, .. } => port(*kind),
            Self::TimedOut { .. } => "timedOut",
            Self::Stopped => "cancelled",
            Self::Panicked => "panicked",
            Self::Unusable(fault) | Self::NoExtract(fault) => fault.as_str(),
            Self::WindowTooSmall { .. } => "windowTooSmall",
            Self::TooManyParts { .. } => "tooManyParts",
            Self::NoSummarizer => "noSummarizer",
        }
    }
}

const fn port(kind: PortErrorKind) -> &'static str {
    match kind {
        PortErrorKind::NotFound => "notFound",
        PortErrorKind::TooLarge => "tooLarge",
        PortErrorKind::Unsupported => "unsupported",
        PortErrorKind::Invalid => "invalid",
        PortErrorKind::Denied => "denied",
        PortErrorKind::Unavailable => "unavailable",
        PortErrorKind::TimedOut => "timedOut",
        PortErrorKind::Cancelled => "cancelled",
        _ => "failed",
    }
}

impl SummaryFault {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blank => "empty",
            Self::ToolCall => "toolCall",
            Self::CutOff => "cutOff",
            Self::Refused => "refused",
            Self::TooLong { .. } => "tooLong",
        }
    }
}

impl StaleMask {
    /// Returns the name used in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Gone(_) => "gone",
            Self::OffPath(_) => "offPath",
            Self::Hidden(_) => "hidden",
            Self::Changed => "changed",
        }
    }
}

impl NoRange {
    /// Returns the name used in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Protected { .. } => "protected",
            Self::NoneWanted => "noneWanted",
            Self::UnknownNode(_) => "unknownNode",
            Self::OffPath(_) => "offPath",
            Self::Reversed { .. } => "reversed",
            Self::NothingBetween => "nothingBetween",
            Self::NoSummaries => "noSummaries",
            Self::NoSummary(_) => "noSummary",
            Self::NothingListed(_) => "nothingListed",
        }
    }

    /// Returns whether the selection is invalid; otherwise there is nothing to do.
    pub const fn is_misuse(&self) -> bool {
        !matches!(self, Self::Protected { .. } | Self::NoneWanted | Self::NothingBetween | Self::NoSummaries)
    }
}
