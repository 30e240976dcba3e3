// What the server says and takes: the JSON of every route below `/api`.
//
// All requests but `login` carry `Authorization: Bearer TOKEN`; bodies are `application/json` (`import`:
// `application/octet-stream`). Every answer has the header `x-ctx-build`; a page of another build asks to be loaded
// anew. Places are given twice: in bytes of UTF-8 (`start`, `end`) and in UTF-16 units (`from`, `to`).
// `accept-language: en|zh` chooses the language of an answer, `x-ctx-window` names the window.

/** The severity of a finding. */
export type Severity = "error" | "warning" | "info";

/** Something that is wrong in a file, or worth knowing. Its text is in the language of the request. */
export interface Finding {
  code: string;
  severity: Severity;
  message: string;
  /** What to do about it. */
  help?: string;
  /** The file that it is about: its path below the folder. */
  file?: string;
  /** The JSON pointer of the value that it is about. */
  pointer?: string;
  /** Where in the text of the draft. */
  span?: Span;
  /** 1-based, as `ctx check` prints them. */
  line?: number;
  column?: number;
  /** There is an edit that fixes it: POST `files/{f}/fix` with this finding's `index`. */
  fixable?: boolean;
  index: number;
}

export interface Span { start: number; end: number; from: number; to: number }

/** Every failure: a status from 400 on, and this body. */
export interface Failure { code: string; message: string; help?: string; findings?: Finding[]; theirs?: FileView }

// --- POST login ---------------------------------------------------------------------------------------------------
export interface Login { code: string }
export interface LoggedIn { token: string; run: string; build: string; project: string }

// --- GET project --------------------------------------------------------------------------------------------------
export type FileKind =
  | "agent" | "preset" | "profile" | "worldbook" | "conversation" | "settings" | "config" | "other";
export interface ProjectFile {
  /** The id for `files/{f}`. */
  id: string;
  /** The path below the folder, with `/`. */
  path: string;
  kind: FileKind;
  bytes: number;
  /** The draft differs from the file. */
  isDirty: boolean;
  /** It cannot be written (read-only folder, a link, too long, or `--read-only`). */
  isReadOnly: boolean;
}
export interface Project {
  name: string;
  files: ProjectFile[];
  /** More files than the limit: these are the first. */
  isCut: boolean;
  isReadOnly: boolean;
  /** The name of the model that `ctx.toml` or an option gives, if any. */
  model?: string;
  endpoint?: string;
  lang: "en" | "zh";
  /** Ids of the files that `ctx.toml` names for every turn. */
  defaults: { agent?: string; conversation?: string; profile?: string; worldbooks: string[] };
  findings: Finding[];
}

// --- GET registry?agent= ------------------------------------------------------------------------------------------
export interface AnchorInfo {
  id: string;
  name: string;
  description: string;
  /** A template anchor has a text; a placeholder is where the engine puts messages. */
  kind: "template" | "placeholder";
  role: string;
  /** The default text of a template anchor. */
  template?: string;
  hint?: string;
}
export interface MacroInfo { name: string; syntax: string; description: string; example?: string; aliases: string[] }
export interface ProcessorInfo { id: string; name: string; description: string; priority: number; isCore: boolean; isOn: boolean; fields: unknown[] }
export interface Registry {
  anchors: AnchorInfo[];
  macros: MacroInfo[];
  processors: ProcessorInfo[];
  models: string[];
  dialects: string[];
}

// --- GET files/{f} ------------------------------------------------------------------------------------------------
export interface FileView {
  id: string;
  path: string;
  kind: FileKind;
  /** SHA-256 of the file's bytes as they were read; also the ETag, for `save`. */
  hash: string;
  /** Counts the edits of the draft, undo and redo included. */
  revision: number;
  isDirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  /** The text of the draft. */
  text: string;
  /** The value of the draft; absent if the text cannot be parsed (then structured editing is off). */
  value?: unknown;
  findings: Finding[];
  isReadOnly: boolean;
  /** The list of entries has more than this answer shows. */
  isCut?: boolean;
  /** The file was deleted; then it has no hash. */
  isGone?: boolean;
}

// --- POST files/{f}/edits, undo, redo, discard, fix, save ------------------------------------------------------------
export type Edit =
  | { op: "set"; pointer: string; value: unknown }
  | { op: "remove"; pointer: string }
  | { op: "insert"; pointer: string; value: unknown }
  | { op: "move"; pointer: string; to: string }
  | { op: "rename"; pointer: string; name: string };
/** `base`: the revision that the page saw; `id`: random, so that an edit sent twice counts once. */
export interface Edits { base: number; id: string; edits: Edit[] }
/** The whole text instead, for what structured editing cannot do. Same route: exactly one of the two bodies. */
export interface TextEdit { base: number; id: string; text: string }
/** All of `edits`, `undo`, `redo`, `discard`, `fix` and `save` answer with the file as it is now. 409: `theirs`. */
export type Edited = FileView;
/** `undo`, `redo` and `discard`: with `base`, 409 where the draft has changed since. */
export interface Step { base?: number }
export interface Fix { base: number; index: number }
/** `save` has the header `If-Match: "HASH"`; body `{}` or `{"overwrite": true}` after a 409. */
export interface Save { overwrite?: boolean }

// --- POST preview -------------------------------------------------------------------------------------------------
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
export interface PreviewRequest {
  /** The name of the window: a newer request of it ends the older one (409 with CTX1012). */
  window: string;
  /** Ids of files; all are drafts as they are now. Without an id that of `ctx.toml` is meant, if it names one; an empty id means none. */
  agent?: string;
  conversation?: string;
  profile?: string;
  worldbooks: string[];
  /** Use the file on disk and not the draft. */
  saved?: boolean;
  /** Keeps it beside the last 8 of the window; of pinned ones the last 4. */
  pin?: boolean;
  turn: TurnSettings;
  enable: string[];
  disable: string[];
  /** The last preview's id of this window: then `rows` may be splices. */
  have?: string;
}
export interface Row {
  /** The place in the request, 0-based; absent for what is not sent. After splices count it anew: not part of `key`. */
  n?: number;
  /** A hash of all that the row shows. Equal key, equal row. */
  key: string;
  role: string;
  /** The kind of the source that owns most of it: `preset`, `history`, `worldbook`, `input`, `summary`, … */
  source: string;
  /** The name a person knows: an entry's name, a message's id, an anchor's id. */
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
  /** Its place in the list, 0-based, by which its text is asked for. After splices count it anew, as `n`. */
  row: number;
}
export interface Splice { at: number; remove: number; insert: Row[] }
export interface Usage {
  tokens?: number;
  limit?: number;
  reserved?: number;
  /** Every figure comes from the model's own tokenizer. */
  isExact: boolean;
  parts: { name: string; tokens: number }[];
}
/** `code`: what it is about, such as `history:n3`; `kind`: what became of it, in the language of the request. */
export interface DecisionView { code: string; kind: string; message: string; rows: number[] }
export interface StageView { id: string; name: string; before: number; after: number; tokens?: number; log: string[] }
export interface Preview {
  id: string;
  usage: Usage;
  /** The first `messages` messages are the same in the next turn; `reason` says what ends that. */
  stable?: { messages: number; tokens?: number; reason?: string };
  decisions: DecisionView[];
  stages: StageView[];
  findings: Finding[];
  rows: Row[] | { splices: Splice[]; total: number };
  /** Tokens of each entry of the agent that is sent, by pointer. */
  entryTokens: Record<string, number>;
  /** The budget cannot be met: what cannot be left out, by part. No error. */
  infeasible?: { parts: { name: string; tokens: number }[]; message: string };
}

// --- GET previews/{p}/rows?from=&to= (texts), rows/{row}, body?dialect= -----------------------------------------------
export interface Piece { text: string; source: string; name: string; pointer?: string }
export interface RowText { row: number; pieces: Piece[]; isCut?: boolean }
/** GET `previews/{p}/rows?from=0&to=20`. */
export interface RowTexts { rows: RowText[] }
export interface LifeEvent { stage: string; kind: string; text: string }
/** GET `previews/{p}/life?row=`. */
export interface Life { events: LifeEvent[]; why: string[] }
/** GET `previews/{p}/body?dialect=openai`: the request body as text, byte for byte what would be sent. */
export interface Body { dialect: string; text: string; findings: Finding[] }

// --- POST compare -------------------------------------------------------------------------------------------------
/** Ids of two previews; the server keeps the last 8 of a window and those that are pinned (`pin: true`). */
export interface CompareRequest { a: string; b: string }
export interface ComparedRow { kind: "same" | "changed" | "added" | "removed"; a?: number; b?: number; words?: WordChange[] }
export interface WordChange { kind: "same" | "removed" | "added"; text: string }
export interface Compared {
  sharedMessages: number;
  sharedTokens?: number;
  messages: [number, number];
  tokens?: [number, number];
  /** Tokens that a provider with a cache bills again. */
  again?: number;
  /** The first byte that differs. */
  difference?: { message: number; at?: number; owners: [string | null, string | null]; excerpts?: [string, string] };
  rows: ComparedRow[];
}

// --- POST expand --------------------------------------------------------------------------------------------------
/** `agent`, `conversation`, `profile` as in a preview. */
export interface ExpandRequest { text: string; agent?: string; conversation?: string; profile?: string; turn: TurnSettings }
export interface Expanded { text: string; pieces: Piece[]; findings: Finding[] }

// --- POST import (octet-stream; `?name=`), POST import/write -----------------------------------------------------------
/** One request for each file, `?name=card.png&batch=ID`; each answers the report of the batch as it is now. */
export interface ImportReport {
  batch: string;
  files: { name: string; format: string; findings: Finding[] }[];
  /** What `ctx import` prints, line by line. */
  lines: string[];
  counts: { mapped: number; approximated: number; kept: number; unsupported: number };
  fields: { file: string; pointer: string; status: string; destination?: string; note?: string }[];
  /** Fields beside those that are listed. */
  moreFields?: number;
  /** The files that `write` would make, below `folder`. */
  writes: { path: string; bytes: number; exists: boolean }[];
  folder: string;
}
export interface ImportWrite { batch: string; folder: string; overwrite?: boolean }
export interface ImportWritten { written: string[]; agent?: string }

/** POST `import/discard` `{batch}`; POST `start` `{}`: writes the sample project (as `ctx init`). */
export type Started = ImportWritten;

// --- POST files (new entry files are out of scope), GET events (WebSocket, subprotocols `ctx`, TOKEN) ------------------
export interface Notice {
  run: string;
  seq: number;
  type: "draft" | "file" | "project" | "resync";
  /** The file's id. */
  id?: string;
  revision?: number;
  /** The window that did it (header `x-ctx-window`). */
  by?: string;
}
