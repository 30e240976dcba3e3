import { tool } from "langchain";
import * as z from "zod";

import { report } from "../../measure.mjs";

export const tools = [tool(({ step }) => report(step), { name: "inspect", description: "Inspects a section.", schema: z.object({ step: z.number() }) })];
