/** Conversion of messages of the AI SDK for planning. */

import { type ChatMessage, type ConvertedMessage, asText, base64, toolCall } from "./planning.js";

/** A part of a message. */
interface Part {
  type?: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: { type?: string; value?: unknown; reason?: string };
  providerExecuted?: boolean;
  image?: unknown;
  data?: unknown;
  mediaType?: string;
  filename?: string;
}

/**
 * Converts model messages, or the prompt of a provider call. Several results in a message become several messages. A
 * message without results, such as an approval, belongs to the message before it.
 */
export function convertMessages(messages: readonly object[]): ConvertedMessage[] {
  const converted: ConvertedMessage[] = [];
  for (const [at, given] of messages.entries()) {
    const { role, content } = given as { role?: unknown; content?: unknown };
    const parts: Part[] = Array.isArray(content) ? content : [];
    if (role === "tool") {
      const results = parts.filter(isResult);
      if (results.length === 0 && converted.length > 0) converted.at(-1)?.positions.push(at);
      else converted.push(...results.map((part) => ({ positions: [at], message: result(part) })));
      continue;
    }
    const message = Array.isArray(content)
      ? partsMessage(String(role), parts)
      : { role: String(role), content: asText(content ?? "") };
    converted.push({ positions: [at], message });
  }
  return converted;
}

/** Converts parts. A provider's own calls and their results are content: they never leave their message. */
function partsMessage(role: string, parts: readonly Part[]): ChatMessage {
  const answered = new Set(parts.filter(isResult).map(({ toolCallId }) => toolCallId));
  const isCall = (part: Part) =>
    part.type === "tool-call" && !part.providerExecuted && !answered.has(part.toolCallId);
  const calls = parts.filter(isCall);
  const content = parts.filter((part) => !isCall(part)).map(contentPart);
  const message: ChatMessage = { role, content };
  if (calls.length > 0) {
    message.tool_calls = calls.map(({ toolCallId, toolName, input }) => toolCall(toolCallId, toolName, input));
  }
  return message;
}

function contentPart(part: Part): object {
  if (part.type === "text" || part.type === "reasoning") return { type: "text", text: part.text ?? "" };
  const { mediaType = part.type === "image" ? "image/png" : "" } = part;
  const isImage = part.type === "image" || (part.type === "file" && mediaType.startsWith("image"));
  return isImage ? imagePart(part.image ?? part.data, mediaType) : { type: "text", text: asText(part) };
}

/** Converts an image: an address, base64, or bytes. AI SDK 7 also wraps them with their type. */
function imagePart(given: unknown, mediaType: string): object {
  if (typeof given === "object" && given !== null && "type" in given) {
    const wrapped = given as { data?: unknown; url?: unknown; reference?: unknown };
    return imagePart(wrapped.data ?? wrapped.url ?? asText(wrapped.reference ?? ""), mediaType);
  }
  const isBytes = given instanceof Uint8Array || given instanceof ArrayBuffer;
  const text = isBytes ? base64(given) : String(given ?? "");
  const url = /^(?:https?|data):/.test(text) ? text : `data:${mediaType};base64,${text}`;
  return { type: "image_url", image_url: { url } };
}

function isResult({ type }: Part): boolean {
  return type === "tool-result";
}

function result({ toolCallId, output }: Part): ChatMessage {
  const { type, value, reason } = output ?? {};
  const content = type === "content" && Array.isArray(value) ? value.map(resultPart) : asText(value ?? reason ?? "");
  return { role: "tool", tool_call_id: String(toolCallId ?? ""), content };
}

function resultPart(part: Part): object {
  const isImage = String(part.type).startsWith("image-") || String(part.mediaType).startsWith("image/");
  const { url } = part as { url?: string };
  return isImage ? imagePart(part.data ?? url, part.mediaType ?? "image/png") : contentPart(part);
}
