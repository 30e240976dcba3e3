// Saves the file of the page. A file that cannot be read any more is saved only after a question.
import { signal } from "@preact/signals";
import type { Finding } from "../api";
import type { OpenFile } from "../files";
import { current } from "../project";
import { toast } from "../announce";
import { t } from "../language";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";

const broken = signal<{ file: OpenFile; fault: Finding } | undefined>(undefined);

export async function saveCurrent(): Promise<void> {
  const file = current.value;
  if (!file || file.isReadOnly.value) return;
  if (!file.isDirty.value) return void toast(t().nothingToSave);
  const fault = await faultOf(file);
  if (fault) broken.value = { file, fault };
  else await write(file);
}

async function write(file: OpenFile): Promise<void> {
  if (await file.save()) toast(t().saved(file.server.value?.path ?? ""));
}

/** The first error of a text without a value. The server itself refuses an invalid `ctx.toml`. */
async function faultOf(file: OpenFile): Promise<Finding | undefined> {
  if (!(await file.flush())) return undefined;
  const view = file.server.value;
  if (!view || view.value !== undefined || view.kind === "config") return undefined;
  await file.find();
  return file.server.value?.findings.find(({ severity }) => severity === "error");
}

export function SaveDialog() {
  const asked = broken.value;
  if (!asked) return null;
  const { file, fault } = asked;
  const close = () => (broken.value = undefined);
  return (
    <Dialog
      title={t().frame.broken(file.server.value?.path ?? file.id)}
      onClose={close}
      actions={
        <>
          <Button kind="main" onClick={close} testId="save-back">
            {t().frame.goBack}
          </Button>
          <Button
            kind="danger"
            onClick={() => {
              close();
              void write(file);
            }}
            testId="save-anyway"
          >
            {t().frame.saveAnyway}
          </Button>
        </>
      }
    >
      <p class="wrong" data-test="save-fault">
        {fault.line !== undefined && <b>{`${fault.line}:${fault.column ?? 1} `}</b>}
        {fault.message}
      </p>
      <p>{t().frame.brokenHelp}</p>
    </Dialog>
  );
}
