/** Messages of other packages as chat completions have them, by what they have and not by their classes. */

import { callNow, json } from "./engine.js";
import { CtxError, usage } from "./error.js";

/** A message as chat completions have it. */
export interface Message {
  role: string;
  content?: string | readonly object[] | null;
  name?: string;
  tool_calls?: readonly object[];
  tool_call_id?: string;
}

/** What another package may have put into a message. */
interface Foreign {
  role?: unknown;
  type?: unknown;
  content?: unknown;
  parts?: unknown;
  name?: string;
  tool_calls?: { id?: string; name?: string; args?: unknown }[];
  tool_call_id?: string;
  getType?: () => string;
  _getType?: () => string;
}

/** A part of a message of the Vercel AI SDK. */
interface Part {
  type?: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: unknown;
  errorText?: string;
  data?: unknown;
}

const LANGCHAIN_ROLES: Record<string, string> = {
  human: "user",
  ai: "assistant",
  system: "system",
  developer: "developer",
  tool: "tool",
};

/** Returns the messages of a list, or of what gives one after the other. */
export function listed<M>(messages: Iterable<M>): M[] {
  const isList = typeof messages === "object" && messages !== null && Symbol.iterator in messages;
  if (!isList) throw usage("messages are a list, or what gives one after the other");
  return [...messages];
}

/**
 * Returns what a message of a list says, as chat completions have it: mostly one message, several where a message of
 * another package holds calls with their results.
 */
export function asMessages(message: unknown, place: number): readonly object[] {
  return inPlace(place, () => said(message));
}

/** Does something with a message of a list; what goes wrong names the message. */
export function inPlace<T>(place: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw Object.assign(error instanceof CtxError ? error : usage(error), { pointer: `/${place}` });
  }
}

function said(message: unknown): readonly object[] {
  if (typeof message !== "object" || message === null) throw unlike(message);
  const given = message as Foreign;
  const kind = given.getType ?? given._getType;
  if (typeof kind === "function") return [ofLangchain(given, kind.call(message))];
  if (Array.isArray(given.parts)) return ofParts(given, given.parts as Part[]);
  if (Array.isArray(given.content) && (given.content as Part[]).some(isOfAiSdk)) {
    return ofParts(given, given.content as Part[]);
  }
  if (given.type === "message" && given.role === "assistant" && Array.isArray(given.content)) {
    return [ofAnthropic(message)];
  }
  if (typeof given.role !== "string") throw unlike(message);
  return [message];
}

function unlike(message: unknown): Error {
  return usage(`this is no message, as it has no role: ${json(message ?? null).slice(0, 80)}`);
}

function ofLangchain(given: Foreign, kind: string): Message {
  const role = LANGCHAIN_ROLES[kind];
  if (role === undefined) throw usage(`messages of the type \`${kind}\` are not known`);
  const written: Message = { role, content: given.content as string | object[] };
  if (given.name) written.name = given.name;
  if (given.tool_call_id) written.tool_call_id = given.tool_call_id;
  const calls = given.tool_calls ?? [];
  if (calls.length > 0) written.tool_calls = calls.map((call) => calling(call.id, call.name, call.args));
  return written;
}

/** A whole reply of the Anthropic client. */
function ofAnthropic(message: object): Message {
  return JSON.parse(callNow("decode", json({ dialect: "anthropic", body: message }))).message;
}

function isOfAiSdk(part: Part | null): boolean {
  return part?.type === "tool-call" || part?.type === "tool-result";
}

function ofParts(given: Foreign, parts: Part[]): Message[] {
  const content: object[] = [];
  const calls: object[] = [];
  const results: Message[] = [];
  for (const part of parts) {
    const type = part.type ?? "";
    const name = part.toolName ?? type.slice("tool-".length);
    const isCall = part.toolCallId !== undefined && type !== "tool-result";
    if (isCall) calls.push(calling(part.toolCallId, name, part.input));
    const output = part.output ?? part.errorText;
    if (part.toolCallId !== undefined && output !== undefined) {
      results.push({ role: "tool", tool_call_id: part.toolCallId, content: plain(output) });
    }
    if (part.toolCallId === undefined && isSent(type)) content.push(part);
  }
  const isResultsOnly = given.role === "tool" && calls.length === 0;
  if (isResultsOnly) return results;
  const said: Message = { role: String(given.role), content };
  if (calls.length > 0) said.tool_calls = calls;
  return [said, ...results];
}

/** Whether a part is sent: marks of steps, sources and data are for the page alone. */
function isSent(type: string): boolean {
  return type === "text" || type === "file" || type === "image" || type === "reasoning";
}

function calling(id: string | undefined, name: string | undefined, input: unknown): object {
  return { id, type: "function", function: { name, arguments: typeof input === "string" ? input : json(input ?? {}) } };
}

/** The text of a result: the value in the envelope that results of the AI SDK have, or what there is. */
function plain(output: unknown): string {
  const inner = typeof output === "object" && output !== null && "value" in output ? output.value : output;
  return typeof inner === "string" ? inner : json(inner ?? null);
}
