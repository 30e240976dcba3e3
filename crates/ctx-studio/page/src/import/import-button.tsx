// Chooses files to import.
import { t } from "../language";
import { FileButton } from "../ui/file-button";
import { add } from "./state";

export function ImportButton({ kind, isDisabled }: { kind?: "main"; isDisabled?: boolean }) {
  return (
    <FileButton icon="upload" kind={kind} isDisabled={isDisabled} onFiles={add} filesTestId="files">
      {t().chooseFiles}
    </FileButton>
  );
}
