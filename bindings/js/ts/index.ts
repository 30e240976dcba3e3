/**
 * Fits conversations into a model's context, and says why each message is there.
 *
 * `fit` is where to begin. An `Agent` is compiled once and makes contexts of a `Conversation`; the other functions are
 * operations of the `ctx` command: values in, values out. The engine is WebAssembly, loaded at the first call.
 */

export {
  Agent,
  type AgentDescription,
  type AgentOptions,
  type Context,
  type ContextMessage,
  type Turn,
} from "./agent.js";
export { Conversation, type FitOptions, type TrimOptions, fit, trimMessages } from "./conversation.js";
export type { Document, Finding, NamedDocument } from "./document.js";
export { type FileContent, type Limits, type PackageFile, loadVocabulary, readFilesWith, ready } from "./engine.js";
export { CtxError, type ErrorDetails, type Position } from "./error.js";
export type * as files from "./files.js";
export type { DraftMessage, HostParts, OwnAnchor, OwnMacro, OwnProcessor } from "./host.js";
export type { Message } from "./message.js";
export * from "./operations.js";
export { type Delta, Stream } from "./stream.js";
