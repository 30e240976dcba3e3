//! The tools of a chat: whether there are any, which may be called, and who agrees to calls.

use ctx_language::Language;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use async_trait::async_trait;
use ctx_chat::{Approval, FolderTools, ToolPolicy, Verdict};
use ctx_types::{ToolCall, phrase};

use crate::args::ChatArguments;
use crate::commands::chat::lines::Lines;
use crate::lang::{self, Told};
use crate::show;
use ctx_project::config::Config;
use ctx_project::files;

/// Opens the folder that the model may look into, if one is named on the command line or in `ctx.toml`.
pub(super) fn open(arguments: &ChatArguments, config: &Config) -> Result<Option<FolderTools>> {
    let (rules, folder) = config.tools(arguments.tools_dir.is_some())?;
    let Some(path) = arguments.tools_dir.as_deref().or(folder) else {
        return Ok(None);
    };
    let tools = FolderTools::open(path);
    let tools = tools.map_err(|error| {
        let (path, reason) = (files::name(path), files::reason(&error));
        Told(phrase!("cannot open the folder `{path}`: {reason}", path, reason))
    })?;
    let asks = arguments.ask || rules.and_then(|rules| rules.get("ask")?.as_bool()) == Some(true);
    Ok(Some(if asks { tools.asking() } else { tools }))
}

/// Returns which tools the user's own settings leave.
pub(super) fn policy(arguments: &ChatArguments, config: &Config) -> Result<ToolPolicy> {
    Ok(config.tools(arguments.tools_dir.is_some())?.0.map_or_else(ToolPolicy::default, ToolPolicy::read))
}

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
        let may = lang::word(self.language, "may it? [y]es, [a]lways, [N]o");
        let answer = self.lines.next(&format!("{question}\n{may} ")).await;
        match answer.as_deref().map(str::trim) {
            Some("y" | "yes") => Verdict::Allowed,
            Some("a" | "always") => {
                self.agrees.store(true, Ordering::Relaxed);
                Verdict::Allowed
            }
            Some("" | "n" | "no") => Verdict::Refused("no reason is given".to_owned()),
            Some(reason) => Verdict::Refused(reason.to_owned()),
            None => Verdict::Refused("nobody answered".to_owned()),
        }
    }
}
