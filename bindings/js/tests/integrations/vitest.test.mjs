import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const SPEC = `
import { randomUUID } from "node:crypto";
import "ctx-engine/vitest";
import { expect, test } from "vitest";

test("sends the question", async () => {
  const id = randomUUID();
  const messages = [
    { role: "user", content: process.env.QUESTION + " " + new Date().toISOString() },
    { tool_calls: [{ id, function: { name: "inspect", arguments: "{}" } }], role: "assistant" },
    { role: "tool", tool_call_id: id, content: "lit" },
  ];
  await expect(messages).toMatchContext();
  await expect({ tools: [] }).toMatchContext("tools");
});
`;

test("vitest: only an update writes files, and others are compared", async () => {
  const folder = await mkdtemp(join(HERE, "vitest-"));
  const run = (question, ...options) => {
    const arguments_ = [join(HERE, "node_modules/vitest/vitest.mjs"), "run", "--root", folder, ...options];
    const { status, stdout, stderr } = spawnSync("node", arguments_, { encoding: "utf8", env: { ...process.env, QUESTION: question, NO_COLOR: "1" } });
    return { status, output: stdout + stderr };
  };
  try {
    await writeFile(join(folder, "lamp.spec.mjs"), SPEC);
    const missing = run("Is it lit?");
    assert.equal(missing.status, 1, missing.output);
    assert.match(missing.output, /lamp\.sends-the-question\.json` is missing/);
    assert.ok(!(await readdir(folder)).includes("__ctx__"), "a run without update writes nothing");

    const update = run("Is it lit?", "-u");
    assert.equal(update.status, 0, update.output);
    assert.deepEqual((await readdir(join(folder, "__ctx__"))).sort(), ["lamp.sends-the-question-tools.json", "lamp.sends-the-question.json"]);
    const text = await readFile(join(folder, "__ctx__/lamp.sends-the-question.json"), "utf8");
    assert.deepEqual(JSON.parse(text), [
      { content: "Is it lit? <time>", role: "user" },
      { role: "assistant", tool_calls: [{ function: { arguments: "{}", name: "inspect" }, id: "<id 1>" }] },
      { content: "lit", role: "tool", tool_call_id: "<id 1>" },
    ]);
    assert.ok(text.indexOf('"content"') < text.indexOf('"role"') && text.endsWith("]\n"));

    const same = run("Is it lit?");
    assert.equal(same.status, 0, same.output);
    const changed = run("Is it clean?");
    assert.equal(changed.status, 1, changed.output);
    assert.match(changed.output, /Is it clean\? <time>/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
