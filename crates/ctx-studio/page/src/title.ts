// The title of the window: the file, with a mark while it is not saved.
import { effect } from "@preact/signals";
import { current, projectInfo } from "./project";

export function followTitle(): void {
  effect(() => {
    const path = current.value?.server.value?.path;
    const dot = current.value?.isDirty.value ? "• " : "";
    document.title = `${dot}${path ?? projectInfo.value?.name ?? ""} – ctx studio`;
  });
}
