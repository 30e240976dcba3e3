// Writes the types of files and reports from the JSON Schemas: types.mjs FOLDER OUT.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { compile } from "json-schema-to-typescript";

// The schema of presets is that of agents, and more.
const FILES = ["agent", "import-report", "life", "profile", "report", "session", "worldbook"];

const [folder, out] = process.argv.slice(2);
const definitions = {};
for (const name of FILES) {
  const { $schema, definitions: own, title, ...schema } = JSON.parse(await readFile(join(folder, `${name}.schema.json`)));
  for (const [key, definition] of Object.entries({ ...own, [title]: schema })) {
    // Titles within would become types of their own.
    const untitled = JSON.stringify(definition, (at, value) => (at === "title" && typeof value === "string" ? undefined : value));
    const text = untitled.replaceAll('"#"', `"#/definitions/${title}"`);
    if (key in definitions && JSON.stringify(definitions[key]) !== text) throw new Error(`two kinds of \`${key}\``);
    definitions[key] = JSON.parse(text);
  }
}
const types = await compile({ title: "Files", type: "object", definitions, additionalProperties: false }, "Files", {
  bannerComment: "/** The types of files and reports, made of their JSON Schemas. */",
  format: false,
  unreachableDefinitions: true,
});
await writeFile(out, types);
