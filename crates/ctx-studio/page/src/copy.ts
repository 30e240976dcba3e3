// Copies a text, and says whether that worked.
import { toast } from "./announce";
import { t } from "./language";

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(t().copied);
  } catch {
    toast(t().notCopied, "error");
  }
}
