// Measures the built-in functions of the frameworks in the loop of the tests, for the tables of the guide.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import * as ai from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { ClearToolUsesEdit, contextEditingMiddleware, createAgent, summarizationMiddleware, tool } from "langchain";
import * as z from "zod";

import { asChat as sdkChat, scripted } from "./ai-sdk-suite.mjs";
import { ScriptedModel, asChat as langchainChat } from "./langchain-model.mjs";
import { BUDGET, STEPS, SYSTEM, TASK, measure, report } from "./measure.mjs";

async function print(name, requests) {
  const { tokens, sum, shared, resets, broken } = await measure(requests);
  const over = tokens.filter((one) => one > BUDGET).length;
  console.log(`${name}: tokens ${sum}, largest ${Math.max(...tokens)}, shared ${shared.toFixed(2)}, resets ${resets}, over ${over}, broken ${broken}`);
}

async function runSdk(name, prepareStep) {
  const requests = [];
  const inspect = ai.tool({ description: "Inspects a section.", inputSchema: z.object({ step: z.number() }), execute: async ({ step }) => report(step) });
  await ai.generateText({
    model: scripted(MockLanguageModelV3, requests), system: SYSTEM, prompt: TASK, tools: { inspect },
    stopWhen: ai.stepCountIs(STEPS + 10), prepareStep,
  });
  await print(name, requests.map(sdkChat));
}

class Summarizer extends BaseChatModel {
  _llmType() {
    return "summarizer";
  }
  async _generate() {
    const message = new AIMessage("The sections were inspected.");
    return { generations: [{ text: message.text, message }] };
  }
}

async function runLangchain(name, middleware) {
  const model = new ScriptedModel({});
  const inspect = tool(({ step }) => report(step), { name: "inspect", description: "Inspects a section.", schema: z.object({ step: z.number() }) });
  const agent = createAgent({ model, tools: [inspect], systemPrompt: SYSTEM, middleware });
  await agent.invoke({ messages: [new HumanMessage(TASK)] }, { recursionLimit: 400 });
  await print(name, model.requests.map(langchainChat));
}

await runSdk("ai: no function", undefined);
await runSdk("ai: pruneMessages, last 20 messages", ({ messages }) => ({
  messages: ai.pruneMessages({ messages, toolCalls: "before-last-20-messages" }),
}));
await runLangchain("langchain: no middleware", []);
await runLangchain("langchain: summarizationMiddleware", [
  summarizationMiddleware({ model: new Summarizer({}), trigger: { tokens: BUDGET }, keep: { tokens: 4_800 } }),
]);
await runLangchain("langchain: ClearToolUsesEdit", [
  contextEditingMiddleware({ edits: [new ClearToolUsesEdit({ trigger: { tokens: BUDGET }, keep: { messages: 3 } })] }),
]);
