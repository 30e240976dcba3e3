// Files can be dropped on any page, to be imported; where something takes them itself, they are its own.
import { useEffect, useState } from "preact/hooks";
import { projectInfo } from "../project";
import { openDropped } from "../requests/state";
import { route } from "../route";
import { t } from "../language";
import { Icon } from "../ui/icon";
import { add } from "./state";

type DropTarget = "import" | "attach" | "log";

export function DropZone() {
  const [over, setOver] = useState<DropTarget | undefined>(undefined);
  useEffect(() => {
    // Entering a child leaves its parent: only the count says whether the pointer is still inside.
    let depth = 0;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const targetOf = ({ target }: DragEvent): DropTarget => {
      if (route.value.page === "requests") return "log";
      return target instanceof Element && target.closest("[data-drops]") ? "attach" : "import";
    };
    const isBlocked = () => projectInfo.value?.isReadOnly && route.value.page !== "requests";
    const onEnter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth++;
      setOver(targetOf(event));
    };
    const onLeave = (event: DragEvent) => {
      if (hasFiles(event) && --depth <= 0) setOver(undefined);
    };
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = isBlocked() ? "none" : "copy";
    };
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(undefined);
      const files = [...(event.dataTransfer?.files ?? [])];
      const target = targetOf(event);
      if (target === "import") void add(files);
      if (target === "log" && files[0]) void openDropped(files[0]);
    };
    addEventListener("dragenter", onEnter);
    addEventListener("dragleave", onLeave);
    addEventListener("dragover", onOver);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragenter", onEnter);
      removeEventListener("dragleave", onLeave);
      removeEventListener("dragover", onOver);
      removeEventListener("drop", onDrop);
    };
  }, []);
  if (!over) return null;
  const what = { log: t().requests.dropHere, attach: t().talk.dropToAttach, import: t().dropHere }[over];
  return (
    <div class="drop-zone" aria-hidden="true">
      <p>
        <Icon name="upload" />
        {projectInfo.value?.isReadOnly && over !== "log" ? t().readOnlyFolder : what}
      </p>
    </div>
  );
}
