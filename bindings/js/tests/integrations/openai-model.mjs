// A scripted model of the OpenAI Agents SDK.

import { Usage } from "@openai/agents";

import { STEPS, said } from "./measure.mjs";

/** Calls a tool 30 times, and then answers. */
export function scriptedModel(requests) {
  return {
    getResponse: async (request) => {
      requests.push(request);
      const step = requests.length;
      const words = (text) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] });
      const call = { type: "function_call", callId: `call-${step}`, name: "inspect", arguments: JSON.stringify({ step }), status: "completed" };
      return { usage: new Usage(), output: step > STEPS ? [words("All done.")] : [words(said(step)), call] };
    },
  };
}
