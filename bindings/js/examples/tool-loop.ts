// A loop of model and tools, as a graph of LangGraph has it, that compresses its messages when they outgrow a budget.

import { type Message, compress, count } from "ctx-engine";

export interface State {
  messages: Message[];
}

export interface Call {
  id: string;
  function: { name: string; arguments: string };
}

export interface Tools {
  /** Asks the model. */
  model(messages: Message[]): Promise<Message>;
  /** Carries out a call, and gives its result. */
  run(call: Call): Promise<string>;
}

const BUDGET = 600;
const MOST_STEPS = 50;

/** Goes on until the model calls no tool; notes stand in place of what no longer fits. */
export async function loop(state: State, tools: Tools): Promise<State> {
  let { messages } = state;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if ((await count(messages)) > BUDGET) ({ messages } = await compress(messages, BUDGET));
    const said = await tools.model(messages);
    messages = [...messages, said];
    const calls = (said.tool_calls ?? []) as readonly Call[];
    if (calls.length === 0) return { messages };
    const results = calls.map(async (call) => ({ role: "tool", tool_call_id: call.id, content: await tools.run(call) }));
    messages = [...messages, ...(await Promise.all(results))];
  }
  throw new Error(`no answer after ${MOST_STEPS} steps`);
}
