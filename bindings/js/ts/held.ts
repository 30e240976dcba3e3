/** What the engine holds for an object of ours: made again where the engine was started anew, freed with the object. */

import { type Exports, ask, instance, perform } from "./engine.js";
import { usage } from "./error.js";

interface Place {
  number: number;
  instance: number;
}

const left = new FinalizationRegistry<Place>(release);

export class Held {
  #place: Place | undefined;
  #isFreed = false;
  readonly #prepare: () => (exports: Exports) => number;

  /** Makes it, and remembers how: `prepare` gives what makes it in the engine. */
  constructor(prepare: () => (exports: Exports) => number) {
    this.#prepare = prepare;
    this.number();
  }

  /** Returns its number in the engine. */
  number(): number {
    if (this.#isFreed) throw usage("this was freed");
    if (this.#place?.instance !== instance()) {
      const made = perform(this.#prepare());
      if (this.#place) left.unregister(this);
      this.#place = { number: made, instance: instance() };
      left.register(this, this.#place, this);
    }
    return this.#place!.number;
  }

  /** Asks it something; returns the text of the answer. */
  ask(question: (exports: Exports, number: number) => number): string {
    const number = this.number();
    return ask((exports) => question(exports, number));
  }

  free(): void {
    if (this.#place) release(this.#place);
    left.unregister(this);
    this.#isFreed = true;
  }
}

function release(place: Place): void {
  if (place.instance === instance()) perform((exports) => exports.free(place.number));
}
