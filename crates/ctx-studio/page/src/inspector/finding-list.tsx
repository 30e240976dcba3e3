// Findings with their code, their text and their way out.
import { useState } from "preact/hooks";
import type { Finding } from "../api";
import type { OpenFile } from "../files";
import { go } from "../route";
import { t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { view } from "../preset/state";
import { CodeDialog } from "./code-dialog";
import { openEntry } from "./state";

const ICONS = { error: "circle-alert", warning: "triangle-alert", info: "info" };

export function FindingList({
  findings,
  file,
  hasPlaces,
  emptyText,
}: {
  findings: readonly Finding[];
  file?: OpenFile;
  hasPlaces?: boolean;
  emptyText?: string;
}) {
  const [code, explain] = useState<string | undefined>(undefined);
  if (findings.length === 0)
    return emptyText ? (
      <p class="empty soft">
        <Icon name="check" />
        {emptyText}
      </p>
    ) : null;
  // A fix is an edit of the draft that the server found; the preview's own findings have none.
  const own = new Set(file?.server.value?.findings);
  return (
    <>
      {code !== undefined && <CodeDialog code={code} close={() => explain(undefined)} />}
      <ul class="findings">
        {findings.slice(0, 500).map((finding, index) => (
          <li key={index} class={finding.severity}>
            <Icon name={ICONS[finding.severity]} />
            <div>
              <p>
                <span class="hidden">{t().severities[finding.severity]}: </span>
                <button
                  type="button"
                  class="link"
                  title={t().explainCode(finding.code)}
                  onClick={() => explain(finding.code)}
                  data-test="explain"
                >
                  <code>{finding.code}</code>
                </button>{" "}
                {finding.message}
                {hasPlaces && finding.file && (
                  <span class="soft">
                    {" "}
                    {finding.file}
                    {finding.line !== undefined && `:${finding.line}:${finding.column ?? 1}`}
                  </span>
                )}
              </p>
              {finding.help && <p class="soft">{finding.help}</p>}
              <p class="ways">
                {finding.fixable && file && own.has(finding) && (
                  <Button onClick={() => void file.fix(finding)} icon="wand-sparkles" testId="fix">
                    {t().fix}
                  </Button>
                )}
                {hasPlaces && finding.pointer !== undefined && own.has(finding) && (
                  <button
                    type="button"
                    class="link"
                    onClick={() => {
                      view.value = "list";
                      go("preset");
                      openEntry(finding.pointer ?? "");
                    }}
                  >
                    {t().show}
                  </button>
                )}
              </p>
            </div>
          </li>
        ))}
        {findings.length > 500 && <li class="soft">{t().andMore(findings.length - 500)}</li>}
      </ul>
    </>
  );
}
