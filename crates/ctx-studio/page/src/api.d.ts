// What the server says and takes: made of `api.schema.json` by `cargo xtask studio --types`.
//
// All requests but `login` carry `Authorization: Bearer TOKEN`; `accept-language: en|zh` chooses the language of an
// answer, `x-ctx-window` names the window. Every answer has the header `x-ctx-build`; a page of another build asks to be
// loaded anew.

/** An anchor of a preset. */
export interface AnchorInfo {
  id: string;
  name: string;
  description: string;
  kind: AnchorKind;
  role: string;
  /** Default text of a template anchor. */
  template?: string;
  hint?: string;
}

/** Whether an anchor has a text. */
export type AnchorKind = "template" | "placeholder";

/** A stored file that can be attached to a message. Response of POST `conversations/{f}/attachments?name=`. */
export interface AttachedFile {
  /** File name of the user. */
  name: string;
  /** Path, as stored in messages. */
  path: string;
  bytes: number;
}

/** Request of POST `conversations/{f}/summaries`: starts a summary by a model. It is reported and stopped
 * like a reply. */
export interface BeginSummary {
  /** Settings that choose the model. The turn itself does not run. */
  with: BeginTurn;
  summary: SummaryOf;
}

/** Request of POST `conversations/{f}/turns`. */
export interface BeginTurn {
  /** Hash of the file that the page last read. */
  base: string;
  agent?: string;
  profile?: string;
  worldbooks?: string[];
  /** Settings of the turn. `input` is the user's message; without it, the model answers the pending
   * message. */
  turn?: TurnSettings;
  /** Attachments of the user's message. */
  attachments?: AttachedFile[];
  /** Returns the request without sending it. */
  dryRun?: boolean;
}

/** Response of GET `previews/{p}/body`. */
export interface BodyView {
  dialect: string;
  /** Exact request body. */
  text: string;
  findings: Finding[];
}

/** The position of a message among its siblings. */
export interface BranchView {
  /** Position, from 1. */
  at: number;
  of: number;
  before?: string;
  after?: string;
}

/** A planned break: the request does not repeat the whole previous request. */
export interface BreakView {
  reason: string;
  /** Tokens that the provider reads without its cache. */
  tokens: number;
}

/** Request of POST `conversations/{f}/turn/call`. */
export interface CallVerdict {
  /** Id of the tool call. */
  id: string;
  allow: boolean;
  /** Reason for a denial, sent to the model. */
  reason?: string;
}

/** The difference between rows or words of two contexts. */
export type ChangeKind = "same" | "changed" | "added" | "removed";

/** An entry that the draft and another program changed. A missing version is a removed entry. */
export interface Clash {
  /** Name for `resolve`: keys and ids, each after `/`. Empty for the whole file; its versions are texts. */
  place: string;
  mine?: unknown;
  theirs?: unknown;
}

/** Response of GET `codes/{c}`: the explanation of a diagnostic code. */
export interface CodeView {
  code: string;
  title: string;
  cause: string;
  example: string;
  /** File name of the example, if the example is a complete file. */
  file?: string;
  /** Command that reports the diagnostic. */
  shownBy?: string;
  wayOut: string;
}

/** Request of POST `compare`. */
export interface CompareRequest {
  a: string;
  b: string;
}

/** Response of POST `compare`. */
export interface Compared {
  sharedMessages: number;
  sharedTokens?: number;
  messages: [number, number];
  tokens?: [number, number];
  /** Tokens that a provider with a prompt cache bills again. */
  again?: number;
  /** The first byte that differs. */
  difference?: DifferenceView;
  rows: ComparedRow[];
}

/** Matching rows of two contexts. */
export interface ComparedRow {
  kind: ChangeKind;
  a?: number;
  b?: number;
  words?: WordChange[];
}

/** The messages to summarize. */
export type CompressRange = { kind: "all"; } | { kind: "auto"; } | { kind: "rollUp"; } | { kind: "between"; from: string; to: string; };

/** Request of POST `conversations/{f}/plan` and `conversations/{f}/compress`. */
export interface CompressRequest {
  /** Hash of the file that the page last read. A plan is only valid for this text. */
  base: string;
  /** Id of the agent whose settings override `ctx.toml`. */
  agent?: string;
  range?: CompressRange;
}

/** A file that can set compression. */
export interface CompressionLayer {
  origin: Origin;
  file: string;
  /** JSON pointer of the object with the settings. */
  base: string;
}

/** A compression plan. */
export interface CompressionPlan {
  /** Plan in words, or the reason why nothing can be compressed. */
  told: string;
  /** Whether there is something to compress. */
  isNeeded: boolean;
  /** Ids of the messages to hide. */
  ids: string[];
  /** Ids of the summaries to merge with them. */
  summaries: string[];
  /** Tokens of the messages to hide. */
  tokens: number;
  /** Whether automatic compression would run now, in words. */
  trigger: string;
  fires: boolean;
}

/** Request of POST `compression`. */
export interface CompressionRequest {
  /** Id of the agent. */
  agent?: string;
}

/** The compression settings. Each key has the value of the highest layer that sets it. */
export interface CompressionSettings {
  fields: ConfigField[];
  values: ConfigValue[];
  /** Files that can set them, highest first. */
  layers: CompressionLayer[];
  findings: Finding[];
}

/** The settings of one processor: the value of each field, then unknown keys. */
export type Config = ConfigValue[];

/** A setting of a processor or a feature, with the data that a settings page needs. */
export interface ConfigField {
  /** JSON key of the setting. */
  key: string;
  /** Display title. */
  label: string;
  /** Description of the effect for users. */
  description?: string;
  /** Type of the values. */
  type: FieldKind;
  /** Placeholder of an empty input. */
  placeholder?: string;
  /** Default value. */
  default: unknown;
  /** Choices of a [`FieldKind::Select`]. */
  options?: FieldOption[];
  /** Minimum of a number. */
  minimum?: number;
  /** Maximum of a number. */
  maximum?: number;
  /** Whether a number must be an integer. */
  isWhole?: boolean;
  /** Whether blank text is invalid. */
  isRequired: boolean;
}

/** A setting of a processor. */
export interface ConfigValue {
  /** Key of the setting. */
  key: string;
  /** Value. */
  value: unknown;
  /** Origin of the value. */
  origin: Origin;
}

/** An operation on a conversation. Operations are recorded in the log and can be undone. */
export type ConversationStep = { kind: "edit"; id: string; text: string; } | { kind: "branch"; id: string; text: string; } | { kind: "append"; role: string; text: string; } | { kind: "activate"; id: string; } | { kind: "toggle"; id: string; enabled: boolean; } | { kind: "remove"; id: string; } | { kind: "regenerate"; id: string; } | { kind: "undo"; } | { kind: "redo"; };

/** Response of GET `conversations/{f}?from=&to=&open=&at=`: messages of the active branch. Messages hidden by
 * a summary are omitted unless the summary is open. */
export interface ConversationView {
  /** Hash of the file, for the `base` of operations. */
  hash: string;
  /** Number of messages to show. */
  total: number;
  /** Index of the first item of `rows` among them. */
  from: number;
  rows: MessageView[];
  /** Texts that append-only requests inserted next to `rows`, in order. */
  inserted?: InsertedText[];
  /** Names of operations to undo, latest first. */
  undo: string[];
  /** Names of operations to redo. */
  redo: string[];
  /** Reason why the conversation is read-only. */
  fixed?: string;
  /** Whether the file is a list of messages, which can be converted to a session. */
  isList: boolean;
}

/** A decision about a message: sent, moved, merged, or dropped, with the reason. */
export interface DecisionView {
  /** Source of the message, such as `history:n3`. */
  code: string;
  /** Outcome, in the language of the request. */
  kind: string;
  message: string;
  rows: number[];
}

/** Ids of the files that `ctx.toml` sets for every turn. */
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

/** Request of POST `conversations/{f}/attachments/discard`: deletes a file that no message or other window
 * uses. */
export interface DiscardAttached {
  path: string;
}

/** A change at a JSON pointer. */
export type Edit = { op: "set"; pointer: string; value: unknown; } | { op: "remove"; pointer: string; } | { op: "insert"; pointer: string; value: unknown; } | { op: "move"; pointer: string; to: string; } | { op: "rename"; pointer: string; name: string; };

/** Response of POST `files/{f}/edits`: the change, if the page can apply its value edits itself, or the whole
 * file. */
export type Edited = FileChange | FileView;

/** Request of POST `files/{f}/edits`: edits of values, or a replacement of the whole text. */
export interface Edits {
  /** Revision that the page last read: 409 if the draft has another one. */
  base: number;
  /** Random id. Edits with the same id are applied only once. */
  id: string;
  edits?: Edit[];
  /** New text of the whole file, for changes that value edits cannot express. */
  text?: string;
  /** Rewrites the part of the file named in the rejection of these edits. */
  rewrite?: boolean;
}

/** The settings of one processor after all layers. */
export interface EffectiveSetting {
  /** Processor id. */
  id: string;
  /** Layer of the entry that applies. Missing if no layer has an entry. */
  decidedBy?: Origin;
  /** Other layers with an entry, highest first. Their entries are ignored. */
  overrules?: Origin[];
  /** Whether the processor runs. */
  enabled: Sourced;
  /** Position in the run: processors run in ascending priority. */
  priority: Sourced2;
  /** Settings in the order of the processor's fields, then unknown keys. */
  config: Config;
}

/** Request of POST `expand`. */
export interface ExpandRequest {
  text: string;
  agent?: string;
  conversation?: string;
  profile?: string;
  turn?: TurnSettings;
}

/** Response of POST `expand`. */
export interface Expanded {
  text: string;
  pieces: PieceView[];
  findings: Finding[];
}

/** The numbers of facts of one kind. */
export interface FactCounts {
  /** Kind of fact, such as `date`. */
  kind: string;
  kept: number;
  lost: number;
  invented: number;
}

/** A fact with its location. */
export interface FactView {
  /** Kind of fact, such as `date`. */
  kind: string;
  text: string;
  /** Id of the message. */
  id?: string;
  /** Range in the message's text. */
  span?: TextSpan;
}

/** The body of every error response. */
export interface Failure {
  code: string;
  message: string;
  help?: string;
  findings?: Finding[];
  /** Current file, if it was changed since it was read. */
  theirs?: FileView;
  /** Part of the file to rewrite. The rejected edits work if sent again with `rewrite`. */
  rewrite?: RewriteView;
}

/** The numbers of fields by status. */
export interface FieldCounts {
  /** Fields converted with the same meaning. */
  mapped: number;
  /** Fields converted with nearly the same meaning. */
  approximated: number;
  /** Fields kept unchanged, without effect. */
  kept: number;
  /** Fields not kept. */
  unsupported: number;
}

/** The type of a field's values. */
export type FieldKind = "text" | "number" | "boolean" | "select" | "list";

/** A choice of a field. */
export interface FieldOption {
  /** Display title. */
  label: string;
  /** Stored value, of any JSON type. */
  value: unknown;
}

/** The change of the text by value edits. Apply the edits to the previous value to get the new one. GET
 * `files/{f}/findings` returns the diagnostics; request them when the user stops typing. */
export interface FileChange {
  /** New revision: `base` of the edits plus 1. */
  revision: number;
  isDirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  splice: TextSplice;
}

/** Response of GET `files/{f}/findings`. */
export interface FileFindings {
  /** Revision of the checked draft. */
  revision: number;
  findings: Finding[];
}

/** The kind of a file. */
export type FileKind = "agent" | "preset" | "profile" | "worldbook" | "conversation" | "settings" | "config" | "other";

/** Response of GET `files/{f}` and of all changes other than edits. */
export interface FileView {
  id: string;
  path: string;
  kind: FileKind;
  /** SHA-256 of the file's bytes when read; also the `ETag` for `save`. */
  hash: string;
  /** Number of edits of the draft, including undo and redo. */
  revision: number;
  isDirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  /** Text of the draft. */
  text: string;
  /** JSON value of the draft. Missing if the text is invalid; structured editing is then disabled. */
  value?: unknown;
  findings: Finding[];
  isReadOnly: boolean;
  /** Whether `text` is truncated. */
  isCut?: boolean;
  /** Number of list items missing from `value`. Set if the file is too large to edit; only its first part
   * is shown. */
  more?: number;
  /** Changes of another program that need a decision: `resolve`. */
  outside?: Outside;
  /** Whether the file was deleted. */
  isGone?: boolean;
}

/** A diagnostic of a file: an error, a warning, or an info. */
export interface Finding {
  code: string;
  severity: Severity;
  message: string;
  /** Suggested fix. */
  help?: string;
  /** File name, as in results. */
  file?: string;
  /** JSON pointer of the value. */
  pointer?: string;
  /** Range in the text of the draft. */
  span?: TextSpan;
  /** From 1, as `ctx check` prints it. */
  line?: number;
  /** From 1, as `ctx check` prints it. */
  column?: number;
  /** Whether POST `files/{f}/fix` with this `index` can apply the fix. */
  fixable?: boolean;
  index: number;
}

/** Request of POST `files/{f}/fix`. */
export interface Fix {
  base: number;
  /** `index` of the diagnostic. */
  index: number;
}

/** Request of POST `import/discard`. */
export interface ImportDiscard {
  batch: string;
}

/** A file to write. */
export interface ImportOutput {
  path: string;
  bytes: number;
  exists: boolean;
}

/** Response of POST `import`. */
export interface ImportView {
  batch: string;
  files: ImportedFile[];
  /** Output lines of `ctx import`. */
  lines: string[];
  counts: FieldCounts;
  fields: ImportedField[];
  /** Number of fields that are not listed. */
  moreFields: number;
  /** Files that `import/write` would write below `folder`. */
  writes: ImportOutput[];
  folder: string;
}

/** Request of POST `import/write`. */
export interface ImportWrite {
  batch: string;
  folder: string;
  overwrite?: boolean;
}

/** Response of POST `import/write` and `start`. */
export interface ImportWritten {
  written: string[];
  /** Id of the agent file. */
  agent?: string;
}

/** The conversion result of the fields at one path. */
export interface ImportedField {
  file: string;
  pointer: string;
  status: string;
  destination?: string;
  note?: string;
  /** Number of values. */
  count: number;
}

/** A file of another application. */
export interface ImportedFile {
  name: string;
  format: string;
  findings: Finding[];
}

/** The parts that do not fit the budget. */
export interface InfeasibleView {
  parts: UsagePart[];
  message: string;
}

/** A text of an append-only request that is not from the conversation. Later requests repeat it. */
export interface InsertedText {
  /** Id of the message that follows. Missing at the end of the conversation. */
  before?: string;
  /** Kind of the source: `preset`, `worldbook`, … */
  source: string;
  /** Display name of the entry. */
  name: string;
  tokens: number;
  text: string;
  isCut?: boolean;
}

/** A change of a message by a processor. */
export interface LifeEvent {
  stage: string;
  kind: string;
  text: string;
}

/** Response of GET `previews/{p}/life`: the trace of a message. */
export interface LifeView {
  events: LifeEvent[];
  why: string[];
}

/** Response of POST `login`. */
export interface LoggedIn {
  token: string;
  run: string;
  build: string;
  project: string;
}

/** Request of POST `login`. */
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

/** Response of POST `conversations/{f}/session`. */
export interface MadeSession {
  /** Id of the new file. */
  id: string;
}

/** Request of POST `conversations/{f}/session`. */
export type MakeSession = Record<string, never>;

/** Whether a message is sent. */
export type MessageState = "sent" | "hidden" | "off";

/** A message of the active branch. */
export interface MessageView {
  id: string;
  /** Position in the branch, from 1. */
  place: number;
  role: string;
  name?: string;
  text: string;
  isCut?: boolean;
  tokens: number;
  /** Tool calls of the message, each with tool name and arguments. */
  calls?: string[];
  /** Names of the attachments. */
  attachments?: string[];
  state: MessageState;
  /** Id of the summary that hides the message. */
  hiddenBy?: string;
  branch?: BranchView;
  /** Token and message counts, for a summary. */
  summary?: SummaryFigures;
}

/** Request of POST `conversations`: creates a conversation in the store. */
export interface NewConversation {
  /** Title, at most 200 characters. Default: none. */
  name?: string;
  /** Id of the conversation to copy. Default: an empty conversation. */
  from?: string;
}

/** A recorded detail of a summary. */
export interface NotedValue {
  key: string;
  value: string;
}

/** Response of POST `import/discard`. */
export type Nothing = Record<string, never>;

/** A notice that the server sends to all windows. */
export interface Notice {
  run: string;
  seq: number;
  type: NoticeKind;
  /** Id of the file or conversation. */
  id?: string;
  revision?: number;
  /** Window that made the change, from its header `x-ctx-window`. */
  by?: string;
}

/** The kind of change. */
export type NoticeKind = "draft" | "file" | "turn" | "project" | "resync";

/** The origin of a value. Later origins override entire entries of earlier ones. */
export type Origin = "built-in" | "user" | "model" | "agent" | "command-line";

/** The file as another program wrote it, where it changed entries that the draft changes too. */
export interface Outside {
  /** SHA-256 of the file's bytes. */
  hash: string;
  clashes: Clash[];
}

/** A tool call that waits for approval. */
export interface PendingCall {
  id: string;
  name: string;
  /** Arguments as the model wrote them. */
  arguments: string;
}

/** A part of a text from one source. */
export interface PieceView {
  text: string;
  source: string;
  name: string;
  pointer?: string;
}

/** Response of POST `pipeline`. */
export interface PipelineView {
  /** Effective settings of each processor, in run order. */
  settings: EffectiveSetting[];
  /** Existing files that can set processors, highest first. */
  layers: SettingsLayerView[];
  findings: Finding[];
}

/** The part of an append-only request that repeats the previous request. */
export interface PrefixView {
  /** Number of repeated messages. */
  messages: number;
  tokens: number;
  /** Missing if the request repeats the whole previous request, or if there is no previous request. */
  plannedBreak?: BreakView;
}

/** Response of POST `preview`. */
export interface Preview {
  id: string;
  /** Id of the earlier preview that the lists and `entryTokens` are relative to. Missing if they are
   * complete. */
  since?: string;
  usage: UsageView;
  stable?: StableView;
  /** Missing unless the request is append-only. */
  prefix?: PrefixView;
  /** All items of a list, or the splices that convert an earlier preview's list. */
  decisions: DecisionView[] | { splices: { at: number; remove: number; insert: DecisionView[]; }[]; total: number; };
  /** All items of a list, or the splices that convert an earlier preview's list. */
  stages: StageView[] | { splices: { at: number; remove: number; insert: StageView[]; }[]; total: number; };
  /** All items of a list, or the splices that convert an earlier preview's list. */
  findings: Finding[] | { splices: { at: number; remove: number; insert: Finding[]; }[]; total: number; };
  /** All items of a list, or the splices that convert an earlier preview's list. */
  rows: Row[] | { splices: { at: number; remove: number; insert: Row[]; }[]; total: number; };
  /** Tokens of each sent agent entry, by JSON pointer. In a difference, `null` marks an entry that is no
   * longer sent. */
  entryTokens: Record<string, number | null>;
  /** Required parts that exceed the budget. The response is not an error. */
  infeasible?: InfeasibleView;
}

/** Request of POST `preview`. */
export interface PreviewRequest {
  /** Name of the window. A newer request of the same window cancels the older one (409 with CTX1012),
   * unless one of them is pinned. */
  window: string;
  /** Id of a file, whose draft is used. Default: from `ctx.toml`. An empty id means no file. */
  agent?: string;
  conversation?: string;
  profile?: string;
  worldbooks?: string[];
  /** Id of the file with the model's processor settings. */
  modelSettings?: string;
  /** Uses the saved files instead of the drafts. */
  saved?: boolean;
  /** Pins the preview. The server keeps the last 8 previews of a window and the last 4 pinned ones. */
  pin?: boolean;
  turn?: TurnSettings;
  /** Ids of processors. */
  enable?: string[];
  /** Ids of processors. */
  disable?: string[];
  /** Id of the window's last preview. The response can then contain only the differences. */
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

/** Response of GET `project`. */
export interface Project {
  name: string;
  /** Id of the server run. With `seq`, it is the last notice before this response; later notices are sent
   * to the window. */
  run: string;
  seq: number;
  files: ProjectFile[];
  /** Whether `files` is truncated to the limit. */
  isCut: boolean;
  isReadOnly: boolean;
  /** Model in `ctx.toml`. */
  model?: string;
  endpoint?: string;
  lang: "en" | "zh";
  defaults: Defaults;
  findings: Finding[];
}

/** A file of the project. */
export interface ProjectFile {
  /** Id for `files/{f}`. */
  id: string;
  /** Path relative to the folder, with `/`. */
  path: string;
  kind: FileKind;
  /** Whether it is a conversation in the store. `path` is then its name. */
  isStored?: boolean;
  bytes: number;
  /** Whether the draft differs from the file. */
  isDirty: boolean;
  /** Whether the file is read-only: because of the folder, its size, or `--read-only`. */
  isReadOnly: boolean;
}

/** Response of GET `registry`. */
export interface Registry {
  anchors: AnchorInfo[];
  macros: MacroInfo[];
  processors: ProcessorInfo[];
  models: string[];
  dialects: string[];
}

/** Request of POST `files/{f}/resolve`: takes the file as another program wrote it, with the draft's version of each
 * clashing entry that `theirs` does not name. */
export interface Resolve {
  /** Revision that the page last read. */
  base: number;
  /** `hash` of `outside`. */
  hash: string;
  /** Places of clashes whose version in the file is taken. */
  theirs: string[];
}

/** The part of a file to rewrite for edits that cannot keep its formatting. */
export interface RewriteView {
  /** JSON pointer of the list or object; empty for the whole file. */
  pointer: string;
  /** Number of comments that are lost. */
  comments: number;
}

/** A message, sent or not. */
export interface Row {
  /** Index in the request, from 0. Missing if not sent. Recount after applying splices. */
  n?: number;
  /** Hash of all fields except `n` and `row`. Rows with equal keys are equal. */
  key: string;
  role: string;
  /** Kind of the main source: `preset`, `history`, `worldbook`, `input`, `summary`, … */
  source: string;
  /** Display name of the entry, message, or anchor. */
  name: string;
  /** JSON pointer of the entry in the agent file. Missing for other sources. */
  pointer?: string;
  /** Placement for display: `in order`, `depth 3`, `anchor chat_history`. */
  place: string;
  tokens?: number;
  bytes: number;
  /** First line, at most 200 characters. */
  head: string;
  /** Reason why the message is not sent. */
  dropped?: string;
  /** Index in the list, from 0, used to request the text. Recount after applying splices. */
  row: number;
}

/** The text of a row. */
export interface RowText {
  row: number;
  pieces: PieceView[];
  isCut?: boolean;
}

/** Response of GET `previews/{p}/rows`. */
export interface RowTexts {
  rows: RowText[];
}

/** Consecutive messages up to a branch point or a leaf. */
export interface RunView {
  /** Index of the parent run in the list. */
  above?: number;
  first: string;
  last: string;
  messages: number;
  summaries: number;
  role: string;
  /** First words of the first message. */
  head: string;
  /** Whether the run is in the active branch. */
  isActive: boolean;
}

/** Request of POST `files/{f}/save`. */
export interface Save {
  /** Writes a deleted file again, after a 409 reported that. */
  overwrite?: boolean;
}

/** Response of POST `worldbooks/scan`. */
export interface ScanView {
  books: ScannedBook[];
  /** Active entries in order of activation, then the others. */
  entries: ScannedEntry[];
  /** Texts with matched keys. */
  texts: ScannedText[];
  /** Reason for each pass: `initial`, `recursion`, or `min_activations`. */
  passes: string[];
  /** Token limit of all entries. Missing if unlimited. */
  budget?: number;
  /** Tokens of the active entries. */
  tokens: number;
  isExact: boolean;
  /** Stored timed effects of the conversation at the start of the scan. */
  kept: string[];
  /** Timed effects after the scan. Only a turn stores them. */
  timed: string[];
  findings: Finding[];
}

/** A scanned worldbook. */
export interface ScannedBook {
  name: string;
  /** Id of its file. Missing if the file is not in the folder. */
  file?: string;
  entries: number;
}

/** The scan result of an entry. */
export interface ScannedEntry {
  /** Id in reports. */
  id: string;
  book: string;
  file?: string;
  /** JSON pointer in the file. */
  pointer?: string;
  title?: string;
  /** `active`, or the reason for being inactive, as in `ctx worldbook scan --json`. */
  state: string;
  why?: string;
  /** Place of the text. */
  place: string;
  /** Pass that activated the entry, from 1. */
  pass?: number;
  tokens?: number;
  /** Matched keys: the first primary key, and the secondary key that decided. */
  hits: ScannedKey[];
}

/** A matched key. */
export interface ScannedKey {
  key: string;
  /** Index in `texts`. Missing if the text is neither a message nor an entry. */
  text?: number;
  /** Ranges in the text. */
  spans: TextSpan[];
}

/** A text with matched keys. */
export interface ScannedText {
  /** Name of the message or entry. */
  name: string;
  text: string;
  /** Whether `text` is truncated. */
  isCut?: boolean;
}

/** A file that can set processors. */
export interface SettingsLayerView {
  origin: Origin;
  /** Id of the file. */
  file: string;
  /** JSON pointer of the object with the key `processors`. */
  base: string;
  /** JSON pointers of the entries, by processor id. */
  entries: Record<string, string>;
}

/** The severity of a diagnostic, in ascending order. */
export type Severity = "info" | "warning" | "error";

/** A value with its origin. */
export interface Sourced {
  /** Value. */
  value: boolean;
  /** Origin of the value. */
  origin: Origin;
}

/** A value with its origin. */
export interface Sourced2 {
  /** Value. */
  value: number;
  /** Origin of the value. */
  origin: Origin;
}

/** The prefix that the next turn repeats unchanged. */
export interface StableView {
  /** Number of leading messages that the next turn repeats. */
  messages: number;
  tokens: number;
  /** Reason for the end of the prefix. */
  reason?: string;
}

/** The step of one processor. */
export interface StageView {
  id: string;
  name: string;
  before: number;
  after: number;
  log: string[];
}

/** Request of POST `start`. */
export type Start = Record<string, never>;

/** Request of POST `files/{f}/undo`, `redo`, and `discard`. */
export interface Step {
  /** Expected revision: 409 if the draft has another one. */
  base?: number;
}

/** Response of POST `conversations/{f}/steps` and `conversations/{f}/compress`. */
export interface StepTaken {
  hash: string;
  /** Result, for display. */
  told: string;
  /** Id of the affected message. */
  id?: string;
  /** Conversation after the operation: the part selected by the query, as in GET `conversations/{f}`, or
   * the part around the affected message. */
  view?: ConversationView;
}

/** Request of POST `conversations/{f}/turn/stop`. */
export type StopTurn = Record<string, never>;

/** Counts of a summary and of the messages that it replaces. */
export interface SummaryFigures {
  messages: number;
  originalTokens: number;
  tokens: number;
  /** Time of creation, in milliseconds since 1970. */
  atMillis?: number;
}

/** The summary to write. */
export type SummaryOf = { kind: "range"; range: CompressRange; } | { kind: "again"; id: string; };

/** Response of GET `conversations/{f}/summaries/{n}`. */
export interface SummaryView {
  /** Counts in one sentence. */
  told: string;
  text: string;
  figures: SummaryFigures;
  /** Recorded details of its creation. */
  made: NotedValue[];
  /** Numbers of kept, lost, and invented facts by kind. */
  kinds: FactCounts[];
  /** Lost facts, at most 500. */
  lost: FactView[];
  /** Facts that are not in the messages, at most 500. */
  invented: FactView[];
}

/** The progress of a summary by a model. */
export interface SummaryWork {
  of: SummaryOf;
  /** Number of the current request, from 1. */
  request: number;
  /** Number of requests, as far as known. */
  requests: number;
  /** Resulting operation. */
  taken?: StepTaken;
}

/** Request of POST `conversations/{f}/steps`. */
export interface TakeStep {
  /** Hash of the file that the page last read. */
  base: string;
  step: ConversationStep;
  /** Id of the agent whose summary settings apply. */
  agent?: string;
}

/** A range of a text, in UTF-8 bytes and in UTF-16 units. */
export interface TextSpan {
  /** First byte. */
  start: number;
  /** End in bytes, exclusive. */
  end: number;
  /** First UTF-16 unit. */
  from: number;
  /** End in UTF-16 units, exclusive. */
  to: number;
}

/** A replacement in a text. */
export interface TextSplice {
  /** First replaced UTF-16 unit. */
  from: number;
  /** End in UTF-16 units, exclusive. */
  to: number;
  text: string;
}

/** Response of GET `conversations/{f}/tree`: runs of messages without branches, parents before children. */
export interface TreeView {
  runs: RunView[];
  /** Whether `runs` is truncated. */
  isCut: boolean;
}

/** Response of POST `conversations/{f}/turns` and `conversations/{f}/summaries`. */
export interface TurnBegun {
  /** Number of the turn or summary. Missing if nothing is sent. */
  turn?: number;
  /** Exact request body, for a dry run. */
  body?: string;
}

/** The settings of a turn. */
export interface TurnSettings {
  input?: string;
  /** Time of the turn (RFC 3339). */
  at?: string;
  tz?: string;
  seed?: number;
  model?: string;
  contextTokens?: number;
  reserve?: number;
  kind?: string;
  /** Prefix mode: `moving`, `append-only` or `auto`. Default: the agent's. */
  prefix?: string;
}

/** Response of GET `conversations/{f}/turn?turn=&from=`: the latest turn with the text that the page does not
 * have yet. */
export interface TurnView {
  /** Number of the turn; 0 before the first turn. */
  turn: number;
  isRunning: boolean;
  /** Bytes of the reply before `text`. */
  from: number;
  text: string;
  /** Bytes of the reply up to the end of `text`. */
  length: number;
  /** Events during the turn. */
  notes: string[];
  /** Tool call that waits for approval. */
  call?: PendingCall;
  /** Reason for the failure. */
  failure?: string;
  /** Summary, if the turn writes one instead of a reply. */
  summary?: SummaryWork;
}

/** The tokens of one kind. */
export interface UsagePart {
  name: string;
  tokens: number;
}

/** Token usage and budget. */
export interface UsageView {
  tokens?: number;
  limit?: number;
  reserved?: number;
  /** Whether all counts are from the model's own tokenizer. */
  isExact: boolean;
  parts: UsagePart[];
}

/** Equal, added, or removed words. */
export interface WordChange {
  kind: ChangeKind;
  text: string;
}
