import { type Exports, type Limits, callNow, give, json, loadVocabulary, perform, ready, within } from "./engine.js";
import { usage } from "./error.js";
import type { Session } from "./files.js";
import { Held } from "./held.js";
import { type Message, asMessages, inPlace, listed } from "./message.js";
import { type Document, type Finding, named } from "./document.js";

/** What a conversation is fitted with. */
export interface FitOptions extends Limits {
  /** Whose tokens are counted; they are estimated without one. */
  model?: string | undefined;
  /** Definitions of tools, which are part of the budget. */
  tools?: readonly object[] | undefined;
  /** How many tokens are kept free for the answer. */
  reserve?: number | undefined;
  /** Whether notes are written in place of what does not fit, as messages of their own. */
  compress?: boolean | undefined;
}

/** What the engine makes of a conversation that is fitted. */
interface Fitted {
  kept: (number | Message)[];
  tokens: number;
}

const encodings = new Map<string, string>();

/** Loads the engine, and what counts the tokens of a model. */
export async function prepare(model?: string, models?: unknown): Promise<void> {
  await ready();
  if (model === undefined) return;
  let encoding = models === undefined ? encodings.get(model) : undefined;
  if (encoding === undefined) {
    encoding = String(JSON.parse(callNow("model", json({ model, models }))).encoding);
    if (models === undefined) encodings.set(model, encoding);
  }
  await loadVocabulary(encoding);
}

/** A conversation that grows: each message crosses to the engine once, and is counted once. */
export class Conversation<M extends object = Message> {
  readonly #messages: M[] = [];
  /** For each message of the engine, the number of ours that says it. */
  readonly #owners: number[] = [];
  /** The effects that were applied, as JSON. */
  readonly #effects: string[] = [];
  readonly #held: Held;
  /** The document that it was read from, as JSON, and how many messages that had. */
  readonly #document: string | undefined;
  #read = 0;

  private constructor(document?: string) {
    this.#document = document;
    this.#held = new Held(() => this.#making());
  }

  /** Begins with messages: as chat completions have them, or objects of other packages. */
  static async of<M extends object>(messages: Iterable<M> = []): Promise<Conversation<M>> {
    await ready();
    const conversation = new Conversation<M>();
    try {
      conversation.extend(messages);
    } catch (error) {
      // Nobody else can.
      conversation.free();
      throw error;
    }
    return conversation;
  }

  /**
   * Reads a conversation's file: a session, a chat of SillyTavern, a list of messages.
   *
   * `fit` then gives `{ number }` for each message of the file that stays, from 0 along its branch.
   */
  static async read(document: Document<Session>): Promise<Conversation<Message | { number: number }>> {
    await ready();
    const conversation = new Conversation<Message | { number: number }>(json(named(document, "session")));
    conversation.#number();
    return conversation;
  }

  /** Adds one message. */
  append(message: M): void {
    this.extend([message]);
  }

  /** Adds messages behind the last one. */
  extend(messages: Iterable<M>): void {
    const own = listed(messages);
    const written = own.map(asMessages);
    if (written.length === 0) return;
    const list = written.flat();
    const crossed = crossingOf(written, list);
    const [handle, before] = [this.#held.number(), this.#owners.length];
    const count = perform((exports) => add(exports, handle, before, list, crossed));
    for (const [place, message] of own.entries()) {
      for (const _ of written[place] ?? []) this.#owners.push(this.#messages.length);
      this.#messages.push(message);
    }
    if (count !== this.#owners.length) throw usage(`${this.#owners.length} messages were read as ${count}`);
  }

  /**
   * Applies the `effects` of a turn whose request was sent: variables, timed effects of worldbooks, and the texts that an
   * append-only request inserted.
   */
  apply(effects: readonly object[]): void {
    const [handle, text] = [this.#held.number(), json(effects)];
    perform((exports) => {
      give(exports, text);
      return exports.conversation_apply(handle);
    });
    this.#effects.push(text);
  }

  /** Returns the messages that fit; see `fit`. */
  fit(budget: number | undefined, options: FitOptions & { compress: true }): Promise<(M | Message)[]>;
  fit(budget?: number, options?: FitOptions): Promise<M[]>;
  async fit(budget?: number, options: FitOptions = {}): Promise<(M | Message)[]> {
    await prepare(options.model);
    if (options.compress && this.#owners.length !== this.#messages.length) {
      throw usage("with `compress`, calls and results are messages of their own, as chat completions have them");
    }
    const { signal, timeLimit, ...others } = options;
    const given = json({ budget, ...others });
    const text = within({ signal, timeLimit }, () =>
      this.#held.ask((exports, number) => {
        give(exports, given);
        return exports.conversation_fit(number);
      }),
    );
    const { kept }: Fitted = JSON.parse(text);
    const fitted: (M | Message)[] = [];
    let last = -1;
    for (const one of kept) {
      const owner = typeof one === "number" ? (this.#owners[one] ?? -1) : -1;
      const own = this.#messages[owner];
      // A message of ours may be several to the engine: it is sent once.
      if (own !== undefined && owner !== last) fitted.push(own);
      if (typeof one !== "number") fitted.push(one);
      last = owner;
    }
    return fitted;
  }

  /** Returns the conversation as its file holds it. */
  toJSON(): Session {
    return this.#describe().session;
  }

  /** What is odd about its document. */
  get findings(): Finding[] {
    return this.#describe().findings;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** Its number in the engine. */
  get handle(): number {
    return this.#held.number();
  }

  /** Lets go of it; without this the engine does when nothing refers to it any more. */
  free(): void {
    this.#held.free();
  }

  #describe(): { session: Session; findings: Finding[] } {
    return JSON.parse(this.#held.ask((exports, number) => exports.conversation_describe(number)));
  }

  /** Makes it in the engine from its document, the added messages, and the applied effects. */
  #making(): (exports: Exports) => number {
    const document = this.#document;
    const added = this.#messages.slice(this.#read).flatMap(asMessages);
    const crossed = crossing(added);
    return (exports) => {
      if (document !== undefined) give(exports, document);
      const number = document === undefined ? exports.conversation_new() : exports.conversation_read();
      if (number < 0) return number;
      let failure = added.length === 0 ? 0 : Math.min(add(exports, number, this.#read, added, crossed), 0);
      for (const effects of this.#effects) {
        if (failure < 0) break;
        give(exports, effects);
        failure = exports.conversation_apply(number);
      }
      return failure || number;
    };
  }

  #number(this: Conversation<Message | { number: number }>): void {
    const handle = this.#held.number();
    const count = perform((exports) => exports.conversation_length(handle));
    this.#read = count;
    for (let number = 0; number < count; number += 1) {
      this.#owners.push(number);
      this.#messages.push({ number });
    }
  }
}

/** The roles of messages that may have a text and nothing else; the result of a tool names its call. */
const PLAIN_ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant"]);

/** Writes messages for the engine: as JSON, or where they are nothing but roles and texts, as a list of these. */
export function crossing(messages: readonly object[]): string | string[] {
  const texts: string[] = [];
  for (const message of messages) {
    const keys = Object.keys(message);
    const { role, content, toJSON } = message as Record<string, unknown>;
    const isPlain = keys.length === 2 && keys[0] === "role" && keys[1] === "content" && toJSON === undefined;
    if (!isPlain || !PLAIN_ROLES.has(role) || typeof content !== "string") return json(messages);
    texts.push(role as string, content);
  }
  return texts;
}

/** The same for messages that are to be added; what cannot be written names its message. */
function crossingOf(written: readonly (readonly object[])[], list: readonly object[]): string | string[] {
  try {
    return crossing(list);
  } catch (error) {
    for (const [place, said] of written.entries()) inPlace(place, () => json(said));
    throw error;
  }
}

/** Adds messages to a conversation of the engine, which has so many before; returns how many it has then. */
function add(exports: Exports, conversation: number, before: number, messages: readonly object[], crossed: string | string[]): number {
  if (typeof crossed !== "string") {
    give(exports, crossed);
    const count = exports.conversation_extend(conversation, crossed.length);
    if (count !== before) return count;
    // Nothing was added: a text has NUL in it. To look for it in each beforehand takes longer than all else.
  }
  give(exports, typeof crossed === "string" ? crossed : json(messages));
  return exports.conversation_extend(conversation, 0);
}

/**
 * Returns the messages that fit into a budget of tokens: those that were given, in their order.
 *
 * Leading instructions and what is being answered stay, and of the rest the newest messages; a call of a tool and its
 * results stay or go together. With `compress`, notes stand in place of what does not fit.
 *
 * `budget` is what messages and tools may cost together; the window of the model if it is absent. A list crosses to
 * the engine anew each time; a `Conversation` that grows does not. Rejects with a `CtxError` of the code `infeasible` if
 * what must stay is more than the budget.
 */
export function fit<M extends object>(
  messages: Conversation<M> | Iterable<M>,
  budget: number | undefined,
  options: FitOptions & { compress: true },
): Promise<(M | Message)[]>;
export function fit<M extends object>(
  messages: Conversation<M> | Iterable<M>,
  budget?: number,
  options?: FitOptions,
): Promise<M[]>;
export async function fit<M extends object>(
  messages: Conversation<M> | Iterable<M>,
  budget?: number,
  options: FitOptions = {},
): Promise<(M | Message)[]> {
  if (messages instanceof Conversation) return messages.fit(budget, options);
  const conversation = await Conversation.of(messages);
  try {
    return await conversation.fit(budget, options);
  } finally {
    conversation.free();
  }
}

/** The arguments of LangChain's function that mean the same here. */
export interface TrimOptions {
  maxTokens: number;
  /** The name of a model, whose tokens are counted; they are estimated without one. */
  tokenCounter?: string;
  strategy?: "last";
  includeSystem?: true;
  allowPartial?: false;
}

/**
 * Trims as LangChain's function of this name does, where its arguments mean the same here.
 *
 * What is not done (another strategy, messages cut in the middle, leading instructions left out, `startOn`, `endOn`,
 * a counter that is a function) is refused with a `CtxError`.
 */
export async function trimMessages<M extends object>(messages: Iterable<M>, options: TrimOptions): Promise<M[]> {
  const { maxTokens, tokenCounter, strategy = "last", includeSystem = true, allowPartial = false, ...others } = options;
  const left = Object.keys(others);
  if (strategy !== "last" || !includeSystem || allowPartial || left.length > 0) {
    throw usage("only `strategy: \"last\"` with whole messages and leading instructions is done");
  }
  if (tokenCounter !== undefined && typeof tokenCounter !== "string") {
    throw usage("`tokenCounter` is the name of a model: the engine counts by itself");
  }
  return fit(messages, maxTokens, { model: tokenCounter });
}
