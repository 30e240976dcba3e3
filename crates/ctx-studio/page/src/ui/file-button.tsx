// The way to bring files without dragging.
import { useRef } from "preact/hooks";
import { Button, type ButtonProps } from "./button";

export function FileButton({
  onFiles,
  filesTestId,
  ...button
}: Pick<ButtonProps, "icon" | "kind" | "isDisabled" | "title" | "label" | "testId" | "children"> & {
  onFiles: (files: File[]) => Promise<void>;
  filesTestId: string;
}) {
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
        data-test={filesTestId}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = "";
          void onFiles(files);
        }}
      />
      <Button {...button} onClick={() => input.current?.click()} />
    </>
  );
}
