/** Anchors, macros and processors of your own. */

import { usage } from "./error.js";
import type { Message } from "./message.js";

/** An anchor of your own: an entry of this `type` says where it is, and others are placed at it. */
export interface OwnAnchor {
  id: string;
  name?: string;
  description?: string;
  /** Whether the entry's own content is sent; otherwise it only marks a place. */
  hasTemplate?: boolean;
  /** The content that a new entry of this type begins with. */
  defaultTemplate?: string;
}

/** A macro of your own. */
export interface OwnMacro {
  name: string;
  description?: string;
  /** How many arguments it takes at least, and at most; none by default. */
  min?: number;
  max?: number;
  /** Whether equal texts can give another value in the next turn: a provider's cache ends there. */
  volatile?: boolean;
  /** Makes the text that stands in its place. What it throws is a finding. */
  expand(...args: string[]): string;
}

/** A message that a processor is given. */
export interface DraftMessage extends Message {
  number: number;
}

/** A processor of your own. */
export interface OwnProcessor {
  id: string;
  name?: string;
  description?: string;
  /** Where it stands among the built-in ones; 900 by default, behind all that change texts. */
  priority?: number;
  /**
   * Changes messages: gives nothing, or the list that takes their place.
   *
   * Those that were given are known by their `number`, and may have another text; others are new. What it throws is a
   * finding, and then nothing is changed.
   */
  execute(messages: DraftMessage[]): (DraftMessage | Message)[] | undefined | void;
}

/** What is your own in an agent; functions give no promises, and call nothing of this package. */
export interface HostParts {
  anchors?: readonly OwnAnchor[] | undefined;
  macros?: readonly OwnMacro[] | undefined;
  processors?: readonly OwnProcessor[] | undefined;
}

interface Question {
  macro?: string;
  arguments?: string[];
  processor?: string;
  messages?: DraftMessage[];
}

/** Takes functions and what is said of them apart: the engine has the words, and asks for the rest. */
export function hostParts({ anchors = [], macros = [], processors = [] }: HostParts): {
  parts: object | undefined;
  answer: (question: unknown) => unknown;
} {
  const isEmpty = anchors.length + macros.length + processors.length === 0;
  const answer = (question: unknown): unknown => {
    const { macro, processor, arguments: args = [], messages = [] } = question as Question;
    if (macro !== undefined) return named(macros, (one) => one.name === macro).expand(...args);
    return named(processors, (one) => one.id === processor).execute(messages);
  };
  return { parts: isEmpty ? undefined : { anchors, macros, processors }, answer };
}

function named<T>(list: readonly T[], is: (one: T) => boolean): T {
  const found = list.find(is);
  if (found === undefined) throw usage("there is no such function");
  return found;
}
