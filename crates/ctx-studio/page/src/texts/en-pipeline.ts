// The texts of the page Pipeline in English.
import type { Origin } from "../api";

export const pipeline = {
  views: { processors: "Processors", compression: "Compression" },
  keyByKey:
    "Settings for the stored summaries of a conversation. Each setting is inherited separately: from this agent, then from all agents, then the default.",
  inherit: "Inherit",
  inherited: (from: string) => `inherited: ${from}`,
  next: (path: string) => `Next automatic summary in ${path}:`,
  title: "Processors in execution order",
  layerLabel: "Save changes for",
  layers: { agent: "this agent", model: "the model", user: "all agents" } as Record<Origin, string>,
  noFile: {
    agent: "no agent open",
    model: "no settings file selected",
    user: "no ctx.toml in this folder",
  } as Record<Origin, string>,
  origins: {
    "built-in": "default",
    user: "all agents",
    model: "model",
    agent: "agent",
    "command-line": "this preview",
  } as Record<Origin, string>,
  modelFile: "Model settings file",
  core: "core",
  priority: "Priority",
  noFields: "No settings.",
  resetAll: (count: number) => (count === 0 ? "Reset all" : `Reset all (${count})`),
  resetOne: (name: string) => `Reset ${name}`,
  wasReset: (count: number) => (count === 1 ? "Reset" : `${count} processors reset`),
  copied: (name: string, count: number) =>
    `${name}: copied ${count === 1 ? "1 value" : `${count} values`}, because settings of a processor are overridden as a whole`,
  overruled: (by: string, others: string) => `All settings come from: ${by}. Settings for ${others} have no effect.`,
  decidesInstead: (by: string, own: string) =>
    `All settings come from: ${by}. Changes for ${own} have no effect until you reset them there.`,
  movedTo: (name: string, priority: number) => `Priority of ${name}: ${priority}`,
  crowded: "No free priority here",
  crowdedHelp: "Priorities are integers. To insert the processor here, these priorities must change too:",
  moveToo: "Change all",
};
