// A scripted model of LangChain.js.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import * as messages from "@langchain/core/messages";

import { STEPS, said } from "./measure.mjs";

/** Calls a tool 30 times, and then answers. */
export class ScriptedModel extends BaseChatModel {
  requests = [];
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  async _generate(given) {
    this.requests.push(given);
    const step = this.requests.length;
    const tool_calls = step > STEPS ? [] : [{ id: `call-${step}`, name: "inspect", args: { step }, type: "tool_call" }];
    const message = new messages.AIMessage({ content: step > STEPS ? "All done." : said(step), tool_calls });
    return { generations: [{ text: message.text, message }] };
  }
}

const ROLES = { human: "user", ai: "assistant", system: "system", tool: "tool" };

/** Writes messages as chat completions, without the converter under test. */
export function asChat(given) {
  return given.map((message) => {
    const written = { role: ROLES[message.type], content: message.text };
    if (message.type === "tool") written.tool_call_id = message.tool_call_id;
    if (message.tool_calls?.length > 0) {
      written.tool_calls = message.tool_calls.map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } }));
    }
    return written;
  });
}
