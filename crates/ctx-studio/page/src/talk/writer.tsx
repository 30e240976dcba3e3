// Who writes summaries: the messages' own sentences, or the model of the endpoint.
import { signal } from "@preact/signals";
import type { SummaryOf } from "../api";
import { agentId, projectInfo } from "../project";
import { t } from "../language";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Select } from "../ui/field";
import { summarize } from "./answer";
import { isBusy, notify, send, take } from "./state";

export type Writer = "sentences" | "model";

/** The choice of this window; it holds until another is made. */
export const writer = signal<Writer>("sentences");

/** Has a summary written; with a model that is only the beginning. */
export function write(by: Writer, of: SummaryOf): Promise<boolean> {
  if (by === "model") return summarize(of);
  if (of.kind === "again") return take({ kind: "regenerate", id: of.id });
  return send("/compress", { agent: agentId.peek(), range: of.range }, notify);
}

export function WriterSelect() {
  const { whoWrites, writers, writerHints } = t().talk;
  const endpoint = projectInfo.value?.endpoint;
  const model = endpoint === undefined ? writers.model : `${writers.model} (${endpoint})`;
  return (
    <>
      <Select
        label={whoWrites}
        value={writer.value}
        options={[
          { value: "sentences", label: writers.sentences },
          { value: "model", label: model },
        ]}
        onChange={(next) => (writer.value = next === "model" ? "model" : "sentences")}
        testId="writer"
      />
      <p class="soft">{writerHints[writer.value]}</p>
    </>
  );
}

/** Writes a summary again. */
export function AgainDialog({ id, close }: { id: string; close: () => void }) {
  const { again, writeIt, cancel } = t().talk;
  const begin = async () => {
    if (await write(writer.peek(), { kind: "again", id })) close();
  };
  return (
    <Dialog
      title={again}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>{cancel}</Button>
          <Button kind="main" isDisabled={isBusy.value} onClick={() => void begin()} testId="write-again">
            {writeIt}
          </Button>
        </>
      }
    >
      <WriterSelect />
    </Dialog>
  );
}
