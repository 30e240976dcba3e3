// The texts of the page Pipeline in English.
import type { Origin } from "../api";

export const pipeline = {
  views: { processors: "Processors", compression: "Compression" },
  keyByKey:
    "These settings are for summaries that are kept with a conversation. Each counts by itself: what the agent does not set is taken from all agents, else it is built in.",
  inherit: "Inherit",
  inherited: (from: string) => `inherited: ${from}`,
  next: (path: string) => `By itself, in ${path}:`,
  title: "Processors, in the order in which they run",
  layerLabel: "Changes are for",
  layers: { agent: "this agent", model: "the model", user: "all agents" } as Record<Origin, string>,
  noFile: {
    agent: "no agent",
    model: "no file of settings chosen",
    user: "the folder has no ctx.toml",
  } as Record<Origin, string>,
  origins: {
    "built-in": "built-in",
    user: "all agents",
    model: "model",
    agent: "agent",
    "command-line": "this preview",
  } as Record<Origin, string>,
  modelFile: "Settings of the model",
  core: "core",
  priority: "Priority",
  noFields: "It has no settings.",
  resetAll: (count: number) => (count === 0 ? "Reset all" : `Reset all (${count})`),
  resetOne: (name: string) => `Reset ${name}`,
  wasReset: (count: number) => (count === 1 ? "Reset" : `${count} processors reset`),
  copied: (name: string, count: number) =>
    `${name}: ${count === 1 ? "1 value" : `${count} values`} of a lower layer copied, as one layer decides as a whole`,
  overruled: (by: string, others: string) =>
    `Decided as a whole by: ${by}. What is set for ${others} does not count here.`,
  decidesInstead: (by: string, own: string) =>
    `Decided as a whole by: ${by}. Changes for ${own} have no effect here until that is reset.`,
  movedTo: (name: string, priority: number) => `${name} now has priority ${priority}.`,
  crowded: "No number is free there",
  crowdedHelp: "Priorities are whole numbers. To make room, these processors move too:",
  moveToo: "Move them too",
};
