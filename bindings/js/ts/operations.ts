/** Operations that keep nothing: values in, values out. */

import { type AgentOptions, type Context, type Turn, agentOptions, turnOptions } from "./agent.js";
import { prepare } from "./conversation.js";
import { type Document, type Finding, named } from "./document.js";
import { callNow, json, withEngine } from "./engine.js";
import type { Agent as AgentFile, Diagnostic, ImportReport, Session, UserProfile, Worldbook } from "./files.js";
import type { HostParts } from "./host.js";
import { type Message, asMessages, listed } from "./message.js";

/** How a provider writes requests and replies. */
export type Dialect = "openai" | "openai-responses" | "anthropic" | "gemini" | "completion";

/** A file that an operation writes: as text where it is UTF-8, else as base64. */
export interface WrittenFile {
  file: string;
  text?: string;
  base64?: string;
}

/**
 * Carries out any operation by its name; `call("operations", {})` lists them with their options.
 *
 * Tokens are estimated unless `loadVocabulary` loaded what counts them; other functions do that by themselves.
 */
export async function call(name: string, options: object): Promise<unknown> {
  return JSON.parse(await callJson(name, json(options)));
}

/** Carries out an operation: the text of a JSON object in, JSON out, byte for byte what Rust writes. */
export async function callJson(name: string, options: string): Promise<string> {
  return withEngine(() => callNow(name, options), name);
}

/** Tells what a document is (`kind`) and what is wrong with it, each finding with its `position`. */
export async function check(
  document: Document,
  file?: string,
): Promise<{ kind: string | null; findings: Finding[] }> {
  return run("check", { document: named(document, "document", file) });
}

/** What is made of files of other applications. */
export interface Imported {
  agent: AgentFile | null;
  profile: UserProfile | null;
  template: object | null;
  worldbooks: { name: string; book: Worldbook }[];
  conversations: { name: string; session: Session }[];
  assets: WrittenFile[];
  report: ImportReport;
}

/** Makes an agent, worldbooks and conversations of files of other applications, by their names. */
export async function importFiles(
  files: Readonly<Record<string, Uint8Array | string>>,
  format?: string,
): Promise<Imported> {
  const given = Object.entries(files).map(([name, content]) => named(content, "file", name));
  return run("import", { files: given, format });
}

/** Writes an agent as a file of another application; findings are about what that cannot say. */
export async function exportAgent(
  agent: Document<AgentFile>,
  to: "st-preset" | "st-card" | "st-regex" | "aio",
  worldbooks: readonly Document<Worldbook>[] = [],
): Promise<{ document: unknown; findings: Diagnostic[] }> {
  return run("export", {
    agent: named(agent, "agent"),
    to,
    worldbooks: worldbooks.map((book) => named(book, "worldbook")),
  });
}

/** Writes old spellings of a document as today's. */
export async function migrate(
  document: Document,
): Promise<{ format: string; document: object; yaml: string; changes: Diagnostic[] }> {
  return run("migrate", { document: named(document, "document") });
}

/** Compares two contexts, or two agents that are assembled alike. */
export async function diff(
  first: Context | Document<AgentFile>,
  second: Context | Document<AgentFile>,
  turn?: Turn,
): Promise<Record<string, unknown> & { sharedMessages: number; sharedTokens: number }> {
  for (const side of [first, second]) await prepareFor(isContext(side) ? undefined : side, turn);
  return run("diff", { first, second, ...(turn && turnOptions(turn)) });
}

/** What macros of a text become. */
export interface Expansion {
  text: string;
  segments: object[];
  diagnostics: Diagnostic[];
  variables: Record<string, unknown>;
  globalVariables: Record<string, unknown>;
}

/** Expands the macros of a text in an environment, such as `{ char: "Ada" }`. */
export async function expandMacros(
  text: string,
  environment: object = {},
  options: { dialect?: string; at?: string; tz?: string; seed?: number } = {},
): Promise<Expansion> {
  return run("macros.expand", { text, environment, ...options });
}

/** A macro that there is. */
export interface MacroDescription {
  name: string;
  aliases: string[];
  dialects: string[];
  topic: string;
  arguments: { min: number; max: number | null };
  changesState: boolean;
  volatile: boolean;
  description: string;
  example: string;
}

/** Lists the macros of a dialect, or all. */
export async function listMacros(dialect?: string): Promise<MacroDescription[]> {
  return run("macros.list", { dialect });
}

/** What a scan of worldbooks found. */
export interface Scan {
  entries: { id: string; book: string; title: string | null; state: string; why: string; [more: string]: unknown }[];
  active: number;
  tokens: number;
  findings: Finding[];
  [more: string]: unknown;
}

/** Tells which entries of worldbooks a conversation activates, and why. */
export async function scanWorldbooks(
  worldbooks: readonly Document<Worldbook>[],
  messages: Iterable<object>,
  options: { agent?: Document<AgentFile> } & Omit<AgentOptions, "worldbooks" | keyof HostParts> & { turn?: Turn } = {},
): Promise<Scan> {
  const { agent, turn = {}, ...others } = options;
  await prepareFor(agent, turn);
  const given = { ...agentOptions(agent, { ...others, worldbooks }), ...turnOptions(turn) };
  return run("worldbook.scan", { ...given, conversation: written(messages) });
}

/** Fits messages into a budget with notes in place of older ones. */
export async function compress(
  messages: Iterable<object>,
  budget: number,
  options: { strategy?: string; model?: string; loopStart?: number } = {},
): Promise<{ messages: Message[]; report: Record<string, unknown>; loopStart?: number }> {
  await prepare(options.model);
  return run("compress", { conversation: written(messages), budget, ...options });
}

/** Options of `plan`. */
export interface PlanOptions {
  /** The maximum tokens of messages, `tools`, `reserve` and recalled lines. Default: the window of `model`. */
  budget?: number;
  /** The model whose encoding counts the tokens. Default: an estimate. */
  model?: string;
  tools?: readonly object[];
  /** Tokens kept free for the response. Default: 0. */
  reserve?: number;
  /** The share of the budget that remains after a cut, from 0.3 to 1. Default: 0.6, and less if messages are large. */
  low?: number;
  /** Positions of messages that are never removed. */
  pinned?: readonly number[];
  /** The maximum tokens for lines of removed messages. Default: 0. */
  recall?: number;
  /** The `state` of the call before. */
  state?: object | null;
}

/** The messages of a growing conversation to send and to remove, by position. */
export interface Plan {
  /** The positions of the messages to send, in order. */
  kept: number[];
  removed: number[];
  /** Those of `removed` that are calls without results, or results without calls. */
  orphans: number[];
  /** Messages with recalled lines of earlier calls. They are ignored: `recalled` replaces them. */
  notes: number[];
  /** A message with lines of removed messages: the last one of the request. */
  recalled: { role: "user"; content: string } | null;
  /** The tokens of the messages and tools. */
  tokens: number;
  /** Whether this call removed messages, so that the provider's cache is lost after the instructions. */
  reset: boolean;
  /** What to pass to the next call, as JSON. */
  state: { removed: string[]; prefix: string | null; model: string | null };
}

/**
 * Chooses which messages (of chat completions) of a growing conversation to send, and keeps the prompt cache valid.
 *
 * Above the budget, the oldest messages are removed in one step, down to `low` of it. Later calls with the returned
 * `state` repeat that choice until the next overflow. Tool calls and their results stay together. Leading instructions,
 * the newest user message, pinned positions and the last group are never removed. Messages are identified by `id` or
 * content; a message without content stays with the one before it. Throws `CtxError` with the code `infeasible` if the messages that cannot be removed exceed the budget.
 */
export async function plan(messages: readonly object[], options: PlanOptions = {}): Promise<Plan> {
  await prepare(options.model);
  return run("plan", { messages, ...options });
}

/** What a conversation says about something. */
export interface Recalled {
  tokens: number;
  /** The text that a request would get; null if nothing is found, or nothing that fits. */
  text: string | null;
  /** Each line of it, oldest first: whose message it is, how many messages ago, and the words that were found. */
  lines: { id: string | null; ago: number | null; words: string[]; text: string }[];
  /** Why there is no text. */
  nothing?: string;
  findings: Diagnostic[];
}

/** Finds what messages say about a query, in 1,000 tokens unless `budget` says otherwise. */
export async function recall(
  messages: Iterable<object>,
  query: string,
  options: { budget?: number; model?: string } = {},
): Promise<Recalled> {
  await prepare(options.model);
  return run("recall", { conversation: written(messages), query, ...options });
}

/** Counts the tokens of a text or of messages, as a model does; without one they are estimated. */
export async function count(what: string | Iterable<object>, model?: string): Promise<number> {
  await prepare(model);
  const given = typeof what === "string" ? { text: what } : { conversation: written(what) };
  return (await run<{ tokens: number }>("count", { ...given, model })).tokens;
}

/** What is known about a model. */
export interface ModelDescription {
  model: string;
  encoding: string;
  isExact: boolean;
  contextWindow: number | null;
  maxOutput: number | null;
}

/** Tells what is known about a model. */
export async function describeModel(model: string, models?: Document): Promise<ModelDescription> {
  return run("model", { model, models: models && named(models, "models") });
}

/** Writes messages as a provider's request body. */
export async function encode(
  messages: Iterable<object>,
  dialect: Dialect,
  model: string,
  options: { tools?: readonly object[]; parameters?: object; template?: string | object } = {},
): Promise<Record<string, unknown>> {
  const given = { messages: written(messages), dialect, model, ...options };
  return (await run<{ body: Record<string, unknown> }>("encode", given)).body;
}

/** A provider's reply; `message` is what to add to the conversation. */
export interface Reply {
  id: string | null;
  model: string | null;
  text: string;
  message: Message;
  finish: string;
  usage: { input: number | null; cached: number | null; output: number | null } | null;
  findings: Diagnostic[];
}

/** Reads a provider's whole reply. */
export async function decode(dialect: Dialect, body: object): Promise<Reply> {
  return run("decode", { dialect, body });
}

/** Tells what a provider would refuse in a request body. */
export async function lint(body: object, dialect?: Dialect): Promise<Diagnostic[]> {
  return (await run<{ findings: Diagnostic[] }>("lint", { body, dialect })).findings;
}

/** Returns the JSON Schema of a kind of file, or the list of kinds. */
export async function schemas(): Promise<{ name: string; about: string }[]>;
export async function schemas(name: string): Promise<Record<string, unknown>>;
export async function schemas(name?: string): Promise<unknown> {
  return run("schemas", { name });
}

/** Loads what counts the tokens of a turn, whose model the agent may name. */
async function prepareFor(agent: Document<AgentFile> | undefined, turn: Turn = {}): Promise<void> {
  const named = turn.model === undefined && agent !== undefined;
  const compiled = named ? await run<{ model: string | null }>("compile", agentOptions(agent, {})) : undefined;
  await prepare(turn.model ?? compiled?.model ?? undefined);
}

function isContext(side: object | string): side is Context {
  return typeof side === "object" && "messages" in side && "report" in side;
}

/** Reads a list of messages of any package as chat completions have them. */
function written(messages: Iterable<object>): object[] {
  return listed(messages).flatMap(asMessages);
}

async function run<T>(name: string, options: object): Promise<T> {
  return JSON.parse(await callJson(name, json(options)));
}

