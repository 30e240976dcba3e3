// Bundles the page: the same sources give the same bytes. `cargo xtask page` calls it; `--watch` builds again after each
// change, for work on the page.
import { build, context } from "esbuild";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, copyFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv.find((argument) => argument.startsWith("--out="))?.slice(6) ?? join(here, "build");

/** Takes the one place out of the bundle where a text could become HTML: what was meant as HTML is shown as text. */
const noHtml = {
  name: "no-html",
  setup({ onLoad }) {
    onLoad({ filter: /preact[\\/]dist[\\/]preact\.(m?js|module\.js)$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes(".innerHTML")) throw new Error(`${path} has no innerHTML any more: this plugin can go`);
      return { contents: text.replaceAll(".innerHTML", ".textContent"), loader: "js" };
    });
  },
};

const shared = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  target: ["chrome111", "firefox115", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  outdir: out,
  logLevel: "warning",
  metafile: true,
};
const scripts = {
  ...shared,
  entryPoints: { studio: "src/main.tsx", editor: "src/editor/chunk.ts" },
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [noHtml],
  // The editor is loaded when the first text is opened, so it must stay a file of its own.
  external: ["./editor.js"],
};
const styles = { ...shared, entryPoints: { studio: "src/styles/studio.css" } };

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const icons = readFileSync(join(here, "src/icons.svg"), "utf8");
const html = readFileSync(join(here, "src/index.html"), "utf8");
writeFileSync(join(out, "index.html"), html.replace("{{icons}}", () => sprite(icons)));
copyFileSync(join(here, "src/icons.svg"), join(out, "icons.svg"));
if (process.argv.includes("--watch")) {
  for (const options of [scripts, styles]) await (await context(options)).watch();
} else {
  const { metafile } = await build(scripts);
  await build(styles);
  writeFileSync(join(out, "LICENSES.txt"), licences(Object.keys(metafile.inputs)));
}

/** The pictures as a part of the page: in Chromium a reference into another file costs ten times as much to make and paint. */
function sprite(file) {
  const symbols = file.slice(file.indexOf("<symbol"), file.lastIndexOf("</svg>")).trim();
  return `<svg class="sprite" aria-hidden="true">\n${symbols.replaceAll('<symbol id="', '<symbol id="icon-')}\n</svg>`;
}

/** The licences of the packages that are in the bundle, and of the icons. */
function licences(inputs) {
  const names = new Set();
  for (const input of inputs) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (name) names.add(name);
  }
  const parts = [...names].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const pictures = join(here, "src/icons.LICENSE.txt");
  if (existsSync(pictures)) parts.push(readFileSync(pictures, "utf8").trim() + "\n");
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}
