// Which layer of settings this window edits; a module of its own, since the file on the page depends on it.
import { signal } from "@preact/signals";
import type { Origin } from "../api";

export const layer = signal<Origin>("agent");
/** What of it is shown. */
export const pipelineView = signal<"processors" | "compression">("processors");
/** The id of the file of that layer, where it is not the agent. */
export const layerFile = signal<string | undefined>(undefined);
