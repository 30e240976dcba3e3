import { tool } from "ai";
import * as z from "zod";

import { report } from "../../measure.mjs";

const inspect = tool({ description: "Inspects a section.", inputSchema: z.object({ step: z.number() }), execute: async ({ step }) => report(step) });
export const tools = { inspect };
