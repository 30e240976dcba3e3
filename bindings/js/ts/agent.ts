import { type Exports, type Limits, dropHost, give, json, keepHost, withEngine, within } from "./engine.js";
import { Conversation, prepare } from "./conversation.js";
import { type Document, type Finding, base64, named } from "./document.js";
import type { Agent as AgentFile, Diagnostic, Life, Report, Source, UserProfile, Worldbook } from "./files.js";
import { Held } from "./held.js";
import { type HostParts, hostParts } from "./host.js";
import type { Dialect } from "./operations.js";

/** What an agent is compiled with; all of it optional. */
export interface AgentOptions extends HostParts {
  profile?: Document<UserProfile>;
  worldbooks?: readonly Document<Worldbook>[];
  /** Ids of worldbooks that hold only where somebody asks for them. */
  atHand?: readonly string[];
  /** What is known about models, beside the built-in table. */
  models?: Document;
  /** Settings as `parameters` of an agent has them, under the agent's. */
  userSettings?: object;
  modelSettings?: object;
  /** Ids of processors. */
  enable?: readonly string[];
  disable?: readonly string[];
}

/** What may differ between two turns; all of it optional. */
export interface Turn extends Limits {
  /** What the user is about to send. */
  input?: string;
  /** Whether macros of the input are expanded. */
  expandInput?: boolean;
  model?: string;
  /** What everything together may cost; the window of the model if it is absent. */
  contextTokens?: number;
  /** How many tokens are kept free for the answer. */
  reserve?: number;
  kind?: "normal" | "continue" | "impersonate" | "quiet";
  /** Prefix mode; the agent's if it is absent. */
  prefix?: "moving" | "append-only" | "auto";
  /** The time of the turn, in RFC 3339; now if it is absent. */
  at?: string | Date;
  /** The time zone, such as `Asia/Shanghai`. */
  tz?: string;
  seed?: number;
  profileName?: string;
  tools?: readonly object[];
  /** Where a provider that wants marks for its cache gets them. */
  cacheMarks?: "off" | "stable";
  /** Whether nothing but a preview is made, without effects. */
  preview?: boolean;
  /** Attached files by their paths: bytes, or base64. */
  files?: Readonly<Record<string, Uint8Array | string>>;
  /** What comes beside messages: a text, or the body of a request with `parameters` and `template`. */
  format?: "json" | "snapshot" | Dialect;
  parameters?: object;
  template?: string | object;
}

/** A message of a context. */
export interface ContextMessage {
  role: string;
  content: string | object[] | null;
  source: Source;
  tokens: number;
  name?: string;
  tool_calls?: object[];
  tool_call_id?: string;
  [more: string]: unknown;
}

/** What is sent, and how it came about. */
export interface Context {
  messages: ContextMessage[];
  report: Report;
  /** What a host applies to the conversation when it sends the context. */
  effects: object[];
  /** The snapshot, with `format: "snapshot"`. */
  text?: string;
  /** The body of the request, with a dialect as `format`. */
  body?: Record<string, unknown>;
  bodyFindings?: Diagnostic[];
}

/** What an agent is. */
export interface AgentDescription {
  name: string | null;
  model: string | null;
  processors: { id: string; enabled: boolean; priority: number }[];
  findings: Finding[];
}

const left = new FinalizationRegistry<number>(dropHost);

/** An agent or preset that is compiled once and makes any number of contexts. */
export class Agent {
  readonly #held: Held;
  readonly #models: unknown;
  /** The number of its own functions. */
  readonly #host: number;
  #described: AgentDescription | undefined;

  private constructor(options: string, models: unknown, host: number) {
    this.#models = models;
    this.#host = host;
    this.#held = new Held(() => (exports) => {
      give(exports, options);
      return exports.agent_new(host);
    });
    left.register(this, host, this);
  }

  /** Compiles an agent or preset; without one, contexts hold the conversation alone. */
  static async compile(agent?: Document<AgentFile>, options: AgentOptions = {}): Promise<Agent> {
    const { anchors, macros, processors, ...others } = options;
    const given = agentOptions(agent, others);
    const { parts, answer } = hostParts({ anchors, macros, processors });
    const host = keepHost(answer);
    try {
      return await withEngine(() => new Agent(json({ ...given, host: parts }), given.models, host));
    } catch (error) {
      dropHost(host);
      throw error;
    }
  }

  /** Its name, its model and the settings of its processors. */
  describe(): AgentDescription {
    this.#described ??= JSON.parse(this.#held.ask((exports, number) => exports.agent_describe(number)));
    return this.#described as AgentDescription;
  }

  /** What is wrong with its documents, each finding with its place. */
  get findings(): Finding[] {
    return this.describe().findings;
  }

  /** Makes the context of a turn. */
  async assemble<M extends object>(conversation?: Conversation<M>, turn: Turn = {}): Promise<Context> {
    return this.#ask(conversation, turn, (exports, agent, talk) => exports.agent_assemble(agent, talk));
  }

  /** Explains a context: its report, or with `message` (its number, or its source) the life of that message. */
  async explain<M extends object>(
    conversation: Conversation<M> | undefined,
    turn: Turn & { message: number | string },
  ): Promise<Life>;
  async explain<M extends object>(conversation?: Conversation<M>, turn?: Turn): Promise<Report>;
  async explain<M extends object>(
    conversation?: Conversation<M>,
    turn: Turn & { message?: number | string } = {},
  ): Promise<Report | Life> {
    return this.#ask(conversation, turn, (exports, agent, talk) => exports.agent_explain(agent, talk));
  }

  /** Lets go of it; without this the engine does when nothing refers to it any more. */
  free(): void {
    this.#held.free();
    dropHost(this.#host);
    left.unregister(this);
  }

  async #ask<M extends object, T>(
    conversation: Conversation<M> | undefined,
    turn: Turn,
    question: (exports: Exports, agent: number, conversation: number) => number,
  ): Promise<T> {
    await prepare(turn.model ?? this.describe().model ?? undefined, this.#models);
    const talk = conversation ?? (await Conversation.of<M>());
    const given = json(turnOptions(turn));
    const handle = talk.handle;
    try {
      const text = within(turn, () =>
        this.#held.ask((exports, agent) => {
          give(exports, given);
          return question(exports, agent, handle);
        }),
      );
      return JSON.parse(text);
    } finally {
      if (!conversation) talk.free();
    }
  }
}

/** Writes the documents of an agent for the engine. */
export function agentOptions(agent: Document<AgentFile> | undefined, options: AgentOptions): Record<string, unknown> {
  const { profile, models, worldbooks, ...others } = options;
  const book = (document: Document, place: number): unknown =>
    named(document, place === 0 ? "worldbook" : `worldbook_${place + 1}`);
  return {
    agent: agent && named(agent, "agent"),
    profile: profile && named(profile, "profile"),
    models: models && named(models, "models"),
    worldbooks: worldbooks?.map(book),
    ...others,
  };
}

/** Writes a turn for the engine; its time is now if none is named. */
export function turnOptions(turn: Turn & { message?: number | string }): Record<string, unknown> {
  const { at = new Date(), files, message, signal, timeLimit, ...others } = turn;
  const packed = Object.entries(files ?? {}).map(([path, content]) => [
    path,
    typeof content === "string" ? content : base64(content),
  ]);
  return {
    ...others,
    at: typeof at === "string" ? at : at.toISOString(),
    files: files && Object.fromEntries(packed),
    message: message === undefined ? undefined : String(message),
  };
}
