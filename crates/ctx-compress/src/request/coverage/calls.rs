//! Recognizes tool calls that change something.

/// Words in a tool's name that mean a change, independent of the other words.
#[rustfmt::skip]
const CHANGING: [&str; 68] = [
    "accept", "add", "append", "apply", "approve", "archive", "assign", "book", "buy", "cancel", "change",
    "clear", "close", "commit", "confirm", "copy", "create", "delete", "deploy", "disable", "edit",
    "enable", "execute", "insert", "install", "invite", "kill", "make", "merge", "modify", "move", "order",
    "pay", "play", "post", "publish", "purchase", "push", "put", "refund", "register", "reject", "remove",
    "rename", "replace", "reply", "reschedule", "reserve", "reset", "restart", "run", "save", "schedule",
    "send", "set", "share", "start", "stop", "store", "submit", "transfer", "uninstall", "update",
    "upgrade", "upload", "upsert", "withdraw", "write",
];

/// Words in a tool's name that mean reading.
#[rustfmt::skip]
const LOOKING: [&str; 62] = [
    "analyse", "analyze", "ask", "browse", "calculate", "cat", "check", "compare", "compute", "count",
    "describe", "detect", "diff", "display", "estimate", "exists", "explain", "explore", "fetch", "filter",
    "find", "get", "glob", "grep", "head", "help", "inspect", "is", "list", "load", "look", "lookup", "ls",
    "match", "open", "parse", "peek", "ping", "preview", "print", "query", "read", "recommend", "resolve",
    "retrieve", "scan", "search", "see", "show", "stat", "status", "suggest", "summarize", "tail", "test",
    "think", "translate", "validate", "verify", "view", "wait", "whoami",
];

/// Verbs in Chinese tool names that mean reading, anywhere in the name.
const LOOKING_IN_CHINESE: [&str; 10] =
    ["查询", "查看", "查找", "搜索", "获取", "读取", "列出", "检查", "计算", "浏览"];

/// Returns whether a call of this tool changes something, judged by the name.
///
/// A word for a change anywhere in the name decides; otherwise a word for reading means no change. A name without
/// either counts as a change, because losing a change is worse than keeping a read.
///
/// `get_user` and `fs.readFile` read; `BookFlight`, `get_or_create_user` and `frobnicate` change.
pub(super) fn changes(tool: &str) -> bool {
    if LOOKING_IN_CHINESE.iter().any(|verb| tool.contains(verb)) {
        return false;
    }
    let mut looks = false;
    for word in words(tool) {
        if CHANGING.binary_search(&word.as_str()).is_ok() {
            return true;
        }
        looks |= LOOKING.binary_search(&word.as_str()).is_ok();
    }
    !looks
}

/// Splits a name at signs and before capitals: `fs.readFile_v2` becomes `fs`, `read`, `file`, `v2`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let is_border = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if is_border {
            words.push(String::new());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_searched() {
        assert!(CHANGING.is_sorted() && LOOKING.is_sorted());
    }

    #[test]
    fn names_tell_what_looks_and_what_changes() {
        for tool in [
            "get_user",
            "fs.readFile",
            "FindEvents",
            "lookup",
            "github__list_issues",
            "mcp-search",
            "查询天气",
        ] {
            assert!(!changes(tool), "{tool}");
        }
        for tool in [
            "BookFlight",
            "get_or_create_user",
            "frobnicate",
            "update_search_index",
            "sendEmail",
            "",
            "预订机票",
        ] {
            assert!(changes(tool), "{tool}");
        }
    }
}
