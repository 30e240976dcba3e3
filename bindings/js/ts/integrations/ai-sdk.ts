/**
 * AI SDK 6 and 7: a middleware that plans each provider call, and a function for `prepareStep`.
 *
 * The middleware counts the whole request. `prepareStep` does not see the system prompt and tools: put their tokens into
 * `reserve`.
 */

import { imagePart, Planner, toolCall, toolDefinition } from "./planning.js";
import type { ChatMessage, ConvertedMessage, PlanReport, PlanSettings } from "./planning.js";

export type { PlanReport, PlanSettings };

/** A `ModelMessage`, or a message of a provider's prompt. */
export interface AiMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | readonly AiPart[];
}

/** A part of a message. */
export interface AiPart {
  type: string;
}

/** Input of `prepareStep`. */
interface Step<M> {
  messages: M[];
  /** Only in AI SDK 7, which passes the messages of the step before back. */
  initialMessages?: readonly M[];
  responseMessages?: readonly M[];
}

interface CallParameters {
  prompt: readonly unknown[];
  tools?: readonly unknown[] | undefined;
}

/**
 * Returns a function for `prepareStep` of `generateText`, `streamText` and agents.
 *
 * ```ts
 * const prepareStep = ctxPrepareStep({ budget: 8_000, recall: 500 });
 * await generateText({ model, tools, prompt, prepareStep, stopWhen: stepCountIs(40) });
 * ```
 */
export function ctxPrepareStep(settings: PlanSettings<AiMessage>) {
  const planner = new Planner<AiMessage>(settings, convertMessages);
  return async <M>(step: Step<M>): Promise<{ messages: M[] }> => {
    const { kept, note } = await planner.plan(allMessages(step) as readonly AiMessage[]);
    const messages = note === null ? kept : [...kept, { role: "user", content: note } satisfies AiMessage];
    return { messages: messages as M[] };
  };
}

/** Returns all messages of a run. AI SDK 7 passes back the reduced list, and also the complete one. */
function allMessages<M>({ messages, initialMessages, responseMessages }: Step<M>): readonly M[] {
  if (!initialMessages || !responseMessages) return messages;
  const all = [...initialMessages, ...responseMessages];
  const known = new Set(all.map((message) => JSON.stringify(message)));
  // Only the reduced list contains messages that the user added to a running agent.
  return [...all, ...messages.filter((message) => !known.has(JSON.stringify(message)))];
}

/**
 * Returns a middleware for `wrapLanguageModel`. `specificationVersion` is `"v3"` for AI SDK 6 (default), and `"v4"` for 7.
 *
 * ```ts
 * const model = wrapLanguageModel({ model: openai("gpt-5.4"), middleware: ctxMiddleware({ budget: 8_000 }) });
 * ```
 */
export function ctxMiddleware<V extends "v3" | "v4" = "v3">(
  settings: PlanSettings<AiMessage> & { specificationVersion?: V },
) {
  const { specificationVersion = "v3" as V, ...rest } = settings;
  const planner = new Planner<AiMessage>(rest, convertMessages);
  const transformParams = async <P extends CallParameters>({ params }: { params: P }): Promise<P> => {
    const tools = (params.tools ?? []).map((tool) => {
      const { name, description, inputSchema, args } = tool as Record<string, unknown>;
      return toolDefinition(String(name), description as string | undefined, inputSchema ?? args);
    });
    const { kept, note } = await planner.plan(params.prompt as readonly AiMessage[], { tools });
    const prompt = note === null ? kept : [...kept, { role: "user", content: [{ type: "text", text: note }] }];
    return { ...params, prompt };
  };
  return { specificationVersion, transformParams };
}

/** Converts messages to those of chat completions, for counting and search only. */
export function convertMessages(messages: readonly AiMessage[]): ConvertedMessage[] {
  // An approval names its request, and the request names the call.
  const calls = new Map<unknown, unknown>();
  for (const part of messages.flatMap(partsOf)) {
    if (part["type"] === "tool-approval-request") calls.set(part["approvalId"], part["toolCallId"]);
  }
  return messages.flatMap((message, at) => convertMessage(message, calls).map((message) => ({ positions: [at], message })));
}

type Part = Record<string, unknown> & { type: string };

function partsOf({ content }: AiMessage): Part[] {
  return typeof content === "string" ? [] : (content as readonly Part[]).slice();
}

function convertMessage(message: AiMessage, calls: Map<unknown, unknown>): ChatMessage[] {
  const { role, content } = message;
  if (typeof content === "string") return [{ role, content }];
  const parts = partsOf(message);
  if (role === "tool") {
    return parts.map((part) => ({
      role,
      tool_call_id: String(part["toolCallId"] ?? calls.get(part["approvalId"])),
      content: part.type === "tool-result" ? resultContent(part["output"]) : JSON.stringify(part),
    }));
  }
  // A provider runs some tools itself: their results are in the same message.
  const results = new Set(parts.filter(({ type }) => type === "tool-result").map((part) => part["toolCallId"]));
  const isCall = (part: Part) => part.type === "tool-call" && !results.has(part["toolCallId"]);
  const tool_calls = parts
    .filter(isCall)
    .map((part) => toolCall(String(part["toolCallId"]), String(part["toolName"]), part["input"]));
  const rest = parts.filter((part) => !isCall(part)).map(convertPart);
  return [{ role, content: rest, ...(tool_calls.length > 0 && { tool_calls }) }];
}

function convertPart(part: Part): object {
  const { type, mediaType } = part;
  if (type === "text" || type === "reasoning") return { type: "text", text: part["text"] };
  if (type === "image") return imagePart(part["image"], mediaType as string | undefined);
  if (type === "file" && String(mediaType).startsWith("image/")) return imagePart(part["data"], String(mediaType));
  return { type: "text", text: JSON.stringify(part) };
}

function resultContent(output: unknown): string | object[] {
  const { type, value } = (output ?? {}) as { type?: string; value?: unknown };
  if (typeof value === "string") return value;
  if (type !== "content") return JSON.stringify(value ?? output ?? null);
  return (value as Part[]).map((part) =>
    part.type === "text" ? { type: "text", text: part["text"] } : isImage(part) ? imagePart(part["data"], String(part["mediaType"])) : { type: "text", text: JSON.stringify(part) },
  );
}

function isImage({ data, mediaType }: Record<string, unknown>): boolean {
  return typeof data === "string" && String(mediaType).startsWith("image/");
}
