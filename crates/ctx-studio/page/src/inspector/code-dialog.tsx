// What a code means: its cause, an example, a way out, and where else it was found.
import { useEffect, useState } from "preact/hooks";
import type { CodeView, Finding } from "../api";
import { allFindings } from "../preview";
import { lang, t } from "../language";
import { call, CallError } from "../transport";
import { Dialog } from "../ui/dialog";

export function CodeDialog({ code, close }: { code: string; close: () => void }) {
  const [told, tell] = useState<CodeView | undefined>(undefined);
  const [failure, fail] = useState<string | undefined>(undefined);
  useEffect(() => {
    call<CodeView>("GET", `codes/${encodeURIComponent(code)}`).then(tell, (error: unknown) =>
      fail(error instanceof CallError ? error.message || t().offline : String(error)),
    );
  }, [code, lang.value]);
  const all = allFindings.value.filter((one) => one.code === code);
  return (
    <Dialog title={told ? t().labeled(code, told.title) : code} onClose={close} isWide>
      <div class="code-view" data-test="code" aria-busy={!told && !failure}>
        {failure && (
          <p class="wrong" role="alert">
            {failure}
          </p>
        )}
        {told && (
          <>
            {told.cause.split("\n\n").map((part, at) => (
              <p key={at}>
                <Words text={part} />
              </p>
            ))}
            <p>
              <b>{t().wayOut}</b> <Words text={told.wayOut} />
            </p>
            <h3>{told.file === undefined ? t().example : t().labeled(t().example, told.file)}</h3>
            <pre tabIndex={0}>{told.example}</pre>
            {told.shownBy && told.file && <pre tabIndex={0}>{told.shownBy}</pre>}
          </>
        )}
        {all.length > 0 && (
          <>
            <h3>{t().allOfCode(all.length)}</h3>
            <ul>
              {all.slice(0, 100).map((finding, at) => (
                <li key={at}>
                  {finding.message} <span class="soft">{placeOf(finding)}</span>
                </li>
              ))}
            </ul>
            {all.length > 100 && <p class="soft">{t().andMore(all.length - 100)}</p>}
          </>
        )}
      </div>
    </Dialog>
  );
}

/** A text in whose backticks stands what is code. */
function Words({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

function placeOf({ file, line, column }: Finding): string {
  return file === undefined ? "" : line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}
