// Reads the cases of the conformance suite from its archive: name, options, needs, files in base64, what is expected.

import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

export function readSuite(path) {
  const archive = unpack(readFileSync(path));
  const read = (name) => JSON.parse(archive.get(name).toString());
  return read("manifest.json").cases.map(({ name, needs, files }) => ({
    name,
    needs,
    // Integers that JavaScript does not have stay texts.
    options: JSON.parse(archive.get(`cases/${name}/case.json`).toString().replaceAll(/: ?(\d{16,})/g, ':"#$1"')),
    files: Object.fromEntries(files.map((file) => [file, archive.get(`cases/${name}/${file}`).toString("base64")])),
    expected: read(`cases/${name}/expected.json`),
  }));
}

// The files of a ZIP archive, by the list at its end.
function unpack(bytes) {
  const files = new Map();
  const end = bytes.lastIndexOf("PK\x05\x06");
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((place) => bytes.readUInt16LE(at + place));
    const start = bytes.readUInt32LE(at + 42);
    const body = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
    const content = bytes.subarray(body, body + packed);
    files.set(bytes.toString("utf8", at + 46, at + 46 + name), method === 0 ? content : inflateRawSync(content));
    at += 46 + name + extra + comment;
  }
  return files;
}
