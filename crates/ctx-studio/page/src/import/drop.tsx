// Files can be dropped on any page, to be imported; where something takes them itself, they are its own.
import { useEffect, useState } from "preact/hooks";
import { projectInfo } from "../project";
import { t } from "../language";
import { Icon } from "../ui/icon";
import { add } from "./state";

export function DropZone() {
  const [over, setOver] = useState<"import" | "attach" | undefined>(undefined);
  useEffect(() => {
    // Entering a child leaves its parent: only the count says whether the pointer is still inside.
    let depth = 0;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const isTaken = ({ target }: DragEvent) => target instanceof Element && target.closest("[data-drops]") !== null;
    const onEnter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth++;
      setOver(isTaken(event) ? "attach" : "import");
    };
    const onLeave = (event: DragEvent) => {
      if (hasFiles(event) && --depth <= 0) setOver(undefined);
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
      setOver(undefined);
      if (!isTaken(event)) void add([...(event.dataTransfer?.files ?? [])]);
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
  const what = over === "attach" ? t().talk.dropToAttach : t().dropHere;
  return (
    <div class="drop-zone" aria-hidden="true">
      <p>
        <Icon name="upload" />
        {projectInfo.value?.isReadOnly ? t().readOnlyFolder : what}
      </p>
    </div>
  );
}
