//! The tree of a conversation, drawn: a column that goes down, and to the right only where it forks.

use ctx_language::Language;
use std::collections::HashMap;
use std::fmt::Write as _;

use ctx_compress::mask::{MaskDetails, MaskStatistics};
use ctx_types::internal::{DisplayState, display_path, thousands};
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{count_of, phrase};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::conversation::{state_name, steps, text};
use crate::show::findings::colon;
use crate::show::masks;
use crate::show::table::cut;
use ctx_project::counting::TokenCounting;
use ctx_project::session_file::SessionFile;

/// How many forks are drawn beside each other; further ones are counted.
const MAX_LEVELS: usize = 12;

/// The widest column of ids with what is drawn before them.
const MAX_ID: usize = 44;

/// The fewest columns for a text.
const MIN_TEXT: usize = 24;

/// Draws a tree.
pub(crate) fn tree(language: Language, file: &SessionFile, counting: &TokenCounting) -> String {
    let session = &file.session;
    let states = states(session);
    let lines: Vec<Line<'_>> = walk(session);
    let heads: Vec<String> = lines.iter().map(|line| head(line, &states)).collect();
    let places = session.path().len().max(1).to_string().len();
    let width = heads.iter().map(|head| head.width()).max().unwrap_or(0).min(MAX_ID);
    let room = crate::show::width().saturating_sub(places + width + COLUMNS).max(MIN_TEXT);
    let mut drawn = format!("{}{}\n", file.name, title(language, session, &lines));
    for (line, head) in lines.iter().zip(&heads) {
        let tokens = thousands(counting.tokens(line.id, line.node));
        let role = line.node.role.unwrap_or_default().to_string();
        let pad = " ".repeat(width.saturating_sub(head.width()));
        let goes_on = if line.id == session.active_leaf_id() { "◀ " } else { "" };
        let said =
            cut(&clean_line(&format!("{goes_on}{}", text(language, session, line.id, line.node))), room);
        let place = states.get(line.id).and_then(|_| session.depth(line.id));
        let place = place.map_or_else(String::new, |place| place.to_string());
        writeln!(drawn, "{place:>places$}  {head}{pad}  {role:<9}  {tokens:>7}  {said}").unwrap_or_default();
    }
    drawn + &legend(language, &lines, &states) + &steps(language, file)
}

/// What role, tokens and the gaps between take.
const COLUMNS: usize = 9 + 7 + 4 * 2;

/// A node with what is drawn before it.
struct Line<'a> {
    id: &'a NodeId,
    node: &'a Node,
    /// For each fork above it: whether further branches follow below.
    levels: Vec<bool>,
    /// How many forks are not drawn.
    undrawn: usize,
    /// Whether a branch begins here.
    begins: bool,
}

/// Lists the nodes of a tree in the order of drawing: a branch whole, then the next one.
fn walk(session: &Session) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut open = Vec::new();
    open.extend(below(session, session.root_id(), &[], 0));
    open.reverse();
    while let Some(line) = open.pop() {
        let next = below(session, line.id, &line.levels, line.undrawn);
        open.extend(next.into_iter().rev());
        lines.push(line);
    }
    lines
}

/// Returns the children of a node, with the levels at which they are drawn.
fn below<'a>(session: &'a Session, id: &str, levels: &[bool], undrawn: usize) -> Vec<Line<'a>> {
    let children = session.node(id).map(|node| node.children_ids.as_slice()).unwrap_or_default();
    let forks = children.len() > 1;
    let line = |(at, child): (usize, &'a NodeId)| {
        let mut levels = levels.to_vec();
        let mut undrawn = undrawn;
        if forks && levels.len() == MAX_LEVELS {
            levels.remove(0);
            undrawn += 1;
        }
        if forks {
            levels.push(at + 1 < children.len());
        }
        Some(Line { id: child, node: session.node(child)?, levels, undrawn, begins: forks })
    };
    children.iter().enumerate().filter_map(line).collect()
}

/// What becomes of the nodes of the active path.
fn states(session: &Session) -> HashMap<&NodeId, DisplayState> {
    display_path(session, &[]).into_iter().map(|shown| (shown.id, shown.state)).collect()
}

/// Draws what stands before the role: branches, what becomes of the node, its id.
fn head(line: &Line<'_>, states: &HashMap<&NodeId, DisplayState>) -> String {
    let mut head = if line.undrawn > 0 { "⋯ ".to_owned() } else { String::new() };
    for (at, goes_on) in line.levels.iter().enumerate() {
        let is_last = at + 1 == line.levels.len();
        head.push_str(match (line.begins && is_last, goes_on) {
            (true, true) => "├─",
            (true, false) => "└─",
            (false, true) => "│ ",
            (false, false) => "  ",
        });
    }
    let mark = Mark::of(line, states).sign();
    format!("{head}{mark} {}", clean_line(line.id))
}

/// What becomes of a node, as one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Sent,
    Summary,
    Hidden,
    Off,
    Elsewhere,
}

impl Mark {
    const ALL: [Self; 5] = [Self::Sent, Self::Summary, Self::Hidden, Self::Off, Self::Elsewhere];

    fn of(line: &Line<'_>, states: &HashMap<&NodeId, DisplayState>) -> Self {
        match states.get(line.id) {
            Some(DisplayState::Visible) if line.node.is_summary() => Self::Summary,
            Some(DisplayState::Visible) => Self::Sent,
            Some(DisplayState::Hidden { .. }) => Self::Hidden,
            Some(DisplayState::Disabled) => Self::Off,
            None if line.node.is_enabled() => Self::Elsewhere,
            None => Self::Off,
        }
    }

    const fn sign(self) -> char {
        match self {
            Self::Sent => '●',
            Self::Summary => '◆',
            Self::Hidden => '○',
            Self::Off => '×',
            Self::Elsewhere => '·',
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Summary => "summary",
            Self::Hidden => "hidden by a summary",
            Self::Off => "disabled",
            Self::Elsewhere => "on another branch",
        }
    }
}

fn title(language: Language, session: &Session, lines: &[Line<'_>]) -> String {
    let name = session.header.name.as_deref();
    let name = name.map(|name| colon(language).to_owned() + &clean_line(name));
    let branches = lines.iter().filter(|line| line.node.children_ids.is_empty()).count();
    let summaries = lines.iter().filter(|line| line.node.is_summary()).count();
    let branches = match branches {
        0 | 1 => phrase!("no branches"),
        count => phrase!("{count} branches", count),
    };
    let counts = phrase!(
        "{nodes}, {branches}, {summaries}",
        nodes = count_of!(lines.len(), "node"),
        branches,
        summaries = masks::summaries(summaries)
    );
    format!("{}\n{}\n", name.unwrap_or_default(), lang::say(language, &counts))
}

/// Describes what the signs mean that were drawn.
fn legend(language: Language, lines: &[Line<'_>], states: &HashMap<&NodeId, DisplayState>) -> String {
    let is_drawn = |mark: &Mark| lines.iter().any(|line| Mark::of(line, states) == *mark);
    let meanings = Mark::ALL.into_iter().filter(is_drawn);
    let meanings = meanings.map(|mark| format!("{} {}", mark.sign(), lang::word(language, mark.meaning())));
    let mut meanings: Vec<String> = meanings.collect();
    if !lines.is_empty() {
        meanings.push(lang::word(language, "◀ active branch").into_owned());
    }
    if lines.iter().any(|line| line.undrawn > 0) {
        meanings.push(lang::word(language, "⋯ more branches above").into_owned());
    }
    format!("\n{}\n", meanings.join("  "))
}

/// Writes a tree for programs: its nodes in the order of drawing, and what its summaries do.
pub(crate) fn tree_json(file: &SessionFile, counting: &TokenCounting) -> Value {
    let session = &file.session;
    let states = states(session);
    let lines = walk(session);
    let one = |line: &Line<'_>| {
        let state = states.get(line.id);
        let mut json = json!({
            "id": line.id,
            "parentId": line.node.parent_id,
            "childrenIds": line.node.children_ids,
            "role": line.node.role.unwrap_or_default(),
            "tokens": counting.tokens(line.id, line.node),
            "isEnabled": line.node.is_enabled(),
            "isSummary": line.node.is_summary(),
            "state": state.map_or("elsewhere", state_name),
        });
        if let Some(DisplayState::Hidden { by }) = state {
            json["hiddenBy"] = json!(by);
        }
        json
    };
    let summaries = lines.iter().filter(|line| line.node.is_summary());
    let details = summaries.filter_map(|line| MaskDetails::of(session, line.id, &counting.counter));
    json!({
        "file": file.name,
        "name": session.header.name,
        "rootId": session.root_id(),
        "activeLeafId": session.active_leaf_id(),
        "nodes": lines.iter().map(one).collect::<Value>(),
        "summaries": details.collect::<Vec<_>>(),
        "statistics": MaskStatistics::of(session, &counting.counter),
        "steps": file.steps_json(),
    })
}
