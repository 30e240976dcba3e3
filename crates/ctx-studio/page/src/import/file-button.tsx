// The way to bring files without dragging.
import { useRef } from "preact/hooks";
import { t } from "../language";
import { Button } from "../ui/button";
import { add } from "./state";

export function FileButton({ kind = "plain", isDisabled }: { kind?: "plain" | "main"; isDisabled?: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        class="hidden"
        tabIndex={-1}
        aria-hidden="true"
        data-test="files"
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = "";
          void add(files);
        }}
      />
      <Button kind={kind} icon="upload" isDisabled={isDisabled} onClick={() => input.current?.click()}>
        {t().chooseFiles}
      </Button>
    </>
  );
}
