//! Regex rules, independent of the pipeline. An application can display messages with the same rules:
//!
//! ```
//! use ctx_macros::{Dialect, Env, Limits, Registry, State};
//! use ctx_processors::regex_rules::{RuleLimits, RuleRun, RuleSet, RuleSource, Stage, Subject, Target};
//! use ctx_types::{Persist, Reader, RegexConfig, Role, Trust};
//!
//! let config = serde_json::json!({ "presets": [{ "rules": [
//!     { "regex": "/\\bwe\\b/gi", "replacement": "{{user}} and I", "targetRoles": ["assistant"] },
//! ] }] });
//! let config = RegexConfig::read(config, &mut Reader::new());
//! let source = RuleSource { config: &config, place: "/regexConfig", document: None, trust: Trust::Preset };
//! let (rules, findings) = RuleSet::compile(&[source], Dialect::Aio, &Registry::builtin());
//! assert!(findings.is_empty());
//!
//! let (env, mut state) = (Env { user: Some("Mei".into()), ..Env::default() }, State::new(Limits::default()));
//! let mut expand = |template: &ctx_macros::Template, source: &ctx_types::Source| {
//!     template.expand(&env, &mut state, source)
//! };
//! let mut run = RuleRun::new(&rules, RuleLimits::default(), &mut expand);
//! let target = Target::Message(Role::Assistant);
//! let shown = run.apply(&"Shall we?".into(), Subject { stage: Stage::Render, target, depth: Some(0) });
//! assert_eq!(shown.text, "Shall Mei and I?");
//! ```

mod find;
mod form;
mod replace;
mod result_cache;
mod rewrite;
mod rule;
mod run;
mod set;
mod subject;

pub use rewrite::RewrittenText;
pub use rule::Rule;
pub use run::{RuleLimits, RuleRun};
pub use set::{RuleSet, RuleSource};
pub use subject::{Stage, Subject, Target};
