// All texts of the page in English. The other catalogues have the same keys, or do not compile.
const s = (count: number) => (count === 1 ? "" : "s");

export const en = {
  // The frame
  skip: "Skip to the page", home: "To the preset", file: "File", save: "Save", undo: "Undo", redo: "Redo",
  saved: (path: string) => `Saved ${path}`, nothingToSave: "Nothing to save", undone: "Undone", redone: "Redone",
  notSaved: "Not saved yet", isSaved: "All is saved", readOnly: "read-only", language: "EN: switch to Chinese (中文)",
  theme: (name: string) => `Colours: ${name}`, themes: { system: "as the system", light: "light", dark: "dark" },
  errors: (count: number) => `${count} error${s(count)}`, warnings: (count: number) => `${count} warning${s(count)}`,
  infos: (count: number) => `${count} note${s(count)}`, noFindings: "No findings", findings: "Findings",
  pages: "Pages", pageNames: { preset: "Preset", preview: "Preview", compare: "Compare", import: "Import", start: "Start" },
  preview: "Preview", notices: "Notices", close: "Close", reload: "Reload", tryAgain: "Try again", loading: "Loading…",
  outdated: "The server is another version now.", unreachable: "The server does not answer. What you type is kept and sent again.",
  offline: "The server does not answer", failed: "That did not work",
  closed: "This page needs a new link: press Enter in the terminal where `ctx studio` runs.",
  closedHelp: "A link works once and for five minutes. Its token ends with the run of the server.",
  tooManyFiles: (count: number) => `The folder has more files; these are the first ${count}.`,

  // Two who change the same
  conflict: "Two versions", conflictOfSave: (path: string) => `${path} was changed outside of this page since it was read.`,
  conflictOfEdit: (place: string) => `${place} was changed in another window meanwhile.`,
  mine: "Mine", theirs: "Theirs", theFile: "The file", removed: "(removed)", keepMine: "Keep mine", takeTheirs: "Take theirs", takeTheFile: "Take the file's",

  // The turn
  turn: "Turn", input: "Message of the user", inputHint: "What the user says next…", conversation: "Conversation", profile: "User profile",
  worldbooks: "Worldbooks", none: "none", chosenOf: (count: number, all: number) => `${count} of ${all}`, model: "Model", budget: "Budget", reserve: "Reserve",
  seed: "Seed", at: "Time", now: "Now", automatic: "auto", tokens: "tokens", exact: "exact", estimated: "estimated", noBudget: ", no budget",
  overBudget: "More than the budget", cannotFit: "No context fits the budget", previewFailed: "No preview",

  // The preset
  viewAs: "Show as", views: { list: "List", placed: "As placed", text: "Text" }, entry: "Entry", addEntry: "Add Entry", addAnchor: "Add Anchor", newGroup: "New Group", add: "Add",
  select: "Select", selection: "Selected entries", chosen: (count: number) => `${count} selected`, all: "All", on: "On", off: "Off", done: "Done", closeAll: "Close all",
  entriesLabel: "Entries", entryNumber: (n: number) => `Entry ${n}`, entries: (count: number) => (count === 1 ? "1 entry" : `${count} entries`),
  emptyList: "No entries yet.", noAgents: "This folder has no agent. Import one, or write the sample.", noEntries: "This file has no list of entries.",
  beginPreset: "Begin a preset", unreadable: "The file cannot be read as it is, so only its text can be edited.",
  totalOf: (own: string, all: string) => `Total of entries: ${own} of ${all} tokens`, totalOfEntries: (own: string) => `Total of entries: ${own} tokens`,
  addBelow: "Add below", addAnchorBelow: "Add anchor below…", duplicate: "Duplicate", copySuffix: " (copy)", moveUp: "Move up", moveDown: "Move down", moveTo: "Move to…", move: "Move",
  moveOne: (name: string) => `Move ${name}`, moveMany: (count: number) => `Move ${count} entries`, place: "Place", toTheTop: "To the top", below: (n: number, name: string) => `Below ${n} ${name}`,
  delete: "Delete", rename: "Rename", more: "Id, group, models", moreFor: (name: string) => `More for ${name}`, drag: "Drag to move; Alt+Up and Alt+Down do the same",
  switchOne: (name: string) => `${name}: on`, switchGroup: (name: string) => `Group ${name}: on`, selectOne: (name: string) => `Select ${name}`,
  moved: (what: string, at: number, of: number) => `${what} moved to ${at} of ${of}.`, joined: (group: string) => `Now in the group ${group}.`, atTheEdge: "It cannot move further.",
  added: (name: string) => `${name} added`, duplicated: (count: number) => (count === 1 ? "Duplicated" : `${count} entries duplicated`), deleted: (count: number) => (count === 1 ? "Deleted" : `${count} entries deleted`),
  switchedOn: (count: number) => (count === 1 ? "Switched on" : `${count} switched on`), switchedOff: (count: number) => (count === 1 ? "Switched off" : `${count} switched off`),
  group: "Group", noGroup: "No group", inGroup: (name: string) => `In the group ${name}`, groupMade: (name: string) => `Group ${name} made`, groupHelp: "A group switches its entries together.",
  groupOf: (count: number) => `With the ${count} selected entries, which then stand together.`, continued: "(continued)", oneOf: (count: number) => `one of ${count}`,
  manyOn: "Many at a time", oneOn: "One at a time", dissolve: "Dissolve the group", name: "Name", role: "Role", id: "Id",
  tokensOf: (tokens: string) => `${tokens} tokens in the preview`, isOff: "Off: not sent", notSent: "Not sent", neverSent: "Its own text is never sent",
  textOf: (name: string) => `Text of ${name}`, textHint: "Text; {{ lists the macros", expansion: "Becomes", rendersNothing: "Renders nothing", hoverForSource: "Point at a part to see its source", openEntry: "Open the entry",
  partsHelp: "This content is a list of parts. It is edited in the text.", placeholderHelp: "A placeholder only marks the place; what stands there is made by the engine.",
  unknownAnchor: (id: string) => `No anchor ${id} is registered.`, anchorHelp: "An anchor marks a place that other entries can stand before or after.",
  anchorKinds: { template: "template", placeholder: "placeholder" }, isThere: "is there", ownPlace: "A place of your own", ownPlaceHelp: "Entries can name it; by itself it sends nothing.", nameOfPlace: "Name of the place",
  placement: "Placement", placements: { order: "In order", depth: "Depth", index: "Index", anchor: "Anchor" },
  inOrder: "in order", atDepth: (points: string) => `depth ${points}`, atIndex: (index: number) => `index ${index}`, beforeAnchor: (name: string) => `before ${name}`, afterAnchor: (name: string) => `after ${name}`,
  depth: "Depth", depthHelp: "Messages from the end; several points: 3, 10~5 means 3, 10, 15, 20…", noPoint: (part: string) => (part === "" ? "A point is missing" : `“${part}” is no point: a number, or number~step`),
  index: "Index", indexHelp: "-1: before the message being answered; 0: before the oldest", anchor: "Anchor", side: "Side", before: "before", after: "after", inside: "inside", noneHere: "none",
  order: "Order", orderHelp: "Among others at the same place, ascending", modelMatch: "For some models only", modelMatchOn: "Only for models that match", patterns: "Regular expressions, one a line", exclude: "All models but these",
  triggers: "Kinds of turns", attachments: "Files", messages: (count: number) => (count === 1 ? "1 message of the conversation" : `${count} messages of the conversation`),
  fix: "Fix", show: "Show", severities: { error: "Error", warning: "Warning", info: "Note" },
  editorPhrases: { "Completions": "Completions" } as Record<string, string>,

  // The preview
  tabs: { messages: "Messages", stages: "Stages", decisions: "Decisions", body: "Body", findings: "Findings" },
  kinds: {
    preset: "preset", history: "conversation", input: "input", summary: "summary", worldbook: "worldbook", macro: "macro", variable: "variable",
    rule: "rule", file: "file", plugin: "plug-in", formatter: "formatter", separator: "separator", overhead: "overhead",
  },
  colours: "Marked kinds", toggleColour: "Mark or unmark this kind", showDropped: (count: number) => `${count} not sent`, pinAsA: "Pin as A", nothingSent: "Nothing is sent.",
  cached: (messages: number, tokens?: string) => `The next turn begins with the same ${messages} message${s(messages)}${tokens === undefined ? "" : `, ${tokens} tokens`}`, nothingCached: "No message is the same in the next turn",
  noText: "No text", cut: "The rest is not shown.", sources: (count: number) => (count === 1 ? "1 source" : `${count} sources`), kind: "Kind", bytes: "Bytes", life: "How it came here and why",
  noStages: "No stages", counts: (before: string, after: string) => (before === after ? `${after} messages` : `${before} → ${after} messages`), noDecisions: "Nothing had to be decided.", showRows: (count: number) => (count === 1 ? "show" : `show ${count}`),
  andMore: (count: number) => `and ${count} more`, dialect: "Dialect", copy: "Copy", copied: "Copied", notCopied: "The browser did not allow copying", characters: (count: string) => `${count} characters`,
  first: "First", earlier: "Earlier", later: "Later", last: "Last", rowsOf: (from: string, to: string, all: string) => `${from}–${to} of ${all}`, goToRow: "Go to", wholeLength: "Position in the whole list",

  // Compare
  compareHelp: "A stands still. B is the preview as it is now: change anything, and see what differs.", chooseA: "What A is", savedFile: "The saved file", otherAgent: "Another agent", otherModel: "Another model", otherBudget: "Another budget",
  nothingPinned: "Nothing is pinned yet.", pinnedAt: (time: string) => `Pinned at ${time}`, pinnedNow: "Pinned as A", unpin: "Unpin", live: "The preview now", areEqual: "A and B are equal, byte for byte.",
  messagesLabel: "messages", billedAgain: "tokens billed again", firstDifference: "First difference", differsAt: (message: number, at?: number) => `In message ${message}${at === undefined ? "" : `, at byte ${at}`}`, nothing: "nothing",
  shared: (messages: number, tokens?: string) => `Both begin with the same ${messages} message${s(messages)}${tokens === undefined ? "" : `, ${tokens} tokens`}`, showSame: "Show equal rows too",
  changes: { same: "same", changed: "changed", added: "added", removed: "removed" },

  // Import and start
  importHelp: "Drop cards, presets, lorebooks or agents here, or on any page.", importKinds: "Nothing is written before you say so.", chooseFiles: "Choose files…", dropHere: "Drop to import", readOnlyFolder: "This folder is read-only.",
  reading: (done: number, all: number) => `Reading ${done} of ${all}…`, read: (count: number) => (count === 1 ? "1 file read" : `${count} files read`), files: "Files", format: "Format",
  statuses: { mapped: "mapped", approximated: "approximated", kept: "kept", unsupported: "unsupported" },
  statusHelp: { mapped: "Has the same meaning here", approximated: "Close to what it meant", kept: "Stays in the file without an effect", unsupported: "Has no counterpart" },
  status: "Status", field: "Field", fields: "Fields", destination: "Becomes", note: "Note", filter: "Filter", search: "Search", writes: "What would be written", folder: "Folder",
  bytesOf: (count: string) => `${count} bytes`, exists: "exists", replace: (count: number) => (count === 1 ? "Replace the file that exists" : `Replace the ${count} files that exist`),
  writeFiles: (count: number) => (count === 1 ? "Write 1 file" : `Write ${count} files`), discardImport: "Discard", asPrinted: "As `ctx import` prints it", written: (count: number) => (count === 1 ? "1 file written" : `${count} files written`),
  startTitle: "An empty folder", startHelp: (name: string) => `${name} has no agent yet. Two ways to begin:`, sample: "The sample", sampleHelp: "A gardener, a short conversation and a profile, with comments that explain them.", writeSample: "Write the sample",
  bring: "Your own files", bringHelp: "Cards, presets and lorebooks of SillyTavern, AIO Hub and others. Drop them on this page.",
};
