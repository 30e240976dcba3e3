//! Who agrees to calls of tools: the user at the terminal.

use ctx_language::Language;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ctx_chat::{Approval, Verdict};
use ctx_types::ToolCall;

use crate::commands::chat::lines::Lines;
use crate::lang;
use crate::show;

/// Asks the user at the terminal.
pub(super) struct Asking {
    language: Language,
    lines: Lines,
    /// Whether the user agreed to everything from now on.
    agrees: AtomicBool,
}

impl Asking {
    pub(super) fn new(language: Language, lines: Lines) -> Self {
        Self { language, lines, agrees: AtomicBool::new(false) }
    }
}

#[async_trait]
impl Approval for Asking {
    async fn approve(&self, call: &ToolCall) -> Verdict {
        if self.agrees.load(Ordering::Relaxed) {
            return Verdict::Allowed;
        }
        let question = show::cut_line(&format!("{} {}", call.name, call.arguments.as_str()), 160);
        let may = lang::word(self.language, "allow? [y]es, [a]lways, [N]o");
        let answer = self.lines.next(&format!("{question}\n{may} ")).await;
        match answer.as_deref().map(str::trim) {
            Some("y" | "yes") => Verdict::Allowed,
            Some("a" | "always") => {
                self.agrees.store(true, Ordering::Relaxed);
                Verdict::Allowed
            }
            Some("" | "n" | "no") => Verdict::Refused("no reason given".to_owned()),
            Some(reason) => Verdict::Refused(reason.to_owned()),
            None => Verdict::Refused("no confirmation".to_owned()),
        }
    }
}
