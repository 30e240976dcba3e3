/** Conversion of items of the OpenAI Agents SDK for planning. */

import { type ChatMessage, type ConvertedMessage, asText, toolCall } from "./planning.js";

/** The used fields of items. */
interface Item {
  type?: string;
  role?: string;
  id?: string;
  callId?: string | null;
  call_id?: string | null;
  name?: string;
  arguments?: unknown;
  action?: unknown;
  content?: unknown;
  output?: unknown;
  providerData?: { approval_request_id?: string; id?: string };
}

/** Calls that the application must answer. */
const APPLICATION_CALLS = new Set(["function_call", "computer_call", "apply_patch_call"]);

/** Converts items. Consecutive items of a response are one message. Reasoning stays with its calls. */
export function convertItems(items: readonly object[]): ConvertedMessage[] {
  const given = items as readonly Item[];
  const answered = new Set(given.map(resultId).filter((id) => id !== undefined));
  const converted: ConvertedMessage[] = [];
  let response: number[] = [];
  const endResponse = () => {
    if (response.length > 0) converted.push({ positions: response, message: responseMessage(response.map((at) => given[at] as Item), answered) });
    response = [];
  };
  for (const [at, item] of given.entries()) {
    const id = resultId(item);
    if (id === undefined && item.role !== "user" && item.role !== "system") {
      response.push(at);
      continue;
    }
    endResponse();
    const message: ChatMessage =
      id === undefined
        ? { role: String(item.role), content: content(item.content) }
        : { role: "tool", tool_call_id: id, content: content(item.output ?? item) };
    converted.push({ positions: [at], message });
  }
  endResponse();
  return converted;
}

function responseMessage(items: readonly Item[], answered: ReadonlySet<string>): ChatMessage {
  const parts: object[] = [];
  const calls = [];
  for (const item of items) {
    const id = callId(item, answered);
    if (id !== undefined) calls.push(toolCall(id, item.name ?? item.type, item.arguments ?? item));
    else if (item.role === "assistant" && Array.isArray(item.content)) parts.push(...item.content.map(part));
    else parts.push({ type: "text", text: asText(item) });
  }
  return calls.length > 0 ? { role: "assistant", content: parts, tool_calls: calls } : { role: "assistant", content: parts };
}

/** Returns the id of a call. Calls that the provider answers in the same item are content. */
function callId(item: Item, answered: ReadonlySet<string>): string | undefined {
  const ids = [item.callId, item.call_id, item.id, item.providerData?.id];
  const found = ids.find((id) => typeof id === "string" && answered.has(id));
  if (found) return found;
  return APPLICATION_CALLS.has(item.type ?? "") ? (item.callId ?? "") : undefined;
}

/** Returns the id of the call that an item is the result of. */
function resultId({ type = "", name, callId, call_id, providerData }: Item): string | undefined {
  if (name === "mcp_approval_response") return providerData?.approval_request_id;
  return /_(?:result|output)$/.test(type) ? (callId ?? call_id ?? undefined) : undefined;
}

function content(given: unknown): string | object[] {
  if (Array.isArray(given)) return given.map(part);
  return typeof given === "object" && given !== null ? [part(given)] : asText(given ?? "");
}

function part(given: object): object {
  const { type, text, refusal, image, data, mediaType } = given as Record<string, unknown>;
  if (typeof text === "string") return { type: "text", text };
  if (typeof refusal === "string") return { type: "text", text: refusal };
  if (type === "input_image" || type === "image" || type === "computer_screenshot") {
    const url = imageUrl(image ?? data, mediaType);
    if (url !== undefined) return { type: "image_url", image_url: { url } };
  }
  return { type: "text", text: asText(given) };
}

function imageUrl(given: unknown, mediaType: unknown): string | undefined {
  if (typeof given === "object" && given !== null && "data" in given) {
    const { data, mediaType: type } = given as { data: unknown; mediaType?: unknown };
    return `data:${type ?? "image/png"};base64,${typeof data === "string" ? data : ""}`;
  }
  if (typeof given !== "string") return undefined;
  return /^(?:https?|data):/.test(given) ? given : `data:${mediaType ?? "image/png"};base64,${given}`;
}
