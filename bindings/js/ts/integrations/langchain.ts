/**
 * LangChain.js: a middleware that plans each model call.
 *
 * It replaces `summarizationMiddleware` and `contextEditingMiddleware`. It changes only the list that the model receives; the
 * state of the agent keeps all messages.
 */

import { HumanMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createMiddleware } from "langchain";

import { imagePart, Planner, toolCall } from "./planning.js";
import type { ChatMessage, ConvertedMessage, PlanReport, PlanSettings } from "./planning.js";

export type { PlanReport, PlanSettings };

/**
 * Returns a middleware for `createAgent`. The budget includes the system message and tools.
 *
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [ctxMiddleware({ budget: 8_000, recall: 500 })] });
 * ```
 */
export function ctxMiddleware(settings: PlanSettings<BaseMessage>) {
  const planner = new Planner<BaseMessage>(settings, convertMessages);
  return createMiddleware({
    name: "CtxMiddleware",
    wrapModelCall: async (request, handler) => {
      const { messages, systemMessage, tools } = request;
      const leading = systemMessage?.text ? [convertMessage(systemMessage)] : [];
      const { kept, note } = await planner.plan(messages, { leading, tools: tools.map(convertTool) });
      return handler({ ...request, messages: note === null ? kept : [...kept, new HumanMessage(note)] });
    },
  });
}

/** A plain object is already in the form of its provider. */
function convertTool(tool: object): object {
  return "schema" in tool ? convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]) : tool;
}

/** Converts messages to those of chat completions, for counting and search only. */
export function convertMessages(messages: readonly BaseMessage[]): ConvertedMessage[] {
  return messages.map((message, at) => ({ positions: [at], message: convertMessage(message) }));
}

const ROLES: Record<string, string> = { human: "user", ai: "assistant", system: "system", tool: "tool", function: "tool" };

interface Called {
  tool_calls?: { id?: string; name: string; args: unknown }[];
  invalid_tool_calls?: { id?: string; name?: string; args?: string }[];
  tool_call_id?: string;
  name?: string;
  role?: string;
}

function convertMessage(message: BaseMessage): ChatMessage & { id?: string } {
  const { tool_calls = [], invalid_tool_calls = [], tool_call_id, name, role } = message as BaseMessage & Called;
  // A call with malformed arguments is sent too, and has a result that reports the error.
  const calls = [...tool_calls, ...invalid_tool_calls].map((call) => toolCall(call.id ?? "", call.name ?? "", call.args));
  const type = message.getType();
  return {
    role: ROLES[type] ?? role ?? "user",
    content: convertContent(message.content, tool_calls.length > 0),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(type === "tool" && { tool_call_id: String(tool_call_id) }),
    ...(type === "function" && { tool_call_id: String(name) }),
    ...(message.id !== undefined && { id: message.id }),
  };
}

/** Removes tool calls from the content, where some providers repeat them. */
function convertContent(content: BaseMessage["content"], hasCalls: boolean): unknown {
  if (typeof content === "string") return content;
  const parts = content as readonly Record<string, unknown>[];
  const isCall = ({ type }: Record<string, unknown>) => hasCalls && /^(tool_use|tool_call|function_call)$/.test(String(type));
  return parts.filter((part) => !isCall(part)).map(convertPart);
}

function convertPart(part: Record<string, unknown>): object {
  const { type, text, reasoning, thinking, image_url, url, data, mimeType } = part;
  const said = text ?? reasoning ?? thinking;
  if (typeof said === "string") return { type: "text", text: said };
  if (type === "image_url") return { type, image_url: typeof image_url === "string" ? { url: image_url } : image_url };
  if (type === "image" && (url ?? data) !== undefined) return imagePart(url ?? data, mimeType as string | undefined);
  return { type: "text", text: JSON.stringify(part) };
}
