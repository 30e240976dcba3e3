// What the server says and takes: made of `api.schema.json` by `cargo xtask studio --types`.
//
// All requests but `login` carry `Authorization: Bearer TOKEN`; `accept-language: en|zh` chooses the language of an
// answer, `x-ctx-window` names the window. Every answer has the header `x-ctx-build`; a page of another build asks to be
// loaded anew.

/** A place in a preset. */
export interface AnchorInfo {
  id: string;
  name: string;
  description: string;
  kind: AnchorKind;
  role: string;
  /** The default text of a template anchor. */
  template?: string;
  hint?: string;
}

/** Whether a place has a text. */
export type AnchorKind = "template" | "placeholder";

/** A file that can be sent with a message: the answer to POST `conversations/{f}/attachments?name=`, which keeps it. */
export interface AttachedFile {
  /** As the user knows it. */
  name: string;
  /** Where it is, as messages say it. */
  path: string;
  bytes: number;
}

/** POST `conversations/{f}/summaries`: has a model write a summary, told and stopped like an answer. */
export interface BeginSummary {
  /** What the model is chosen by; the turn itself is not carried out. */
  with: BeginTurn;
  summary: SummaryOf;
}

/** POST `conversations/{f}/turns`. */
export interface BeginTurn {
  /** The hash that the page saw. */
  base: string;
  agent?: string;
  profile?: string;
  worldbooks?: string[];
  /** What the user says is its `input`; without it what is pending is answered. */
  turn?: TurnSettings;
  /** Files that the user sends with it. */
  attachments?: AttachedFile[];
  /** Sends nothing, and tells what would be sent. */
  dryRun?: boolean;
}

/** GET `previews/{p}/body`. */
export interface BodyView {
  dialect: string;
  /** The request body, byte for byte what would be sent. */
  text: string;
  findings: Finding[];
}

/** The place of a message among its siblings. */
export interface BranchView {
  /** From 1. */
  at: number;
  of: number;
  before?: string;
  after?: string;
}

/** POST `conversations/{f}/turn/call`. */
export interface CallVerdict {
  /** The id of the call. */
  id: string;
  allow: boolean;
  /** What the model is told of a refusal. */
  reason?: string;
}

/** How a row of one context stands to one of the other. */
export type ChangeKind = "same" | "changed" | "added" | "removed";

/** GET `codes/{c}`: what a code means. */
export interface CodeView {
  code: string;
  title: string;
  cause: string;
  example: string;
  /** The name of the example, where that is a whole file. */
  file?: string;
  /** The command that shows the finding. */
  shownBy?: string;
  wayOut: string;
}

/** POST `compare`. */
export interface CompareRequest {
  a: string;
  b: string;
}

/** The answer to POST `compare`. */
export interface Compared {
  sharedMessages: number;
  sharedTokens?: number;
  messages: [number, number];
  tokens?: [number, number];
  /** Tokens that a provider with a cache bills again. */
  again?: number;
  /** The first byte that differs. */
  difference?: DifferenceView;
  rows: ComparedRow[];
}

/** Rows of two contexts that belong together. */
export interface ComparedRow {
  kind: ChangeKind;
  a?: number;
  b?: number;
  words?: WordChange[];
}

/** Which messages a summary is to stand for. */
export type CompressRange = { kind: "all"; } | { kind: "auto"; } | { kind: "rollUp"; } | { kind: "between"; from: string; to: string; };

/** POST `conversations/{f}/plan` and `conversations/{f}/compress`. */
export interface CompressRequest {
  /** The hash that the page saw; a plan of another text would be another one. */
  base: string;
  /** The id of the agent whose settings count over those of `ctx.toml`. */
  agent?: string;
  range?: CompressRange;
}

/** A file that may set compression. */
export interface CompressionLayer {
  origin: Origin;
  file: string;
  /** The pointer of the object that holds them. */
  base: string;
}

/** What would be compressed. */
export interface CompressionPlan {
  /** The plan, or why there is nothing to do. */
  told: string;
  /** Whether there is something to do. */
  isNeeded: boolean;
  /** The messages that would be hidden. */
  ids: string[];
  /** The summaries that would be joined with them. */
  summaries: string[];
  /** The tokens that would be hidden. */
  tokens: number;
  /** Whether the settings would compress by themselves now, in words. */
  trigger: string;
  fires: boolean;
}

/** POST `compression`. */
export interface CompressionRequest {
  /** The id of the agent. */
  agent?: string;
}

/** The settings of compression: each key by itself takes the value of the highest layer that has it. */
export interface CompressionSettings {
  fields: ConfigField[];
  values: ConfigValue[];
  /** The files that may set them, the highest first. */
  layers: CompressionLayer[];
  findings: Finding[];
}

/** The settings of one processor: each field's value, then keys that it has no field for. */
export type Config = ConfigValue[];

/** One setting of a processor or a feature, with all that a settings page needs to show it. */
export interface ConfigField {
  /** The key under which it is stored. */
  key: string;
  /** The title shown to people. */
  label: string;
  /** What it does, for people. */
  description?: string;
  /** Which values it takes. */
  type: FieldKind;
  /** What an empty input shows. */
  placeholder?: string;
  /** The value where nothing is set. */
  default: unknown;
  /** The choices of a [`FieldKind::Select`]. */
  options?: FieldOption[];
  /** The smallest number allowed. */
  minimum?: number;
  /** The largest number allowed. */
  maximum?: number;
  /** Whether a number must be a whole one. */
  isWhole?: boolean;
  /** Whether a text must have more than white space. */
  isRequired: boolean;
}

/** One setting of a processor. */
export interface ConfigValue {
  /** Its key. */
  key: string;
  /** The value. */
  value: unknown;
  /** Who set it. */
  origin: Origin;
}

/** A step of a conversation. Each is noted in its log, and can be taken back. */
export type ConversationStep = { kind: "edit"; id: string; text: string; } | { kind: "branch"; id: string; text: string; } | { kind: "append"; role: string; text: string; } | { kind: "activate"; id: string; } | { kind: "toggle"; id: string; enabled: boolean; } | { kind: "remove"; id: string; } | { kind: "regenerate"; id: string; } | { kind: "undo"; } | { kind: "redo"; };

/** GET `conversations/{f}?from=&to=&open=&at=`: messages of the active path, without those behind summaries that are
 * not open. */
export interface ConversationView {
  /** The hash of the file, which steps name as their `base`. */
  hash: string;
  /** How many messages there are to be shown. */
  total: number;
  /** The place of the first of `rows` among them. */
  from: number;
  rows: MessageView[];
  /** The names of steps that can be taken back, the latest first. */
  undo: string[];
  /** The names of steps that can be done again. */
  redo: string[];
  /** Why it cannot be changed. */
  fixed?: string;
  /** Whether it is a list of messages, of which a session can be made. */
  isList: boolean;
}

/** Why something is sent, elsewhere, or not. */
export interface DecisionView {
  /** What it is about, such as `history:n3`. */
  code: string;
  /** What became of it, in the language of the request. */
  kind: string;
  message: string;
  rows: number[];
}

/** The files that `ctx.toml` names for every turn, by their ids. */
export interface Defaults {
  agent?: string;
  conversation?: string;
  profile?: string;
  worldbooks: string[];
}

/** The first byte that differs. */
export interface DifferenceView {
  message: number;
  at?: number;
  owners: [string | null, string | null];
  excerpts?: [string, string];
}

/** POST `conversations/{f}/attachments/discard`: deletes a file that is in no message yet, unless another window has
 * attached it too. */
export interface DiscardAttached {
  path: string;
}

/** One change at a JSON pointer. */
export type Edit = { op: "set"; pointer: string; value: unknown; } | { op: "remove"; pointer: string; } | { op: "insert"; pointer: string; value: unknown; } | { op: "move"; pointer: string; to: string; } | { op: "rename"; pointer: string; name: string; };

/** The answer to it: what has changed, where the page can tell the rest by the edits of values that it sent; else the
 * file as it is now. */
export type Edited = FileChange | FileView;

/** POST `files/{f}/edits`: edits of values, or another text in place of the whole. */
export interface Edits {
  /** The revision that the page saw. */
  base: number;
  /** Random, so that edits sent twice count once. */
  id: string;
  edits?: Edit[];
  /** The whole text instead, for what edits of values cannot do. */
  text?: string;
  /** Writes the part of the file anew that a refusal of these edits has named. */
  rewrite?: boolean;
}

/** What holds for one processor after all layers. */
export interface EffectiveSetting {
  /** The processor. */
  id: string;
  /** Whose entry counts, as a whole; absent if nobody has one. */
  decidedBy?: Origin;
  /** Who else has an entry, the highest layer first: nothing in it counts. */
  overrules?: Origin[];
  /** Whether it runs. */
  enabled: Sourced;
  /** When it runs. */
  priority: Sourced2;
  /** Its settings, in the order of its fields, then keys that it has no field for. */
  config: Config;
}

/** POST `expand`. */
export interface ExpandRequest {
  text: string;
  agent?: string;
  conversation?: string;
  profile?: string;
  turn?: TurnSettings;
}

/** The answer to it. */
export interface Expanded {
  text: string;
  pieces: PieceView[];
  findings: Finding[];
}

/** How many facts of a kind there are. */
export interface FactCounts {
  /** A word for programs, such as `date`. */
  kind: string;
  kept: number;
  lost: number;
  invented: number;
}

/** A fact, and where it stands. */
export interface FactView {
  /** A word for programs, such as `date`. */
  kind: string;
  text: string;
  /** The message. */
  id?: string;
  /** Where in its text. */
  span?: TextSpan;
}

/** Every failure. */
export interface Failure {
  code: string;
  message: string;
  help?: string;
  findings?: Finding[];
  /** The file as it is, where it was changed meanwhile. */
  theirs?: FileView;
  /** Edits that were refused can be made so, if they are sent again with `rewrite`. */
  rewrite?: RewriteView;
}

/** How many fields became what. */
export interface FieldCounts {
  /** Fields that have the same meaning in a field of ours. */
  mapped: number;
  /** Fields that mean nearly the same there. */
  approximated: number;
  /** Fields that are kept as they are, without effect. */
  kept: number;
  /** Fields that are kept nowhere. */
  unsupported: number;
}

/** Which values a field takes. */
export type FieldKind = "text" | "number" | "boolean" | "select" | "list";

/** One choice of a field. */
export interface FieldOption {
  /** The title shown to people. */
  label: string;
  /** The value that is stored; of any JSON type. */
  value: unknown;
}

/** What edits of values have changed; the value is what they make of the one before. What is wrong with the file now is
 * for GET `files/{f}/findings` to say, once somebody who types rests. */
export interface FileChange {
  /** One more than the revision that the edits were made for. */
  revision: number;
  isDirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  splice: TextSplice;
}

/** GET `files/{f}/findings`. */
export interface FileFindings {
  /** The revision of the draft in which they were found. */
  revision: number;
  findings: Finding[];
}

/** What a file is to the page. */
export type FileKind = "agent" | "preset" | "profile" | "worldbook" | "conversation" | "settings" | "config" | "other";

/** GET `files/{f}`, and the answer to what changes it otherwise than by edits. */
export interface FileView {
  id: string;
  path: string;
  kind: FileKind;
  /** SHA-256 of the file's bytes as they were read; also the `ETag`, for `save`. */
  hash: string;
  /** Counts the edits of the draft, undo and redo included. */
  revision: number;
  isDirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  /** The text of the draft. */
  text: string;
  /** The value of the draft; absent if the text cannot be read, and then structured editing is off. */
  value?: unknown;
  findings: Finding[];
  isReadOnly: boolean;
  /** Whether the text is longer than this answer shows. */
  isCut?: boolean;
  /** How many items of its lists are not in `value`: the file is too large to be edited, and its beginning is shown. */
  more?: number;
  /** Whether the file was deleted; then it has no hash. */
  isGone?: boolean;
}

/** Something that is wrong in a file, or worth knowing. */
export interface Finding {
  code: string;
  severity: Severity;
  message: string;
  /** What to do about it. */
  help?: string;
  /** The file that it is about, as results name it. */
  file?: string;
  /** The JSON pointer of the value that it is about. */
  pointer?: string;
  /** Where in the text of the draft. */
  span?: TextSpan;
  /** 1-based, as `ctx check` prints it. */
  line?: number;
  /** 1-based, as `ctx check` prints it. */
  column?: number;
  /** Whether POST `files/{f}/fix` with the `index` of this finding makes the edit that fixes it. */
  fixable?: boolean;
  index: number;
}

/** POST `files/{f}/fix`. */
export interface Fix {
  base: number;
  /** The `index` of the finding. */
  index: number;
}

/** POST `import/discard`. */
export interface ImportDiscard {
  batch: string;
}

/** A file that would be written. */
export interface ImportOutput {
  path: string;
  bytes: number;
  exists: boolean;
}

/** The answer to POST `import`. */
export interface ImportView {
  batch: string;
  files: ImportedFile[];
  /** What `ctx import` prints, line by line. */
  lines: string[];
  counts: FieldCounts;
  fields: ImportedField[];
  /** How many fields there are beside those that are listed. */
  moreFields: number;
  /** The files that `write` would make, below `folder`. */
  writes: ImportOutput[];
  folder: string;
}

/** POST `import/write`. */
export interface ImportWrite {
  batch: string;
  folder: string;
  overwrite?: boolean;
}

/** The answer to POST `import/write` and `start`. */
export interface ImportWritten {
  written: string[];
  /** The id of the agent's file. */
  agent?: string;
}

/** What became of a field. */
export interface ImportedField {
  file: string;
  pointer: string;
  status: string;
  destination?: string;
  note?: string;
}

/** A file of another application. */
export interface ImportedFile {
  name: string;
  format: string;
  findings: Finding[];
}

/** What does not fit a budget. */
export interface InfeasibleView {
  parts: UsagePart[];
  message: string;
}

/** What a stage did to a message. */
export interface LifeEvent {
  stage: string;
  kind: string;
  text: string;
}

/** GET `previews/{p}/life`. */
export interface LifeView {
  events: LifeEvent[];
  why: string[];
}

/** The answer to it. */
export interface LoggedIn {
  token: string;
  run: string;
  build: string;
  project: string;
}

/** POST `login`. */
export interface Login {
  code: string;
}

/** A macro. */
export interface MacroInfo {
  name: string;
  syntax: string;
  description: string;
  example?: string;
  aliases: string[];
}

/** The answer to POST `conversations/{f}/session`. */
export interface MadeSession {
  /** The id of the new file. */
  id: string;
}

/** POST `conversations/{f}/session`. */
export type MakeSession = Record<string, never>;

/** Whether a message is sent. */
export type MessageState = "sent" | "hidden" | "off";

/** A message of the active path. */
export interface MessageView {
  id: string;
  /** Its place on the path, from 1. */
  place: number;
  role: string;
  name?: string;
  text: string;
  isCut?: boolean;
  tokens: number;
  /** The calls that it makes, each as the name of the tool and its arguments. */
  calls?: string[];
  /** The names of the files that are sent with it. */
  attachments?: string[];
  state: MessageState;
  /** The summary that hides it. */
  hiddenBy?: string;
  branch?: BranchView;
  /** Of a summary: what it stands for. */
  summary?: SummaryFigures;
}

/** POST `conversations`: begins a conversation in the store. */
export interface NewConversation {
  /** Its title, at most 200 characters; absent means none. */
  name?: string;
  /** The conversation that it begins with; absent means an empty one. */
  from?: string;
}

/** Something that was noted about a summary. */
export interface NotedValue {
  key: string;
  value: string;
}

/** The answer to POST `import/discard`. */
export type Nothing = Record<string, never>;

/** What windows are told of by themselves. */
export interface Notice {
  run: string;
  seq: number;
  type: NoticeKind;
  /** The id of the file, or of the conversation. */
  id?: string;
  revision?: number;
  /** The window that did it, by its header `x-ctx-window`. */
  by?: string;
}

/** What has changed. */
export type NoticeKind = "draft" | "file" | "turn" | "project" | "resync";

/** Who set a value; later ones win, each entry whole. */
export type Origin = "built-in" | "user" | "model" | "agent" | "command-line";

/** A call that waits. */
export interface PendingCall {
  id: string;
  name: string;
  /** As the model wrote them. */
  arguments: string;
}

/** A part of a text that one source wrote. */
export interface PieceView {
  text: string;
  source: string;
  name: string;
  pointer?: string;
}

/** The answer to POST `pipeline`. */
export interface PipelineView {
  /** What holds for each processor, as they run. */
  settings: EffectiveSetting[];
  /** The files that may set processors, the highest first; those that are not there are left out. */
  layers: SettingsLayerView[];
  findings: Finding[];
}

/** The answer to POST `preview`. */
export interface Preview {
  id: string;
  /** The preview from which the lists and the tokens of entries tell only what differs; absent where they are whole. */
  since?: string;
  usage: UsageView;
  stable?: StableView;
  /** All items of a list, or what makes them of those of an earlier preview. */
  decisions: DecisionView[] | { splices: { at: number; remove: number; insert: DecisionView[]; }[]; total: number; };
  /** All items of a list, or what makes them of those of an earlier preview. */
  stages: StageView[] | { splices: { at: number; remove: number; insert: StageView[]; }[]; total: number; };
  /** All items of a list, or what makes them of those of an earlier preview. */
  findings: Finding[] | { splices: { at: number; remove: number; insert: Finding[]; }[]; total: number; };
  /** All items of a list, or what makes them of those of an earlier preview. */
  rows: Row[] | { splices: { at: number; remove: number; insert: Row[]; }[]; total: number; };
  /** Tokens of each entry of the agent that is sent, by pointer; of a difference, null for one that is sent no more. */
  entryTokens: Record<string, number | null>;
  /** The budget cannot be met: what cannot be left out. No error. */
  infeasible?: InfeasibleView;
}

/** POST `preview`. */
export interface PreviewRequest {
  /** The name of the window: a newer request of it ends the older one (409 with CTX1012), unless one of them is pinned. */
  window: string;
  /** The id of a file, whose draft counts. Without an id that of `ctx.toml` is meant; an empty id means none. */
  agent?: string;
  conversation?: string;
  profile?: string;
  worldbooks?: string[];
  /** The model's own settings of processors: the id of a file. */
  modelSettings?: string;
  /** Takes files as they are on disk, and not their drafts. */
  saved?: boolean;
  /** Keeps it beside the last 8 previews of the window; of pinned ones the last 4. */
  pin?: boolean;
  turn?: TurnSettings;
  /** Ids of processors. */
  enable?: string[];
  /** Ids of processors. */
  disable?: string[];
  /** The id of the last preview of this window: then the answer may tell only what differs from it. */
  have?: string;
}

/** A processor. */
export interface ProcessorInfo {
  id: string;
  name: string;
  description: string;
  priority: number;
  isCore: boolean;
  isOn: boolean;
  fields: ConfigField[];
}

/** GET `project`. */
export interface Project {
  name: string;
  /** The run of the server, and the last notice before this answer: a window hears of what comes after it. */
  run: string;
  seq: number;
  files: ProjectFile[];
  /** Whether there are more files than the limit: these are the first. */
  isCut: boolean;
  isReadOnly: boolean;
  /** The model that `ctx.toml` names. */
  model?: string;
  endpoint?: string;
  lang: "en" | "zh";
  defaults: Defaults;
  findings: Finding[];
}

/** A file of the folder. */
export interface ProjectFile {
  /** The id for `files/{f}`. */
  id: string;
  /** The path below the folder, with `/`. */
  path: string;
  kind: FileKind;
  /** Whether it is a conversation of the store: its path is its name then. */
  isStored?: boolean;
  bytes: number;
  /** Whether the draft differs from the file. */
  isDirty: boolean;
  /** Whether it cannot be written: a read-only folder, too long, or `--read-only`. */
  isReadOnly: boolean;
}

/** GET `registry`. */
export interface Registry {
  anchors: AnchorInfo[];
  macros: MacroInfo[];
  processors: ProcessorInfo[];
  models: string[];
  dialects: string[];
}

/** The part of a file that has to be written anew for edits that its text cannot express. */
export interface RewriteView {
  /** Of the list or object; empty for the whole file. */
  pointer: string;
  /** How many comments are lost by that. */
  comments: number;
}

/** A message, or what became of one that is not sent. */
export interface Row {
  /** The place in the request, 0-based; absent for what is not sent. After splices it is counted anew. */
  n?: number;
  /** A hash of all that the row shows but `n` and `row`: equal key, equal row. */
  key: string;
  role: string;
  /** The kind of the source that owns most of it: `preset`, `history`, `worldbook`, `input`, `summary`, … */
  source: string;
  /** The name a person knows: of an entry, a message or an anchor. */
  name: string;
  /** In the agent's file, where an entry is what it comes from. */
  pointer?: string;
  /** How it came to its place, for people: `in order`, `depth 3`, `anchor chat_history`. */
  place: string;
  tokens?: number;
  bytes: number;
  /** The first line, at most 200 characters. */
  head: string;
  /** For what is not sent: why. */
  dropped?: string;
  /** Its place in the list, 0-based, by which its text is asked for. After splices it is counted anew. */
  row: number;
}

/** The text of a row. */
export interface RowText {
  row: number;
  pieces: PieceView[];
  isCut?: boolean;
}

/** GET `previews/{p}/rows`. */
export interface RowTexts {
  rows: RowText[];
}

/** Messages one behind the other, up to a branching or an end. */
export interface RunView {
  /** The place of the run above in the list. */
  above?: number;
  first: string;
  last: string;
  messages: number;
  summaries: number;
  role: string;
  /** The beginning of its first message. */
  head: string;
  /** Whether it is on the active path. */
  isActive: boolean;
}

/** POST `files/{f}/save`. */
export interface Save {
  /** Writes over what another program wrote, after a 409 has told it. */
  overwrite?: boolean;
}

/** The answer to POST `worldbooks/scan`. */
export interface ScanView {
  books: ScannedBook[];
  /** Active entries as they became active, then the others. */
  entries: ScannedEntry[];
  /** The texts in which keys were found. */
  texts: ScannedText[];
  /** Why entries were considered, for each pass: `initial`, `recursion`, `min_activations`. */
  passes: string[];
  /** How many tokens entries may have; absent where that is not limited. */
  budget?: number;
  /** How many the active ones have. */
  tokens: number;
  isExact: boolean;
  /** The timed effects that the conversation keeps, with which the scan begins. */
  kept: string[];
  /** The timed effects that hold from then on. A scan does not keep them; a turn does. */
  timed: string[];
  findings: Finding[];
}

/** A book that was searched. */
export interface ScannedBook {
  name: string;
  /** The id of its file; absent where that is not in the folder. */
  file?: string;
  entries: number;
}

/** An entry as the scan left it. */
export interface ScannedEntry {
  /** The id by which reports name it. */
  id: string;
  book: string;
  file?: string;
  /** In its file. */
  pointer?: string;
  title?: string;
  /** `active`, or a word for what kept it out, as `ctx worldbook scan --json` has it. */
  state: string;
  why?: string;
  /** Where its text goes. */
  place: string;
  /** In which pass it became active, from 1. */
  pass?: number;
  tokens?: number;
  /** The keys that were found: the first, and a secondary one that decided. */
  hits: ScannedKey[];
}

/** A key that was found. */
export interface ScannedKey {
  key: string;
  /** Which of the texts; absent where that is neither a message nor an entry. */
  text?: number;
  /** Where in it. */
  spans: TextSpan[];
}

/** A text in which a key was found. */
export interface ScannedText {
  /** The message or the entry. */
  name: string;
  text: string;
  /** Whether it is longer than that. */
  isCut?: boolean;
}

/** A file that may set processors. */
export interface SettingsLayerView {
  origin: Origin;
  /** The id of the file. */
  file: string;
  /** The pointer of the object whose `processors` are the layer's settings. */
  base: string;
  /** The pointers of its entries, by the ids of processors. */
  entries: Record<string, string>;
}

/** How much a finding matters; the order is ascending. */
export type Severity = "info" | "warning" | "error";

/** A value and who set it. */
export interface Sourced {
  /** The value. */
  value: boolean;
  /** Who set it. */
  origin: Origin;
}

/** A value and who set it. */
export interface Sourced2 {
  /** The value. */
  value: number;
  /** Who set it. */
  origin: Origin;
}

/** What the next turn sends again as it is. */
export interface StableView {
  /** So many of the first messages are the same in the next turn. */
  messages: number;
  tokens: number;
  /** What ends that. */
  reason?: string;
}

/** What one stage did. */
export interface StageView {
  id: string;
  name: string;
  before: number;
  after: number;
  log: string[];
}

/** POST `start`. */
export type Start = Record<string, never>;

/** POST `files/{f}/undo`, `redo` and `discard`. */
export interface Step {
  /** With it, 409 where the draft has changed since. */
  base?: number;
}

/** The answer to it, and to POST `conversations/{f}/compress`. */
export interface StepTaken {
  hash: string;
  /** What happened, for people. */
  told: string;
  /** The message that it is about. */
  id?: string;
  /** What a step leaves: the part that the query names, as that of GET `conversations/{f}`, or the one around the
   * message that it is about. */
  view?: ConversationView;
}

/** POST `conversations/{f}/turn/stop`. */
export type StopTurn = Record<string, never>;

/** What a summary stands for. */
export interface SummaryFigures {
  messages: number;
  originalTokens: number;
  tokens: number;
  /** In milliseconds since 1970. */
  atMillis?: number;
}

/** Which summary a model is to write. */
export type SummaryOf = { kind: "range"; range: CompressRange; } | { kind: "again"; id: string; };

/** GET `conversations/{f}/summaries/{n}`. */
export interface SummaryView {
  /** Its figures in a sentence. */
  told: string;
  text: string;
  figures: SummaryFigures;
  /** How it was made, as it was noted. */
  made: NotedValue[];
  /** How many facts of each kind it kept, lost and made up. */
  kinds: FactCounts[];
  /** What it lost, at most 500. */
  lost: FactView[];
  /** What it says and the messages do not, at most 500. */
  invented: FactView[];
}

/** A summary that a model writes, or has written. */
export interface SummaryWork {
  of: SummaryOf;
  /** Which request the model answers, from 1. */
  request: number;
  /** How many there are, as far as that is known. */
  requests: number;
  /** The step that it became. */
  taken?: StepTaken;
}

/** POST `conversations/{f}/steps`. */
export interface TakeStep {
  /** The hash that the page saw. */
  base: string;
  step: ConversationStep;
  /** The id of the agent whose settings of summaries count. */
  agent?: string;
}

/** A range of a text: in bytes of UTF-8, and in units of UTF-16. */
export interface TextSpan {
  /** The first byte. */
  start: number;
  /** The byte behind the last. */
  end: number;
  /** The first unit of UTF-16. */
  from: number;
  /** The unit behind the last. */
  to: number;
}

/** A part of a text that another takes the place of. */
export interface TextSplice {
  /** The first unit of UTF-16 that goes. */
  from: number;
  /** The unit behind the last. */
  to: number;
  text: string;
}

/** GET `conversations/{f}/tree`: runs of messages without branches, parents before children. */
export interface TreeView {
  runs: RunView[];
  /** Whether there are more runs than are told. */
  isCut: boolean;
}

/** The answer to POST `conversations/{f}/turns` and `conversations/{f}/summaries`. */
export interface TurnBegun {
  /** The number of the turn, or of the summary that is written; none where nothing is sent. */
  turn?: number;
  /** The request that would be sent, byte for byte, if only that was asked for. */
  body?: string;
}

/** What the moment of a turn gives. */
export interface TurnSettings {
  input?: string;
  /** RFC 3339. */
  at?: string;
  tz?: string;
  seed?: number;
  model?: string;
  contextTokens?: number;
  reserve?: number;
  kind?: string;
}

/** GET `conversations/{f}/turn?turn=&from=`: the latest turn, and of its words those that the page does not have. */
export interface TurnView {
  /** The number of the turn; 0 if there was none. */
  turn: number;
  isRunning: boolean;
  /** How many bytes of the answer the page must have before `text`. */
  from: number;
  text: string;
  /** How many bytes it has then. */
  length: number;
  /** What happened on the way. */
  notes: string[];
  /** A call that waits until somebody agrees. */
  call?: PendingCall;
  /** Why it went no further. */
  failure?: string;
  /** Where it is no answer but a summary. */
  summary?: SummaryWork;
}

/** Tokens of one kind. */
export interface UsagePart {
  name: string;
  tokens: number;
}

/** What is used of the budget. */
export interface UsageView {
  tokens?: number;
  limit?: number;
  reserved?: number;
  /** Whether every figure comes from the model's own tokenizer. */
  isExact: boolean;
  parts: UsagePart[];
}

/** Words that stayed, came or went. */
export interface WordChange {
  kind: ChangeKind;
  text: string;
}
