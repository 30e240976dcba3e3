// "Move to…": the way to any place without dragging.
import { useState } from "preact/hooks";
import { t } from "../language";
import { Dialog } from "../ui/dialog";
import { Select } from "../ui/field";
import { Button } from "../ui/button";
import { labelOf, move } from "./commands";
import { focusEntry } from "./state";
import type { Preset } from "./actions";
import type { Entry } from "./entries";

export function MoveDialog({ of, chosen, close }: { of: Preset; chosen: Entry[]; close: () => void }) {
  const keys = new Set(chosen.map(({ key }) => key));
  const others = of.entries.filter(({ key }) => !keys.has(key));
  const [to, setTo] = useState(String(others.at(-1)?.key ?? ""));
  const options = [
    { value: "", label: t().toTheTop },
    ...others.map((entry) => ({ value: entry.key, label: t().below(entry.index + 1, labelOf(entry)) })),
  ];
  const run = () => {
    const after = others.find(({ key }) => key === to);
    const [first] = chosen;
    close();
    setTimeout(() => {
      move(of, chosen, after ? after.index + 1 : 0);
      if (first) focusEntry(first.key);
    });
  };
  return (
    <Dialog
      title={chosen.length === 1 && chosen[0] ? t().moveOne(labelOf(chosen[0])) : t().moveMany(chosen.length)}
      onClose={close}
      actions={
        <Button kind="main" onClick={run} testId="move-run">
          {t().move}
        </Button>
      }
    >
      <Select label={t().place} value={to} options={options} onChange={setTo} size="wide" testId="move-to" />
    </Dialog>
  );
}
