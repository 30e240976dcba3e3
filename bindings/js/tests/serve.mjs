// A server on the loopback device for files of this package, under a strict policy.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".bin": "application/octet-stream",
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

export const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

// Serves a folder, and `extra` texts by their paths; returns where, and how to end it.
export async function serve(folder, extra = {}) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    if (path === "/favicon.ico") return response.writeHead(204).end();
    const name = path.endsWith("/") ? `${path}index.html` : path;
    try {
      const body = extra[name] ?? (await readFile(join(folder, name)));
      const type = TYPES[extname(name)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "content-security-policy": POLICY });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
