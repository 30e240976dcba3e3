// The text of the file, with its findings at their places.
import { useMemo } from "preact/hooks";
import type { OpenFile } from "../files";
import { t } from "../language";
import { TextEditor } from "../editor/text-editor";
import type { Mark } from "../editor/chunk";
import { textSearches } from "./state";

export function TextView({ file }: { file: OpenFile }) {
  const view = file.server.value;
  const marks = useMemo(
    () =>
      (view?.findings ?? []).flatMap((finding): Mark[] => {
        if (!finding.span) return [];
        const { from, to } = finding.span;
        const fix = finding.fixable ? () => void file.fix(finding) : undefined;
        // An empty place would not be seen.
        return [
          {
            ...finding,
            from: to > from ? from : Math.max(0, from - 1),
            to: Math.max(to, from),
            fix,
            fixLabel: t().fix,
          },
        ];
      }),
    [view],
  );
  return (
    <TextEditor
      text={file.text.value}
      label={view?.path ?? ""}
      hint=""
      marks={marks}
      isReadOnly={file.isReadOnly.value}
      hasLineNumbers
      searches={textSearches.value}
      onChange={(text) => file.editText(text)}
      testId="file-text"
    />
  );
}
