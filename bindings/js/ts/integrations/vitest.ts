/**
 * Vitest: importing this module adds `expect(value).toMatchContext(name?)`.
 *
 * It compares messages or a request with `__ctx__/<module>.<test>.json` next to the test. Only `vitest -u` writes the file.
 */

import { mkdir, readFile, writeFile } from "node:fs/promises";

import { expect } from "vitest";

import { writeBytes } from "./planning.js";

declare module "vitest" {
  // The parameter must have the name that Vitest gave it.
  interface Matchers<T = any> {
    /** Compares messages or a request with a file. `name` distinguishes several of a test. */
    toMatchContext(name?: string): Promise<T>;
  }
}

/** The used fields of a matcher's state. */
interface MatcherState {
  isNot?: boolean;
  testPath?: string;
  currentTestName?: string;
  snapshotState?: object;
}

interface Comparison {
  pass: boolean;
  message: () => string;
  actual?: string;
  expected?: string;
}

/** The texts that this process wrote, by file. */
const written = new Map<string, string>();

/** The matcher, for an own `expect.extend({ toMatchContext })`. */
export async function toMatchContext(this: MatcherState, value: unknown, name?: string): Promise<Comparison> {
  if (this.isNot) throw new Error("`toMatchContext` cannot be negated");
  const path = contextPath(this, name);
  const actual = contextText(value);
  if (isUpdate(this.snapshotState)) {
    if (written.has(path) && written.get(path) !== actual) {
      throw new Error(`two contexts of a test have the file \`${path}\`; pass a name to \`toMatchContext\``);
    }
    written.set(path, actual);
    await mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await writeFile(path, actual);
    return { pass: true, message: () => "" };
  }
  const expected = await readExisting(path);
  if (expected === undefined) {
    return { pass: false, message: () => `the file \`${path}\` is missing; write it with \`vitest -u\`` };
  }
  const message = () => `the context differs from \`${path}\`; if that is right, update the file with \`vitest -u\``;
  return { pass: actual === expected, message, actual, expected };
}

expect.extend({ toMatchContext });

function isUpdate(state: object | undefined): boolean {
  return state !== undefined && "_updateSnapshot" in state && state._updateSnapshot === "all";
}

const MAX_NAME = 120;

function contextPath({ testPath, currentTestName }: MatcherState, name?: string): string {
  if (testPath === undefined || currentTestName === undefined) throw new Error("`toMatchContext` needs a running test");
  const path = testPath.replaceAll("\\", "/");
  const slash = path.lastIndexOf("/");
  const module = path.slice(slash + 1).replace(/(?:\.(?:test|spec))?\.\w+$/, "");
  const test = name === undefined ? currentTestName : `${currentTestName} ${name}`;
  const words = test.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return `${path.slice(0, slash)}/__ctx__/${module}.${[...words].slice(0, MAX_NAME).join("")}.json`;
}

async function readExisting(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).replaceAll("\r\n", "\n");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

const ID_KEYS = new Set(["id", "toolCallId", "tool_call_id", "callId", "call_id", "approvalId"]);
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g;

/** Writes a value with sorted keys. Ids become numbers in order of their appearance, and times become `<time>`. */
export function contextText(value: unknown): string {
  const json = JSON.stringify(value, writeBytes);
  if (json === undefined) throw new TypeError(`a ${typeof value} cannot be written as JSON`);
  const numbers = new Map<string, string>();
  const numbered = (id: string) => {
    if (!numbers.has(id)) numbers.set(id, `<id ${numbers.size + 1}>`);
    return numbers.get(id) as string;
  };
  const stable = (_: string, one: unknown): unknown => {
    if (typeof one === "string") return one.replace(UUID, numbered).replace(TIME, "<time>");
    if (typeof one !== "object" || one === null || Array.isArray(one)) return one;
    const fields = Object.entries(one).map(([key, field]): [string, unknown] => [
      key,
      ID_KEYS.has(key) && typeof field === "string" ? numbered(field) : field,
    ]);
    return Object.fromEntries(fields.sort(([first], [second]) => (first < second ? -1 : 1)));
  };
  return `${JSON.stringify(JSON.parse(json), stable, 2)}\n`;
}
