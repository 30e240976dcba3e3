// Writes the TypeScript types of the API from its JSON Schema: `node types.mjs < SCHEMA > src/api.d.ts`.
import { readFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

/** What says the type of a value in a schema. */
const TYPED = ["type", "$ref", "oneOf", "anyOf", "allOf", "const", "enum"];

const { $defs } = JSON.parse(readFileSync(0, "utf8"));
for (const type of Object.values($defs)) adapt(type);
const options = {
  additionalProperties: false,
  bannerComment: "// Generated from the Rust types by `cargo xtask page`.",
  unknownAny: true,
  unreachableDefinitions: true,
};
process.stdout.write(await compile({ $defs }, "Api", options));

/** The server omits a field that has no value, so an optional field is never null. A field without a type is any JSON. */
function adapt(schema) {
  for (const variant of schema.oneOf ?? schema.anyOf ?? []) adapt(variant);
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (field === true) continue;
    if (!TYPED.some((word) => word in field)) field.tsType = "unknown";
    if (schema.required?.includes(key)) continue;
    if (Array.isArray(field.type)) field.type = field.type.filter((type) => type !== "null");
    if (field.anyOf) field.anyOf = field.anyOf.filter(({ type }) => type !== "null");
  }
}
