// Without a token nothing can be shown: how to get one.
import { isReachable } from "../transport";
import { t } from "../language";
import { Button } from "../ui/button";

export function Closed() {
  return (
    <main class="closed">
      <h1>ctx studio</h1>
      <p>{isReachable.value ? t().closed : t().unreachable}</p>
      <p class="soft">{t().closedHelp}</p>
      <Button kind="main" onClick={() => location.reload()}>
        {t().tryAgain}
      </Button>
    </main>
  );
}
