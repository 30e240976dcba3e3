// The edits of the form of an agent. They write only differences; an empty field has no key.
import type { Edit } from "../api";
import type { OpenFile } from "../files";
import { get, isObject, join } from "../pointer";

/** Where the agent is in a file: "" or the agent of an AIO Hub export. Undefined if the form cannot edit the file. */
export function agentBase(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  if (Array.isArray(value["agents"])) return isObject(value["agents"][0]) ? "/agents/0" : undefined;
  return isForeign(value) ? undefined : "";
}

/** Cards and presets of other applications have keys that no agent has. */
export function isForeign(value: unknown): boolean {
  return isObject(value) && ["spec", "data", "prompts", "prompt_order", "char_name", "first_mes"].some((key) => key in value);
}

/** Sets the value at a path below an object. Undefined removes the key, and the object around it if it becomes empty. */
export function put(value: unknown, base: string, path: readonly string[], next: unknown): Edit[] {
  const pointer = join(base, ...path);
  if (JSON.stringify(get(value, pointer)) === JSON.stringify(next)) return [];
  const parent = join(base, ...path.slice(0, -1));
  const around = path.length > 1 ? get(value, parent) : undefined;
  if (next === undefined) {
    const isLast = isObject(around) && Object.keys(around).length === 1;
    return [{ op: "remove", pointer: isLast ? parent : pointer }];
  }
  if (path.length > 1 && !isObject(around))
    return [{ op: "set", pointer: parent, value: { [path.at(-1) ?? ""]: next } }];
  return [{ op: "set", pointer, value: next }];
}

/** Sets a value of a file as `put` does. */
export function change(file: OpenFile, base: string, path: readonly string[], next: unknown): void {
  const edits = put(file.value.peek(), base, path, next);
  if (edits.length > 0) file.edit(...edits);
}

/** The parameters of the form, with the bounds that providers accept. */
export interface Parameter {
  name: "temperature" | "topP" | "topK" | "maxTokens" | "frequencyPenalty" | "presencePenalty" | "seed";
  /** The same parameter as some files spell it. */
  other?: string;
  minimum?: number;
  maximum?: number;
  isWhole?: boolean;
}
export const PARAMETERS: Parameter[] = [
  { name: "temperature", minimum: 0, maximum: 2 },
  { name: "topP", other: "top_p", minimum: 0, maximum: 1 },
  { name: "topK", other: "top_k", minimum: 0, isWhole: true },
  { name: "maxTokens", other: "max_tokens", minimum: 1, isWhole: true },
  { name: "frequencyPenalty", other: "frequency_penalty", minimum: -2, maximum: 2 },
  { name: "presencePenalty", other: "presence_penalty", minimum: -2, maximum: 2 },
  { name: "seed", isWhole: true },
];

/** The key of a parameter in a file. */
export function keyOf(parameters: unknown, { name, other }: Pick<Parameter, "name" | "other">): string {
  return other !== undefined && isObject(parameters) && !(name in parameters) && other in parameters ? other : name;
}

/** The parameters that neither the form nor the page Pipeline shows. */
export function otherParameters(parameters: unknown): [string, unknown][] {
  if (!isObject(parameters)) return [];
  const shown = new Set(["stop", "processors", "contextCompression", ...PARAMETERS.map((one) => keyOf(parameters, one))]);
  return Object.entries(parameters).filter(([key]) => !shown.has(key));
}

/** Reads a number field: undefined if it is empty, or null if the value is invalid. */
export function numberIn(text: string, { minimum, maximum, isWhole }: Parameter): number | undefined | null {
  if (text.trim() === "") return undefined;
  const number = Number(text.trim().replace(",", "."));
  const isInside = number >= (minimum ?? -Infinity) && number <= (maximum ?? Infinity);
  return Number.isFinite(number) && isInside && !(isWhole && !Number.isSafeInteger(number)) ? number : null;
}
