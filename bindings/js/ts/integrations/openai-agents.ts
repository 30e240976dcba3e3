/**
 * OpenAI Agents SDK: a filter that plans the input of each model call, and a session that plans the input of each run.
 *
 * The filter limits tool loops: the SDK calls it before each model call. A session alone limits only the stored items
 * that a run begins with. Both keep all items in the store.
 */

import { type AgentInputItem, type CallModelInputFilter, type CallModelInputFilterArgs, RunContext, type Session } from "@openai/agents";

import { convertItems } from "./openai-items.js";
import { PlanStates } from "./plan-states.js";
import { type ChatMessage, type Options, type Report, jsonSchema, toolDefinition } from "./planning.js";

export type { Report };

const SESSIONS = new PlanStates();

/**
 * Returns a filter for `callModelInputFilter`. It counts instructions, tools, handoffs and the schema of the output.
 *
 * Many runs can share it. Tokens are counted for `model`; the default is the model of the agent. A model call throws
 * `CtxError` with the code `infeasible` if the items that cannot be removed exceed the budget.
 */
export function ctxInputFilter(options: Options<AgentInputItem> = {}): CallModelInputFilter {
  const states = new PlanStates();
  const filter = async (call: CallModelInputFilterArgs) => {
    const { input, instructions } = call.modelData;
    const leading: ChatMessage[] = instructions ? [{ role: "system", content: instructions }] : [];
    const { model } = call.agent;
    const named = { ...options, model: options.model ?? (typeof model === "string" ? model : undefined) };
    const planned = await states.plan(input, convertItems(input), named, { leading, tools: await agentTools(call) });
    const note: AgentInputItem[] = planned.note === null ? [] : [{ role: "user", content: planned.note }];
    return { ...call.modelData, input: [...planned.kept, ...note] };
  };
  return Object.assign(filter, { preserveInputIdentity: true });
}

/**
 * Returns a session that stores all items in another session, and returns those to send from `getItems()`.
 *
 * `reserve` must contain the instructions and tools of the agent. `getItems` with a limit returns the newest stored items
 * without a plan. All other methods call the given session.
 */
export function ctxSession<S extends Session>(session: S, options: Omit<Options<AgentInputItem>, "recall"> = {}): S {
  const getItems = async (...given: Parameters<S["getItems"]>): Promise<AgentInputItem[]> => {
    const items = await session.getItems(...given);
    if (given[0] !== undefined || items.length === 0) return items;
    return (await SESSIONS.plan(items, convertItems(items), { ...options, recall: 0 })).kept;
  };
  return new Proxy(session, {
    get: (target, name) => {
      if (name === "getItems") return getItems;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Returns the tools, handoffs and output schema of an agent as tools of chat completions. */
async function agentTools({ agent, context }: CallModelInputFilterArgs): Promise<object[]> {
  const running = new RunContext(context);
  const tools = (await agent.getAllTools(running)).map((tool) =>
    tool.type === "function" ? toolDefinition(tool.name, tool.description, tool.parameters) : toolDefinition(tool.name, "", {}),
  );
  const handoffs = (await agent.getEnabledHandoffs(running)).map((one) =>
    toolDefinition(one.toolName, one.toolDescription, one.inputJsonSchema),
  );
  const output: unknown = agent.outputType;
  if (output === undefined || output === "text") return [...tools, ...handoffs];
  const given = output as { type?: unknown; schema?: unknown };
  const schema = given.type === "json_schema" ? given.schema : await jsonSchema("outputType", output);
  return [...tools, ...handoffs, toolDefinition("response", "", schema)];
}
