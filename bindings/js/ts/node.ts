/** The package in Node.js, where files are read and not fetched. */

import { readFile } from "node:fs/promises";

import { readFilesWith } from "./engine.js";

readFilesWith((_, place) => readFile(place));

export * from "./index.js";
