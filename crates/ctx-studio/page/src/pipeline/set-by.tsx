// The layer that sets a value, unless it is built in, and a button to reset the value.
import type { Origin } from "../api";
import { t } from "../language";
import { Button } from "../ui/button";

export function SetBy({
  origin,
  name,
  isFixed,
  reset,
}: {
  origin: Origin;
  name: string;
  isFixed: boolean;
  /** Absent where the layer that is edited does not set the value. */
  reset?: () => void;
}) {
  if (origin === "built-in" && !reset) return null;
  const { origins, resetOne } = t().pipeline;
  return (
    <span class="set-by">
      {origin !== "built-in" && <span class={`badge origin of-${origin}`}>{origins[origin]}</span>}
      {reset && (
        <Button
          class="small"
          isDisabled={isFixed}
          label={resetOne(name)}
          onClick={(event) => {
            const row = (event.currentTarget as HTMLElement).closest("[data-field], [data-entry]");
            reset();
            // The button is removed together with the value.
            row?.querySelector<HTMLElement>("[data-part=main], input, select, textarea")?.focus();
          }}
        >
          {t().reset}
        </Button>
      )}
    </span>
  );
}
