/**
 * AI SDK 6 and 7: a function for `prepareStep`, and a middleware for language models.
 *
 * Both choose the messages of each model call. They return the objects that they were given.
 */

import { convertMessages } from "./ai-sdk-messages.js";
import { PlanStates } from "./plan-states.js";
import { type ChatMessage, type Options, type Report, jsonSchema, toolDefinition } from "./planning.js";

export type { Report };

/** The options of `ctxPrepareStep`. */
export interface PrepareStepOptions<M> extends Options<M> {
  /** The instructions of the agent, to count them. AI SDK 7 passes them to `prepareStep`. */
  system?: string | undefined;
  /** The tools of the agent, to count them: the AI SDK does not pass them to `prepareStep`. */
  tools?: Readonly<Record<string, unknown>> | undefined;
}

/** The used fields of a step. */
export interface Step<M> {
  messages: M[];
  /** AI SDK 7. */
  instructions?: unknown;
  initialMessages?: readonly object[];
  responseMessages?: readonly object[];
  experimental_steeringMessages?: readonly object[];
  steps?: readonly FinishedStep[];
}

/** The used fields of a finished step. */
export interface FinishedStep {
  response?: { messages?: readonly object[] };
  experimental_steeringMessages?: readonly object[];
}

/**
 * Returns a function for `prepareStep` of `generateText`, `streamText` and `ToolLoopAgent`.
 *
 * Many runs can share it. A step throws `CtxError` with the code `infeasible` if the messages that cannot be removed
 * exceed the budget.
 */
export function ctxPrepareStep<M extends object>(
  options: PrepareStepOptions<M> = {},
): (step: Step<M>) => Promise<{ messages: M[] }> {
  const states = new PlanStates();
  return async (step) => {
    const messages = history(step);
    const leading = instructions(step.instructions ?? options.system);
    const tools = await Promise.all(Object.entries(options.tools ?? {}).map(([name, tool]) => described(name, tool)));
    const planned = await states.plan(messages, convertMessages(messages), options, { leading, tools });
    const note = planned.note === null ? [] : [{ role: "user", content: planned.note } as unknown as M];
    return { messages: [...planned.kept, ...note] };
  };
}

/** The used fields of a provider call. */
export interface CallParameters {
  prompt: object[];
  tools?: readonly object[] | undefined;
  responseFormat?: { type: string; name?: string; description?: string; schema?: unknown } | undefined;
}

/** A middleware for language models. */
export interface Middleware {
  specificationVersion: "v3";
  transformParams: <P extends object, T extends { params: P; model: { modelId: string } }>(
    call: T,
  ) => Promise<T["params"]>;
}

/**
 * Returns a middleware for `wrapLanguageModel`. It counts instructions, tools and the schema of the response.
 *
 * Many conversations can share it. Tokens are counted for `model`; the default is the wrapped model.
 */
export function ctxMiddleware(options: Options<object> = {}): Middleware {
  const states = new PlanStates();
  return {
    specificationVersion: "v3",
    transformParams: async ({ params, model }) => {
      const { prompt, tools = [], responseFormat } = params as unknown as CallParameters;
      const counted: object[] = tools.map(providerTool);
      const { schema, name, description } = responseFormat ?? {};
      if (schema) counted.push(toolDefinition(name ?? "response", description, schema));
      const named = { ...options, model: options.model ?? model.modelId };
      const planned = await states.plan(prompt, convertMessages(prompt), named, { tools: counted });
      const note = planned.note === null ? [] : [{ role: "user", content: [{ type: "text", text: planned.note }] }];
      return { ...params, prompt: [...planned.kept, ...note] };
    },
  };
}

/**
 * Returns all messages of a run. AI SDK 7 passes the chosen messages of the step before, so the removed ones come from
 * its other lists: first the results of approved calls, then the user messages and the response of each step.
 */
function history<M extends object>(step: Step<M>): readonly M[] {
  const { initialMessages, responseMessages, steps = [] } = step;
  if (initialMessages === undefined || responseMessages === undefined) return step.messages;
  const responses = steps.map(({ response }) => response?.messages ?? []);
  const stepMessages = responses.reduce((sum, { length }) => sum + length, 0);
  const all = [
    ...initialMessages,
    ...responseMessages.slice(0, responseMessages.length - stepMessages),
    ...responses.flatMap((response, at) => [...(steps[at]?.experimental_steeringMessages ?? []), ...response]),
    ...(step.experimental_steeringMessages ?? []),
  ];
  return all as M[];
}

function instructions(given: unknown): ChatMessage[] {
  const listed = Array.isArray(given) ? given : given === undefined ? [] : [given];
  return listed.map((one) => ({ role: "system", content: typeof one === "string" ? one : String(one?.content ?? "") }));
}

interface Tool {
  description?: unknown;
  inputSchema?: unknown;
}

/** Returns a tool of an agent as a tool of chat completions. */
async function described(name: string, tool: unknown): Promise<object> {
  const { description, inputSchema } = tool as Tool;
  return toolDefinition(name, typeof description === "string" ? description : "", await jsonSchema(name, inputSchema));
}

function providerTool(tool: object): object {
  const { name, description, inputSchema, args } = tool as Record<string, unknown>;
  return toolDefinition(name, description, inputSchema ?? args);
}
