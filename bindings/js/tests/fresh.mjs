// Packs the package, installs it in a new project, and runs the code of its README and of the page of the guide.
//
// Usage: fresh.mjs GUIDE_PAGE

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const npm = (folder, ...words) => execFileSync("npm", words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
const project = mkdtempSync(join(tmpdir(), "ctx-js-"));
try {
  npm(resolve("."), "pack", "--silent", "--ignore-scripts", "--pack-destination", project);
  const [tarball] = readdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  npm(project, "install", "--silent", "--no-audit", "--no-fund", "--offline", `./${tarball}`);
  const pages = ["README.md", process.argv[2]].map((page) => {
    const blocks = [...readFileSync(page, "utf8").matchAll(/```js(?: run)?\n([^]*?)```/g)].map(([, block]) => block);
    if (blocks.length < 2) throw new Error(`${page} has no code`);
    return blocks;
  });
  for (const [place, block] of pages.flat().entries()) {
    const name = `block_${place}.mjs`;
    writeFileSync(join(project, name), `console.assert = (told) => { if (!told) throw new Error("an assertion failed"); };\n${block}`);
    execFileSync("node", [name], { cwd: project, stdio: "inherit" });
  }
  const bytes = readFileSync(join(project, tarball)).length;
  console.log(`js: ${tarball} has ${bytes} bytes with its vocabularies; ${pages.flat().length} blocks of its pages run`);
} finally {
  rmSync(project, { recursive: true });
}
