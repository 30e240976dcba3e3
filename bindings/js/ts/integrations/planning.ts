/** Planning shared by the integrations: from a framework's messages to those to send. */

import { plan } from "ctx-engine";

/** Maximum number of conversations whose plans are remembered. */
const MAX_STATES = 1_024;

/** Options of all integrations. Read `PlanOptions` for their meaning. */
export interface PlanSettings<M> {
  budget?: number;
  model?: string;
  low?: number;
  /** Tokens kept free for the response, and for parts of the request that the hook does not see. Default: 0. */
  reserve?: number;
  /** The maximum tokens for lines of removed messages, in a last user message. Default: 0. */
  recall?: number;
  /** Returns whether a message is never removed. */
  keep?: (message: M) => boolean;
  /** Receives the report of each call. */
  onReport?: (report: PlanReport) => void;
}

/** The report of a call: numbers of messages and tokens. */
export interface PlanReport {
  tokens: number;
  kept: number;
  removed: number;
  /** Removed calls without results, and results without calls. */
  orphans: number;
  /** Recalled lines. */
  recalled: string | null;
  /** Whether this call removed messages. The provider's cache then ends after the instructions. */
  reset: boolean;
}

/** A message of chat completions, and the positions of the framework's messages that it was made from. */
export interface ConvertedMessage {
  positions: readonly number[];
  message: ChatMessage;
}

/** A message of chat completions. */
export interface ChatMessage {
  role: string;
  content?: unknown;
  tool_calls?: object[];
  tool_call_id?: string;
}

/** Parts of a request that a framework keeps apart from the messages. */
export interface OtherParts {
  /** Instructions before the messages. */
  leading?: readonly ChatMessage[];
  /** Tools in the form of chat completions. */
  tools?: readonly object[];
}

/** The messages to send: the given objects, in order, and recalled lines for a last user message. */
export interface PlannedMessages<M> {
  kept: M[];
  removed: M[];
  note: string | null;
}

/**
 * Plans for a framework without a place for state: remembers the plans of the most recently used conversations.
 *
 * A conversation is known by its messages up to the first one of the assistant. A conversation without a plan is planned
 * again, and loses the prompt cache once.
 */
export class Planner<M> {
  readonly #states = new Map<string, object>();

  constructor(
    readonly settings: PlanSettings<M>,
    readonly convert: (messages: readonly M[]) => ConvertedMessage[],
  ) {}

  /**
   * Chooses the messages to send. Removes a message if a part of its conversion is removed. Throws `CtxError` with the code
   * `infeasible` if the messages that cannot be removed exceed the budget.
   */
  async plan(messages: readonly M[], { leading = [], tools = [] }: OtherParts = {}): Promise<PlannedMessages<M>> {
    const { keep, onReport, ...options } = this.settings;
    const converted = this.convert(messages);
    const key = conversationKey(converted);
    const isPinned = ({ positions }: ConvertedMessage) => positions.some((at) => keep?.(messages[at]!));
    const pinned = converted.flatMap((one, at) => (isPinned(one) ? [leading.length + at] : []));
    const given = [...leading, ...converted.map(({ message }) => message)];
    const state = this.#states.get(key) ?? null;
    const planned = await plan(given, { ...options, tools, pinned, state });
    this.#remember(key, planned.state);
    const isOut = new Set([...planned.removed, ...planned.notes].flatMap((at) => converted[at - leading.length]?.positions ?? []));
    const { tokens, reset, kept, removed, orphans, recalled } = planned;
    const note = recalled?.content ?? null;
    onReport?.({ tokens, reset, kept: kept.length, removed: removed.length, orphans: orphans.length, recalled: note });
    return { kept: messages.filter((_, at) => !isOut.has(at)), removed: messages.filter((_, at) => isOut.has(at)), note };
  }

  #remember(key: string, state: object): void {
    this.#states.delete(key);
    this.#states.set(key, state);
    const [oldest] = this.#states.keys();
    if (this.#states.size > MAX_STATES) this.#states.delete(oldest!);
  }
}

/** Returns a key of a conversation. Equal keys of different conversations are harmless: a plan also knows its prefix. */
function conversationKey(converted: readonly ConvertedMessage[]): string {
  const first = converted.findIndex(({ message }) => message.role === "assistant");
  const start = first < 0 ? converted : converted.slice(0, first + 1);
  const text = JSON.stringify(start.map(({ message }) => message));
  // FNV-1a.
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `${text.length}:${hash >>> 0}`;
}

/** Returns a tool call in the form of chat completions. */
export function toolCall(id: string, name: string, input: unknown): object {
  return { id, type: "function", function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) } };
}

/** Returns a tool in the form of chat completions. */
export function toolDefinition(name: string, description?: string, parameters?: unknown): object {
  return { type: "function", function: { name, description: description ?? "", parameters: parameters ?? {} } };
}

/** Returns an image in the form of chat completions: a URL, or the start of its bytes, which has the size. */
export function imagePart(data: unknown, mediaType = "image/png"): object {
  const url = data instanceof Uint8Array ? `data:${mediaType};base64,${base64(data)}` : String(data);
  const isUrl = /^(data|https?):/.test(url);
  return { type: "image_url", image_url: { url: isUrl ? url : `data:${mediaType};base64,${url}` } };
}

function base64(bytes: Uint8Array): string {
  const start = bytes.subarray(0, 3 << 14);
  return btoa(Array.from(start, (byte) => String.fromCharCode(byte)).join(""));
}
