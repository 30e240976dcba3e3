//! Which processors run: the switches of the command line and of applications.

use ctx_types::{Diagnostic, closest};

use crate::codes;

/// Processors that a run switches on or off by id, over everything that files say.
///
/// An id that does not exist is a diagnostic. Where both lists name an id, `disable` wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// The ids to switch on.
    pub enable: Vec<String>,
    /// The ids to switch off.
    pub disable: Vec<String>,
}

/// The processor that reads the conversation.
pub(crate) const SESSION_LOADER: &str = "session-loader";
/// The processor that joins the preset with the conversation.
pub(crate) const INJECTION_ASSEMBLER: &str = "injection-assembler";

/// The processors that run, in order.
const PRESENT: [&str; 2] = [SESSION_LOADER, INJECTION_ASSEMBLER];

/// The processors that the design names and this version does not have.
const ABSENT: [&str; 12] = [
    "regex-processor",
    "transcription-processor",
    "worldbook-processor",
    "merge-injections",
    "variable-processor",
    "request-compressor",
    "token-limiter",
    "merge-system-to-head",
    "merge-consecutive-roles",
    "convert-system-to-user",
    "ensure-alternating-roles",
    "asset-resolver",
];

impl Switches {
    /// Tells whether a processor runs.
    pub(crate) fn runs(&self, id: &str) -> bool {
        !self.disable.iter().any(|named| canonical(named) == id)
    }

    /// Reports the ids that name nothing.
    pub(crate) fn check(&self) -> Vec<Diagnostic> {
        let named = self.enable.iter().chain(&self.disable);
        named.filter_map(|id| check_id(id)).collect()
    }
}

fn check_id(id: &str) -> Option<Diagnostic> {
    let canonical = canonical(id);
    if PRESENT.contains(&canonical) {
        return None;
    }
    if ABSENT.contains(&canonical) {
        let message = format!("this version has no processor `{canonical}`; the switch has no effect");
        return Some(Diagnostic::info(codes::ABSENT_PROCESSOR, message));
    }
    let unknown = Diagnostic::warning(codes::UNKNOWN_PROCESSOR, format!("no processor `{id}`"));
    let help = match closest(canonical, PRESENT.into_iter().chain(ABSENT)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the processors are {}", PRESENT.join(", ")),
    };
    Some(unknown.with_help(help))
}

/// Accepts the group prefixes with which AIO Hub spells ids.
fn canonical(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix("primary:").or_else(|| id.strip_prefix("post:")).unwrap_or(id)
}
