// Keys that work on every page: Ctrl+S saves, Ctrl+Z and Ctrl+Y step through the draft.
import { useEffect } from "preact/hooks";
import { current } from "../project";
import { announce } from "../announce";
import { t } from "../language";
import { route } from "../route";
import { take } from "../talk/state";
import { saveCurrent } from "./save";

export function Shortcuts() {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === "s") {
        event.preventDefault();
        void saveCurrent();
        return;
      }
      // A field has steps of its own.
      if (isField(event.target)) return;
      const isRedo = key === "y" || (key === "z" && event.shiftKey);
      if (!isRedo && key !== "z") return;
      event.preventDefault();
      if (route.value.page === "talk") return void take({ kind: isRedo ? "redo" : "undo" });
      const file = current.value;
      void (isRedo ? file?.redo() : file?.undo())?.then(() => announce(isRedo ? t().redone : t().undone));
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return null;
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isText = target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
  return isText || target instanceof HTMLTextAreaElement || target.isContentEditable;
}
