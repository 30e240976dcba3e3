// Runs the code of the guide's pages, with scripted models.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const GUIDE = join(HERE, "../../../../docs/guide");
const BLOCKS = { "ai-sdk": 2, "langchain-js": 1, "openai-agents-js": 2 };

for (const [page, count] of Object.entries(BLOCKS)) {
  test(`the code of ${page}.md runs`, async () => {
    const text = await readFile(join(GUIDE, `${page}.md`), "utf8");
    const blocks = [...text.matchAll(/```js run\n([^]*?)```/g)].map(([, block]) => block);
    assert.equal(blocks.length, count);
    // The models import files of the tests by their place.
    const folder = await mkdtemp(join(HERE, "page-models", "page-"));
    try {
      await cp(join(HERE, "page-models", page), folder, { recursive: true });
      for (const [at, block] of blocks.entries()) {
        await writeFile(join(folder, `block-${at}.mjs`), block);
        execFileSync("node", [`block-${at}.mjs`], { cwd: folder, stdio: "pipe" });
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}
