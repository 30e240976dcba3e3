// The texts of the page Pipeline in English.
import type { Origin } from "../api";

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const pipeline = {
  views: { processors: "Processors", compression: "Compression" },
  title: "Processors in execution order",
  saveIn: "Save changes in",
  layers: { agent: "This agent", model: "Model", user: "All agents" } as Record<Origin, string>,
  noFile: { agent: "no agent open", user: "no ctx.toml in this folder" } as Record<"agent" | "user", string>,
  applies: (path: string) => `The model settings in ${path} apply to this window.`,
  stopApplying: "Do not apply",
  origins: {
    "built-in": "default",
    user: "all agents",
    model: "model",
    agent: "agent",
    "command-line": "this preview",
  } as Record<Origin, string>,
  groups: {
    collect: { name: "Collect", help: "conversation, rules, worldbooks" },
    place: { name: "Place", help: "preset entries, notes, macros" },
    fit: { name: "Fit", help: "token budget" },
    shape: { name: "Shape", help: "roles and separators for the model" },
    files: { name: "Files", help: "attachments" },
  },
  core: "always on",
  effects: {
    added: (count: number) => `${counted(count, "message")} added`,
    removed: (count: number) => `${counted(count, "message")} removed`,
    changed: (count: number) => `${counted(count, "message")} changed`,
    replaced: (removed: number, added: number) => `${counted(removed, "message")} joined into ${added}`,
    tokens: (tokens: string) => `${tokens} tokens`,
  },
  noEffect: "no change",
  showStep: "Show in the preview",
  priority: "Priority",
  priorityHelp: "Processors with a lower priority run earlier",
  resetAll: (count: number) => (count === 0 ? "Reset all" : `Reset all (${count})`),
  resetOne: (name: string) => `Reset ${name}`,
  wasReset: (count: number) => (count === 1 ? "Reset" : `${count} processors reset`),
  copied: (name: string, count: number) =>
    `${name}: copied ${counted(count, "value")}, because settings of a processor are overridden as a whole`,
  overruled: (by: string, others: string) => `All settings come from: ${by}. Settings for ${others} have no effect.`,
  decidesInstead: (by: string, own: string) =>
    `All settings come from: ${by}. Changes for ${own} have no effect until you reset them there.`,
  movedTo: (name: string, priority: number) => `Priority of ${name}: ${priority}`,
  crowded: "No free priority here",
  crowdedHelp: "Priorities are integers. To insert the processor here, these priorities must change too:",
  moveToo: "Change all",

  // Compression
  inShort: {
    off: "Off: conversations are not compressed.",
    manual: "Manual: only with “Compress” in the chat.",
    automatic: (above: readonly string[], kept: number) =>
      `Automatic above ${above.join(" or ")}; the last ${counted(kept, "message")} are kept.`,
    tokens: (tokens: string) => `${tokens} tokens`,
    messages: (count: number) => counted(count, "message"),
  },
  advanced: "Advanced",
  advancedSet: (count: number) => `Advanced (${count} set)`,
  keyByKey: "Each setting is inherited separately: from this agent, then from all agents, then the default.",
  next: (path: string) => `Next automatic summary in ${path}:`,
};
