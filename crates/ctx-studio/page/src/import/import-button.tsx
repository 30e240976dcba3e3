// Chooses files to import.
import { t } from "../language";
import { FileButton } from "../ui/file-button";
import { add } from "./state";

export function ImportButton({
  kind,
  isDisabled,
  label,
}: {
  kind?: "main";
  isDisabled?: boolean;
  label?: string;
}) {
  return (
    <FileButton icon="upload" kind={kind} isDisabled={isDisabled} onFiles={add} filesTestId="files">
      {label ?? t().chooseFiles}
    </FileButton>
  );
}
