/** LangChain.js: a middleware that plans the messages of each model call. The state of the agent keeps all messages. */

import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { type AgentMiddleware, createMiddleware } from "langchain";

import { PlanStates } from "./plan-states.js";
import {
  type ChatMessage,
  type ConvertedMessage,
  type Options,
  type Report,
  asText,
  toolCall,
  toolDefinition,
} from "./planning.js";

export type { Report };

/**
 * Returns a middleware for `createAgent`. It counts instructions, tools and the schema of the response.
 *
 * Many conversations can share it. Tokens are counted for `model`; the default is the model of the request. The default
 * of `budget` is the window in the model's profile. A model call throws `CtxError` with the code `infeasible` if the
 * messages that cannot be removed exceed the budget.
 */
export function ctxMiddleware(options: Options<BaseMessage> = {}): AgentMiddleware {
  const states = new PlanStates();
  return createMiddleware({
    name: "CtxMiddleware",
    wrapModelCall: async (request, handler) => {
      const { messages, systemMessage, tools, responseFormat } = request;
      const leading = systemMessage.text === "" ? [] : [chatMessage(systemMessage, new Set())];
      const counted = [...tools.map(describedTool), ...responseSchemas(responseFormat)];
      const named = { ...options, ...modelOptions(request.model, options) };
      const planned = await states.plan(messages, convertMessages(messages), named, { leading, tools: counted });
      const note = planned.note === null ? [] : [new HumanMessage(planned.note)];
      return handler({ ...request, messages: [...planned.kept, ...note] });
    },
  });
}

/** Converts messages. Each is one message of chat completions. */
export function convertMessages(messages: readonly BaseMessage[]): ConvertedMessage[] {
  const answered = new Set(messages.map((message) => (message as Fields).tool_call_id));
  return messages.map((message, at) => ({ positions: [at], message: chatMessage(message, answered) }));
}

/** Fields of some types of messages. */
interface Fields {
  role?: string;
  tool_call_id?: string;
  tool_calls?: { id?: string; name?: string; args?: unknown }[];
  invalid_tool_calls?: { id?: string; name?: string; args?: string }[];
}

const ROLES: Readonly<Record<string, string>> = {
  human: "user",
  ai: "assistant",
  system: "system",
  developer: "developer",
  tool: "tool",
};

/** Converts a message. An invalid call is a call if a message answers it. */
function chatMessage(message: BaseMessage, answered: ReadonlySet<unknown>): ChatMessage {
  const { role, tool_call_id, tool_calls = [], invalid_tool_calls = [] } = message as Fields;
  const given = message.content;
  const content = typeof given === "string" ? given : given.filter(isContent).map(contentPart);
  const written: ChatMessage = { role: ROLES[message.type] ?? role ?? "user", content };
  if (tool_call_id !== undefined) written.tool_call_id = tool_call_id;
  const calls = [...tool_calls, ...invalid_tool_calls.filter(({ id }) => answered.has(id))];
  if (calls.length > 0) written.tool_calls = calls.map(({ id, name, args }) => toolCall(id, name, args));
  return written;
}

/** Returns whether a block is not a copy of a call in `tool_calls`. */
function isContent({ type }: { type?: unknown }): boolean {
  return type !== "tool_use" && type !== "tool_call" && type !== "invalid_tool_call" && type !== "input_json_delta";
}

function contentPart(block: object): object {
  const { type, text } = block as { type?: unknown; text?: unknown };
  if (type === "text") return { type, text: String(text ?? "") };
  const url = imageUrl(block as ImageBlock);
  return url === undefined ? { type: "text", text: asText(block) } : { type: "image_url", image_url: { url } };
}

/** The forms of an image block. */
interface ImageBlock {
  type?: string;
  image_url?: string | { url?: string };
  url?: string;
  data?: string;
  mimeType?: string;
  mime_type?: string;
}

function imageUrl(block: ImageBlock): string | undefined {
  const { type, image_url, url, data, mimeType, mime_type } = block;
  if (type === "image_url") return typeof image_url === "string" ? image_url : image_url?.url;
  if (type !== "image") return undefined;
  return url ?? (typeof data === "string" ? `data:${mimeType ?? mime_type ?? "image/png"};base64,${data}` : undefined);
}

function describedTool(tool: object): object {
  const { name, type, schema } = tool as { name?: unknown; type?: unknown; schema?: unknown };
  if (schema !== undefined || type === "function") return convertToOpenAITool(tool);
  return toolDefinition(name ?? type, "", tool);
}

/** Returns the schemas of a response in the form of tools. */
function responseSchemas(format: unknown): object[] {
  if (format === undefined || format === null) return [];
  if (Array.isArray(format)) return format.flatMap(responseSchemas);
  const isStrategy = typeof format === "object" && "schema" in format;
  const schema = toJsonSchema((isStrategy ? format.schema : format) as Parameters<typeof toJsonSchema>[0]);
  return [toolDefinition("response", "", schema)];
}

function modelOptions(model: unknown, options: Options<BaseMessage>): Pick<Options<BaseMessage>, "budget" | "model"> {
  const given = model as { model?: unknown; modelName?: unknown; profile?: { maxInputTokens?: number } };
  const name = given.model ?? given.modelName;
  return {
    model: options.model ?? (typeof name === "string" ? name : undefined),
    budget: options.budget ?? given.profile?.maxInputTokens,
  };
}
