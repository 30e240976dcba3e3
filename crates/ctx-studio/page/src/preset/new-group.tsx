// Asks for the name of a group.
import { useState } from "preact/hooks";
import { t } from "../language";
import { Dialog } from "../ui/dialog";
import { Field } from "../ui/field";
import { Button } from "../ui/button";
import { announce } from "../announce";
import { makeGroup } from "./commands";
import type { Preset } from "./actions";
import type { Entry } from "./entries";

export function NewGroup({ of, chosen, close }: { of: Preset; chosen: Entry[]; close: () => void }) {
  const [name, setName] = useState("");
  const make = () => {
    if (name.trim() === "") return;
    makeGroup(of, chosen, name.trim());
    announce(t().groupMade(name.trim()));
    close();
  };
  return (
    <Dialog
      title={t().newGroup}
      onClose={close}
      actions={
        <Button kind="main" isDisabled={name.trim() === ""} onClick={make}>
          {t().add}
        </Button>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make();
        }}
      >
        <Field label={t().name} value={name} onInput={setName} isAutofocused size="wide" />
      </form>
      <p class="soft">{chosen.length > 0 ? t().groupOf(chosen.length) : t().groupHelp}</p>
    </Dialog>
  );
}
