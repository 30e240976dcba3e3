/** Plans of conversations, for frameworks without a place to store them. */

import type { Plan } from "ctx-engine";

import { type ChatMessage, type ConvertedMessage, type Options, type PlannedMessages, type RequestParts, planMessages } from "./planning.js";

const MAX_STATES = 1_024;

/**
 * The plans of the most recently used conversations, for frameworks without a place to store them.
 *
 * A conversation is identified by its messages up to the first one of the assistant. A conversation without a plan is
 * planned again, and loses the prompt cache once.
 */
export class PlanStates {
  readonly #states = new Map<string, Plan["state"]>();

  /** Plans messages, and stores the plan for the next call of the conversation. */
  async plan<M>(
    messages: readonly M[],
    converted: readonly ConvertedMessage[],
    options: Options<M>,
    surroundings: Omit<RequestParts, "state"> = {},
  ): Promise<PlannedMessages<M>> {
    const key = conversationKey([...(surroundings.leading ?? []), ...converted.map(({ message }) => message)]);
    const state = this.#states.get(key) ?? null;
    const planned = await planMessages(messages, converted, options, { ...surroundings, state });
    this.#states.delete(key);
    this.#states.set(key, planned.state);
    const [oldest] = this.#states.keys();
    if (this.#states.size > MAX_STATES && oldest !== undefined) this.#states.delete(oldest);
    return planned;
  }
}

function conversationKey(messages: readonly ChatMessage[]): string {
  const first = messages.findIndex(({ role }) => role === "assistant");
  const text = JSON.stringify(messages.slice(0, first < 0 ? messages.length : first + 1));
  return `${text.length}:${hash(text, 0x811c9dc5)}:${hash(text, 0x9747b28c)}`;
}

/** Hashes text with FNV-1a. If two conversations have the same hash, the engine ignores the stored plan. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
