/** Planning shared by the integrations: from a framework's messages to those to send. */

import { type Plan, plan } from "ctx-engine";

/** The options that all integrations have. */
export interface Options<M> {
  /** The maximum tokens of a request, with its tools, `reserve` and recalled lines. Default: the window of `model`. */
  budget?: number | undefined;
  /** The model whose tokens are counted. */
  model?: string | undefined;
  /** The share of the budget that remains after a cut, from 0.3 to 1. Default: 0.6. */
  low?: number | undefined;
  /** Tokens kept free for the response. Default: 0. */
  reserve?: number | undefined;
  /** The maximum tokens for lines of removed messages, in a last user message. Default: 0. */
  recall?: number | undefined;
  /** Returns whether a message is never removed. */
  keep?: ((message: M) => boolean) | undefined;
  /** Receives the report of each call. */
  onReport?: ((report: Report) => void) | undefined;
}

/** The plan of a call as numbers of messages. */
export interface Report {
  tokens: number;
  kept: number;
  removed: number;
  /** Calls without results, and results without calls. */
  orphans: number;
  /** The recalled lines. */
  recalled: string | null;
  /** Whether this call removed messages. The provider's cache is then lost after the instructions. */
  reset: boolean;
}

/** A message of chat completions, and the positions of the framework's messages that it was made from. */
export interface ConvertedMessage {
  positions: number[];
  message: ChatMessage;
}

/** A message as chat completions have it. */
export interface ChatMessage {
  role: string;
  content: string | readonly object[];
  tool_calls?: ToolCall[];
  tool_call_id?: string;
}

/** A call in a message of chat completions. */
export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** The messages of one request. */
export interface PlannedMessages<M> {
  /** The given objects, in order. */
  kept: M[];
  removed: M[];
  /** Recalled lines of removed messages: the text of a last user message. */
  note: string | null;
  report: Report;
  state: Plan["state"];
}

/** The instructions and tools of a request, and the plan of the call before. */
export interface RequestParts {
  leading?: readonly ChatMessage[];
  tools?: readonly object[];
  state?: Plan["state"] | null;
}

/**
 * Chooses the messages to send. A given message is removed with any message converted from it.
 *
 * Throws `CtxError` with the code `infeasible` if the messages that cannot be removed exceed the budget.
 */
export async function planMessages<M>(
  messages: readonly M[],
  converted: readonly ConvertedMessage[],
  options: Options<M>,
  { leading = [], tools = [], state = null }: RequestParts = {},
): Promise<PlannedMessages<M>> {
  const { keep, onReport, budget, model, low, reserve, recall } = options;
  const isPinned = messages.map((message) => keep?.(message) ?? false);
  const pinned = converted.flatMap(({ positions }, at) =>
    positions.some((position) => isPinned[position]) ? [leading.length + at] : [],
  );
  const given = { budget, model, low, reserve, recall };
  const planned = await plan([...leading, ...converted.map(({ message }) => message)], {
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as object),
    tools,
    pinned,
    state,
  });
  const leftOut = new Set(
    [...planned.removed, ...planned.notes].flatMap((at) => converted[at - leading.length]?.positions ?? []),
  );
  const report: Report = {
    tokens: planned.tokens,
    kept: planned.kept.length,
    removed: planned.removed.length,
    orphans: planned.orphans.length,
    recalled: planned.recalled?.content ?? null,
    reset: planned.reset,
  };
  onReport?.(report);
  return {
    kept: messages.filter((_, at) => !leftOut.has(at)),
    removed: messages.filter((_, at) => leftOut.has(at)),
    note: report.recalled,
    report,
    state: planned.state,
  };
}

/** Returns a call in the form of chat completions. */
export function toolCall(id: unknown, name: unknown, input: unknown): ToolCall {
  const text = typeof input === "string" ? input : asText(input ?? {});
  return { id: String(id ?? ""), type: "function", function: { name: String(name ?? ""), arguments: text } };
}

/** Returns a tool in the form of chat completions. */
export function toolDefinition(name: unknown, description: unknown, parameters: unknown): object {
  return { type: "function", function: { name, description: description ?? "", parameters: parameters ?? {} } };
}

/** The forms of a schema that contain JSON Schema: of the AI SDK, and Standard JSON Schema. */
interface Schema {
  jsonSchema?: unknown;
  "~standard"?: { jsonSchema?: { input?: (options: { target: string }) => unknown } };
}

/** Returns the JSON Schema of a tool or response, to count it. */
export async function jsonSchema(name: string, schema: unknown): Promise<unknown> {
  if (schema === undefined) return {};
  const given = (typeof schema === "function" && !("~standard" in schema) ? schema() : schema) as Schema;
  const found = given.jsonSchema ?? given["~standard"]?.jsonSchema?.input?.({ target: "draft-07" });
  if (found !== undefined) return found;
  throw new TypeError(`the schema of \`${name}\` has no JSON Schema; use Zod 4.2 or later`);
}

/** Returns text unchanged, and other values as JSON. Bytes become base64. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value, writeBytes) ?? String(value);
}

/** Writes values that JSON has not, for `JSON.stringify`. */
export function writeBytes(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array || value instanceof ArrayBuffer ? base64(value) : value;
}

/** Returns bytes as base64. */
export function base64(bytes: Uint8Array | ArrayBuffer): string {
  const given = new Uint8Array(bytes);
  const texts: string[] = [];
  for (let at = 0; at < given.length; at += 8_192) texts.push(String.fromCharCode(...given.subarray(at, at + 8_192)));
  return btoa(texts.join(""));
}
