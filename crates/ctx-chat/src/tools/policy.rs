//! Who may call which tools: each level can only narrow what the others allow.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::tools::Tool;

/// Tools by their names and by their categories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRules {
    /// Kinds of tools.
    pub categories: BTreeSet<Arc<str>>,
    /// Single tools.
    pub tools: BTreeSet<Arc<str>>,
}

impl ToolRules {
    /// Names tools.
    pub fn tools<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self { tools: names.into_iter().map(Arc::from).collect(), ..Self::default() }
    }

    /// Names categories.
    pub fn categories<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self { categories: names.into_iter().map(Arc::from).collect(), ..Self::default() }
    }

    /// Returns whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.categories.is_empty() && self.tools.is_empty()
    }

    fn names(&self, tool: &Tool) -> bool {
        self.tools.contains(tool.name())
            || tool.category.as_ref().is_some_and(|category| self.categories.contains(category))
    }

    fn read(value: &Value) -> Self {
        let list = |key: &str| {
            let items = value.get(key).and_then(Value::as_array).into_iter().flatten();
            items.filter_map(Value::as_str).map(Arc::from).collect()
        };
        Self { categories: list("categories"), tools: list("tools") }
    }
}

/// Which tools may be called. Everything is allowed that no rule forbids.
///
/// ```
/// use ctx_chat::{ToolPolicy, ToolRules};
///
/// let system = ToolPolicy::default().allow(ToolRules::tools(["read", "list"])).deny(ToolRules::tools(["list"]));
/// let agent = ToolPolicy::default().allow(ToolRules::tools(["read", "list", "run"]));
/// let both = system.and(agent);
/// assert!(both.allows_name("read") && !both.allows_name("list") && !both.allows_name("run"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// What levels allow; a tool has to be in each list.
    allowed: Vec<ToolRules>,
    /// What any level forbids.
    denied: ToolRules,
}

impl ToolPolicy {
    /// Allows only these of what was allowed before.
    #[must_use]
    pub fn allow(mut self, rules: ToolRules) -> Self {
        self.allowed.push(rules);
        self
    }

    /// Forbids these too.
    #[must_use]
    pub fn deny(mut self, rules: ToolRules) -> Self {
        self.denied.categories.extend(rules.categories);
        self.denied.tools.extend(rules.tools);
        self
    }

    /// Joins the policies of two levels: what either forbids is forbidden, and only what both allow is allowed.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let joined = other.allowed.into_iter().fold(self, Self::allow);
        joined.deny(other.denied)
    }

    /// Reads `{"allow": {"categories": [], "tools": []}, "deny": {…}}`, as agents and settings have it.
    ///
    /// A list of nothing allows nothing; what is no list is as if it were not there.
    pub fn read(value: &Value) -> Self {
        let policy = Self::default();
        let is_list = |rules: &&Value| ["categories", "tools"].iter().any(|key| rules.get(*key).is_some());
        let policy = match value.get("allow").filter(is_list) {
            Some(rules) => policy.allow(ToolRules::read(rules)),
            None => policy,
        };
        match value.get("deny") {
            Some(rules) => policy.deny(ToolRules::read(rules)),
            None => policy,
        }
    }

    /// Returns whether a tool may be called.
    pub fn allows(&self, tool: &Tool) -> bool {
        !self.denied.names(tool) && self.allowed.iter().all(|rules| rules.names(tool))
    }

    /// Returns whether a tool of this name and of no category may be called.
    pub fn allows_name(&self, name: &str) -> bool {
        !self.denied.tools.contains(name) && self.allowed.iter().all(|rules| rules.tools.contains(name))
    }

    /// Returns what is forbidden.
    pub const fn denied(&self) -> &ToolRules {
        &self.denied
    }

    /// Returns what each level allows.
    pub fn allowed(&self) -> &[ToolRules] {
        &self.allowed
    }
}
