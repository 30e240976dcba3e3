// Runs the cases of the conformance suite through the package, in whatever runs this module.

const AS_THE_COMMAND = ["macros/unknown_zone_is_utc", "worldbook/books_of_cards_follow_their_rules"];
const QUIET = ["merge-system-to-head", "merge-consecutive-roles"];
const OF_A_MESSAGE = ["role", "content", "name", "tool_calls", "tool_call_id", "attachments", "prefix"];
const RENAMED = { expand_input: "expandInput", profile_name: "profileName", context_tokens: "contextTokens" };
const OF_A_TURN = ["input", "expand_input", "kind", "model", "profile_name", "at", "tz", "seed", "context_tokens", "reserve"];
const SETTINGS = { user_parameters: "userSettings", model_parameters: "modelSettings", at_hand: "atHand" };

// Returns all calls with their results, a line each, and which cases differ from what the suite expects, but for
// `decisions`.
export async function conformance(ctx, cases) {
  const lines = [];
  const different = [];
  let left = 0;
  for (const encoding of ["cl100k_base", "o200k_base"]) await ctx.loadVocabulary(encoding);
  const ask = async (name, given) => {
    // JavaScript has no integers beyond 2^53; the suite keeps them as texts.
    const text = JSON.stringify(given).replaceAll(/"#(\d+)"/g, "$1");
    let result;
    try {
      result = await ctx.callJson(name, text);
    } catch (error) {
      if (!(error instanceof ctx.CtxError) || error.code === "internal") throw error;
      result = JSON.stringify({ error: { code: error.code, message: error.message } });
    }
    lines.push(`[${JSON.stringify(name)},${text}]\t${result}`);
    return JSON.parse(result);
  };
  for (const { name, options, needs, files, expected } of cases) {
    // Turns that follow each other, and files that only `ctx-documents` reads, are no part of the package. Two more
    // differ as the command does: it refuses zones that do not exist, and calls books by their titles.
    if ((options.turns ?? 1) > 1 || needs.includes("files") || AS_THE_COMMAND.includes(name)) {
      left += 1;
      continue;
    }
    delete expected.decisions;
    if ("unreadable" in expected || "error" in expected) delete expected.findings;
    const outcome = await ofCase(ask, options, files);
    if (sorted(outcome) !== sorted(expected)) different.push(name);
  }
  return { lines, different, left, run: cases.length - left };
}

async function ofCase(ask, options, files) {
  const given = {};
  const assets = {};
  for (const [path, content] of Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const stem = path.split("/")[0].split(".")[0];
    if (path.startsWith("assets/")) assets[path.slice("assets/".length)] = content;
    else if (stem.startsWith("worldbook")) (given.worldbooks ??= []).push({ file: path, base64: content });
    else given[stem === "session" ? "conversation" : stem] = { file: path, base64: content };
  }
  given.enable = options.enable ?? [];
  given.disable = [...(options.disable ?? []), ...(options.formatters ? [] : QUIET)];
  for (const [key, name] of Object.entries(SETTINGS)) if (key in options) given[name] = options[key];
  for (const key of OF_A_TURN) if (key in options) given[RENAMED[key] ?? key] = options[key];
  if (Object.keys(assets).length > 0) given.files = assets;
  const made = await ask("assemble", given);
  if (made.error?.code.startsWith("CTX")) return { unreadable: await unreadable(ask, files) };
  if (made.error) return { error: made.error.code };
  const bodies = {};
  const tools = options.tools ? { tools: options.tools } : {};
  for (const format of options.bodies ?? []) {
    const asked = { ...given, format, parameters: options.parameters ?? {}, ...tools };
    bodies[format] = (await ask("assemble", asked)).body ?? null;
  }
  if (options.openai) bodies.openai = (await ask("assemble", { ...given, format: "openai" })).body ?? null;
  // A body names the model of the turn; where a case has none, the suite writes `model`.
  for (const body of Object.values(bodies)) if (body?.model === "unspecified") body.model = "model";
  const findings = (made.report.diagnostics ?? []).map((found) => found.code).sort();
  return { messages: made.messages.map(message), findings, bodies };
}

// Names the documents that cannot be read, each tried alone.
async function unreadable(ask, files) {
  const order = ["agent", "session", "profile"];
  const rank = (path) => [...order.map((one) => (path.split(".")[0] === one ? "0" : "1"))].join("");
  const found = [];
  for (const path of Object.keys(files).sort((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    const stem = path.split(".")[0];
    const document = { file: path, base64: files[path] };
    const given = stem.startsWith("worldbook")
      ? { worldbooks: [document] }
      : { [stem === "session" ? "conversation" : stem]: document };
    const made = await ask("assemble", { ...given, contextTokens: 0 });
    if (made.error?.code.startsWith("CTX")) found.push(stem);
  }
  return found;
}

function message(one) {
  const kept = Object.fromEntries(OF_A_MESSAGE.filter((key) => key in one).map((key) => [key, one[key]]));
  const source = ["kind", "id", "index"].filter((key) => key in one.source).map((key) => [key, one.source[key]]);
  return { ...kept, source: Object.fromEntries(source) };
}

// The text of a value in which the order of keys makes no difference.
function sorted(value) {
  return JSON.stringify(value, (_, inner) =>
    inner && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
