// Files can be dropped on any page.
import { useEffect, useState } from "preact/hooks";
import { projectInfo } from "../project";
import { t } from "../language";
import { Icon } from "../ui/icon";
import { add } from "./state";

export function DropZone() {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // Entering a child leaves its parent: only the count says whether the pointer is still inside.
    let depth = 0;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const onEnter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth++;
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (hasFiles(event) && --depth <= 0) setOver(false);
    };
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = projectInfo.value?.isReadOnly ? "none" : "copy";
    };
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      void add([...(event.dataTransfer?.files ?? [])]);
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
  if (!isOver) return null;
  return (
    <div class="drop-zone" aria-hidden="true">
      <p>
        <Icon name="upload" />
        {projectInfo.value?.isReadOnly ? t().readOnlyFolder : t().dropHere}
      </p>
    </div>
  );
}
