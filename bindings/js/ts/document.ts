/** Documents and findings. */

import type { Diagnostic } from "./files.js";
import type { Position } from "./error.js";

/** What is wrong with a document, and where. */
export interface Finding extends Diagnostic {
  position?: Position;
}

/** A document with the name of its file. */
export interface NamedDocument {
  file: string;
  text?: string;
  base64?: string;
}

/** A document: its text in JSON or YAML, its bytes, its content, or any of these with the name of its file. */
export type Document<T extends object = object> = string | Uint8Array | T | NamedDocument;

/** Writes a document for the engine; bytes become base64. */
export function named(document: Document, kind: string, file?: string): unknown {
  if (document instanceof Uint8Array) return { file: file ?? kind, base64: base64(document) };
  if (file !== undefined && typeof document === "string") return { file, text: document };
  return document;
}

const CHUNK = 0x2000;

/** Writes bytes as base64. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}
