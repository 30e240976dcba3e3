/**
 * vitest: `toMatchContext` compares a context, request body or list of messages with a JSON file in `__ctx__`.
 *
 * `vitest -u` writes the file. Import this module in a setup file, or call `expect.extend({ toMatchContext })`.
 */

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { expect } from "vitest";
import type { MatcherState } from "vitest";

declare module "vitest" {
  interface Matchers<T = any> {
    /** Compares with `__ctx__/FILE.TEST.json`, or `__ctx__/FILE.NAME.json`. */
    toMatchContext(name?: string): Promise<T>;
  }
}

/** Compares a value, as JSON with sorted keys, with a file. A missing file fails, unless `-u` writes it. */
export async function toMatchContext(this: MatcherState, received: unknown, name?: string) {
  const test = this.testPath;
  if (test === undefined) throw new Error("`toMatchContext` works only in a test");
  const title = (name ?? this.currentTestName ?? "").replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
  const path = join(dirname(test), "__ctx__", `${basename(test).replace(/\.\w+$/, "")}.${title}.json`);
  const text = `${JSON.stringify(sorted(received), null, 2)}\n`;
  const known = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  // vitest has no public name for `-u`.
  const { _updateSnapshot: mode } = this.snapshotState as unknown as { _updateSnapshot?: string };
  if (known !== text && mode === "all") {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return { pass: true, message: () => `wrote ${path}` };
  }
  const pass = known === text;
  const missing = `${path} is missing; \`vitest -u\` writes it`;
  const differs = () => `the context differs from ${path}; \`vitest -u\` accepts it\n${this.utils.diff(JSON.parse(known!), JSON.parse(text))}`;
  return { pass, message: () => (known === undefined ? missing : pass ? `the context is that of ${path}` : differs()) };
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  const plain = JSON.parse(JSON.stringify(value)) as object;
  if (Array.isArray(plain)) return plain.map(sorted);
  return Object.fromEntries(Object.entries(plain).sort(([left], [right]) => (left < right ? -1 : 1)).map(([key, one]) => [key, sorted(one)]));
}

expect.extend({ toMatchContext });
