// The anchors in the order of the registry, as cards.
import { useLayoutEffect, useState } from "preact/hooks";
import type { AnchorInfo } from "../api";
import { registry } from "../project";
import { t } from "../language";
import { Dialog } from "../ui/dialog";
import { Field } from "../ui/field";
import { Button } from "../ui/button";
import { addAnchor } from "./commands";
import { anchorName, type Entry } from "./entries";
import type { Preset } from "./actions";

export function AddAnchor({ of, after, close }: { of: Preset; after?: Entry; close: () => void }) {
  const [place, setPlace] = useState("");
  const there = new Set(of.entries.map(anchorName));
  const anchors = registry.value.anchors.filter(({ id }) => id !== "placeholder");
  // The registry may arrive after the dialog.
  useLayoutEffect(() => {
    document.querySelector<HTMLElement>("dialog [data-autofocus]")?.focus();
  }, [anchors.length > 0]);
  const add = (anchor: AnchorInfo, id?: string) => {
    close();
    // The dialog gives the focus back first; the new entry takes it then.
    setTimeout(() => addAnchor(of, anchor, after, id));
  };
  const own: AnchorInfo = { id: "placeholder", name: "", description: "", kind: "placeholder", role: "system" };
  const isNameFree = place.trim() !== "" && !there.has(place.trim());
  return (
    <Dialog title={t().addAnchor} onClose={close} isWide>
      <p class="soft">{t().anchorHelp}</p>
      <ul class="cards">
        {anchors.map((anchor, index) => (
          <li key={anchor.id}>
            <button
              type="button"
              class="card"
              onClick={() => add(anchor)}
              data-test={`anchor-${anchor.id}`}
              data-autofocus={index === 0 ? true : undefined}
            >
              <b>{anchor.name || anchor.id}</b>
              <span class={`badge ${anchor.kind}`}>{t().anchorKinds[anchor.kind]}</span>
              {there.has(anchor.id) && <span class="badge">{t().isThere}</span>}
              <small>{anchor.description}</small>
              {anchor.template && <code>{anchor.template}</code>}
            </button>
          </li>
        ))}
        <li class="card own">
          <b>{t().ownPlace}</b>
          <small>{t().ownPlaceHelp}</small>
          <div class="inline">
            <Field label={t().nameOfPlace} value={place} onInput={setPlace} isInvalid={place !== "" && !isNameFree} />
            <Button isDisabled={!isNameFree} onClick={() => add(own, place.trim())}>
              {t().add}
            </Button>
          </div>
        </li>
      </ul>
    </Dialog>
  );
}
