/**
 * OpenAI Agents SDK: a filter that plans the input of each model call, and a session that plans the input of each run.
 *
 * `ctxInputFilter` limits tool loops: the SDK calls it before each model call. `ctxSession` limits only the stored items that
 * a run begins with. Both keep all items in the store.
 */

import type { Agent, AgentInputItem, CallModelInputFilter, Session } from "@openai/agents";

import { imagePart, Planner, toolCall, toolDefinition } from "./planning.js";
import type { ChatMessage, ConvertedMessage, PlanReport, PlanSettings } from "./planning.js";

export type { PlanReport, PlanSettings };

/**
 * Returns a filter for `callModelInputFilter` of a run or `Runner`. The budget includes instructions, function tools and handoffs.
 *
 * ```ts
 * const runner = new Runner({ callModelInputFilter: ctxInputFilter({ budget: 8_000, recall: 500 }) });
 * ```
 */
export function ctxInputFilter(settings: PlanSettings<AgentInputItem>): CallModelInputFilter {
  const planner = new Planner<AgentInputItem>(settings, convertItems);
  return async ({ modelData: { input, instructions }, agent }) => {
    const leading = instructions ? [{ role: "system", content: instructions }] : [];
    const { kept, note } = await planner.plan(input, { leading, tools: agentTools(agent as Agent<unknown>) });
    const items = note === null ? kept : [...kept, { role: "user", content: note } as AgentInputItem];
    return { input: items, ...(instructions !== undefined && { instructions }) };
  };
}

function agentTools({ tools, handoffs }: Agent<unknown>): object[] {
  const functions = tools.map((tool) => {
    const { name, description, parameters } = tool as { name: string; description?: string; parameters?: unknown };
    return toolDefinition(name, description, parameters);
  });
  const others = handoffs.map((other) => {
    const { toolName, toolDescription, name, handoffDescription } = other as unknown as Record<string, string | undefined>;
    return toolDefinition(toolName ?? `transfer_to_${name}`, toolDescription ?? handoffDescription);
  });
  return [...functions, ...others];
}

/**
 * Returns a session that stores all items in another one, and gives a run those to send.
 *
 * Recall needs a question, so `recall` works only in `ctxInputFilter`. With a limit, the newest stored items are returned.
 */
export function ctxSession(session: Session, settings: Omit<PlanSettings<AgentInputItem>, "recall">): Session {
  const planner = new Planner<AgentInputItem>(settings, convertItems);
  const getItems = async (limit?: number) => {
    const items = await session.getItems(limit);
    return limit !== undefined || items.length === 0 ? items : (await planner.plan(items)).kept;
  };
  // Optional methods of the other session, such as those for compaction, stay available.
  return new Proxy(session, {
    get(target, name) {
      if (name === "getItems") return getItems;
      const found: unknown = Reflect.get(target, name);
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
}

type Item = Record<string, unknown>;

/** Converts items to messages of chat completions. Consecutive items of a response are one message. */
export function convertItems(items: readonly AgentInputItem[]): ConvertedMessage[] {
  const given = items as readonly unknown[] as readonly Item[];
  const results = new Set(given.filter(isResult).map((item) => item["callId"]));
  const converted: ConvertedMessage[] = [];
  let response: number[] = [];
  const end = () => {
    if (response.length > 0) converted.push({ positions: response, message: convertResponse(response.map((at) => given[at]!), results) });
    response = [];
  };
  given.forEach((item, at) => {
    if (!isResult(item) && !isInput(item)) return void response.push(at);
    end();
    const message = isResult(item)
      ? { role: "tool", tool_call_id: String(item["callId"]), content: convertContent(item["output"]) }
      : { role: String(item["role"]), content: convertContent(item["content"]) };
    converted.push({ positions: [at], message });
  });
  end();
  return converted;
}

/** Items of a request; the others are parts of a response. */
function isInput({ role }: Item): boolean {
  return role === "user" || role === "system";
}

function isResult({ type }: Item): boolean {
  return typeof type === "string" && /_(result|output)$/.test(type);
}

function convertResponse(items: readonly Item[], results: Set<unknown>): ChatMessage {
  const isCall = ({ type, callId }: Item) => callId !== undefined && (type === "function_call" || results.has(callId));
  const tool_calls = items
    .filter(isCall)
    .map((item) => toolCall(String(item["callId"]), String(item["name"] ?? item["type"]), item["arguments"] ?? item));
  const content = items
    .filter((item) => !isCall(item))
    .flatMap((item) => (item["role"] === "assistant" ? convertContent(item["content"]) : [{ type: "text", text: JSON.stringify(item) }]));
  return { role: "assistant", content, ...(tool_calls.length > 0 && { tool_calls }) };
}

function convertContent(content: unknown): object[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((part: Item | null) => {
    const text = part?.["text"] ?? part?.["refusal"];
    if (typeof text === "string") return { type: "text", text };
    const image = part?.["image"];
    return typeof image === "string" || image instanceof Uint8Array ? imagePart(image) : { type: "text", text: JSON.stringify(part) };
  });
}
