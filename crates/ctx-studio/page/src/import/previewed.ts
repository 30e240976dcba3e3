// The import whose messages the preview shows before anything is written.
import { computed, signal } from "@preact/signals";
import { route } from "../route";

/** An import with an agent. `files` changes when a file is added. */
export const importWithAgent = signal<{ batch: string; files: number } | undefined>(undefined);

/** On its own page, and on the page Preview that opens from there. */
export const previewedImport = computed(() =>
  route.value.page === "import" || route.value.page === "preview" ? importWithAgent.value : undefined,
);
