import { tool } from "@openai/agents";
import * as z from "zod";

import { report } from "../../measure.mjs";

export const tools = [tool({ name: "inspect", description: "Inspects a section.", parameters: z.object({ step: z.number() }), execute: ({ step }) => report(step) })];
