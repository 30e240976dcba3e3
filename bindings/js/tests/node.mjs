// Runs the conformance suite through the package in Node.js, Bun or Deno: node.mjs SUITE.zip CALLS.

import { writeFileSync } from "node:fs";

import * as ctx from "ctx-engine";

import { conformance } from "./conformance.mjs";
import { readSuite } from "./suite.mjs";

const name = globalThis.Bun ? "Bun" : globalThis.Deno ? "Deno" : "Node.js";
const [suite, calls] = process.argv.slice(2);
const { lines, different, left, run } = await conformance(ctx, readSuite(suite));
writeFileSync(calls, lines.join("\n") + "\n");
console.log(`js: ${run - different.length} of ${run} cases give what the suite expects in ${name}, ${left} left out`);
if (different.length > 0) {
  console.error(`these differ: ${different.join(", ")}`);
  process.exit(1);
}
