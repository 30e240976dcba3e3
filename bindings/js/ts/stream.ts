import { give, ready } from "./engine.js";
import { Held } from "./held.js";
import type { Dialect, Reply } from "./operations.js";

/** What an event of a streamed reply brought. */
export type Delta =
  | { kind: "text" | "reasoning"; text: string }
  | { kind: "call"; index: number; id: string; name: string }
  | { kind: "arguments"; index: number; text: string }
  | { kind: "other" };

/** A streamed reply that is read piece by piece. */
export class Stream {
  readonly #events: string[] = [];
  readonly #held: Held;

  private constructor(dialect: Dialect) {
    this.#held = new Held(() => (exports) => {
      give(exports, dialect);
      const stream = exports.stream_new();
      for (const event of this.#events) {
        give(exports, event);
        exports.stream_push(stream);
      }
      return stream;
    });
  }

  /** Begins with nothing. */
  static async open(dialect: Dialect): Promise<Stream> {
    await ready();
    return new Stream(dialect);
  }

  /** Takes the data of the next server-sent event; returns what it brought. */
  push(data: string): Delta[] {
    const text = this.#held.ask((exports, number) => {
      give(exports, data);
      return exports.stream_push(number);
    });
    this.#events.push(data);
    return JSON.parse(text);
  }

  /** Returns what came so far, as an answer that was cut off. */
  partial(): Reply {
    return JSON.parse(this.#held.ask((exports, number) => exports.stream_partial(number)));
  }

  /** Returns the whole reply. */
  finish(): Reply {
    return JSON.parse(this.#held.ask((exports, number) => exports.stream_finish(number)));
  }

  /** Lets go of it; without this the engine does when nothing refers to it any more. */
  free(): void {
    this.#held.free();
  }
}
