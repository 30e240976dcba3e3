// AI SDK 7 needs Node.js 22.

import { test } from "node:test";

import { defineTests } from "./ai-sdk-suite.mjs";

if (Number(process.versions.node.split(".")[0]) < 22) {
  test("ai 7", { skip: `NOT TRIED: Node.js ${process.versions.node} is older than 22` }, () => {});
} else {
  const { MockLanguageModelV4 } = await import("ai-7/test");
  defineTests("ai 7", await import("ai-7"), MockLanguageModelV4);
}
