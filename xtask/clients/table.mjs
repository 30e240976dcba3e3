// The results as a page of the documentation.

const HEAD = `# Clients

These clients were run through \`ctx serve\`, unmodified except for base URL, API key and model.
Each scenario ran in each API, with a provider of the same API that plays a script.
The request of the client and the request that the provider got were compared field by field.

\`cargo xtask clients\` repeats the runs and compares the results with this page. \`cargo xtask clients --write\` writes it.

| scenario | requests |
|---|---|
| loop | streaming, 5 tool calls one after another |
| parallel | streaming, 2 tool calls in one reply |
| image | an image in the question |
| schema | structured output |
| think | streaming, reasoning with a signature or encrypted content, and 2 tool calls |

The agent has a preset, a worldbook, \`recall\` and a sampling parameter. These additions are not listed. The texts of the agent are removed before the comparison, also if a processor joins them with a text of the client.
The response of the provider and the response that the client got were compared too.
The column "other changes" names the fields that differ otherwise; \`*\` is a position.
`;

const SECTIONS = { npm: 'Packages of npm', PyPI: 'Packages of PyPI', agents: 'Coding agents' };

const line = ({ client, name, version, api, passed, requests, changes }) =>
  `| ${client} | \`${name}\` ${version} | ${api} | ${passed.join(', ') || 'none'} | ${requests} | ${changes.join(', ') || 'none'} |`;

const section = (title, rows) => `
## ${title}

| client | package | API | passed | requests | other changes |
|---|---|---|---|---|---|
${rows.map((row) => `${line(row)}\n`).join('')}`;

/// Names of headers that clients send and the gateway does not.
function headers(rows) {
  const names = [
    ...new Set(
      Object.values(rows)
        .flat()
        .flatMap((row) => row.others),
    ),
  ].sort();
  return `
## Headers

\`anthropic-version\`, \`anthropic-beta\`, \`openai-beta\`, \`user-agent\`, \`x-stainless-*\`, \`x-goog-api-client\` and \`x-client-request-id\` reach the provider as the client sends them, unless the tables name them.
API keys of clients are not sent. Not sent either: ${names.map((name) => `\`${name}\``).join(', ')}.
`;
}

/// Writes the page.
export const table = (rows) =>
  HEAD +
  Object.entries(SECTIONS)
    .map(([key, title]) => section(title, rows[key]))
    .join('') +
  headers(rows);

/// Lists the rows that the page does not have. Clients that are not installed have no rows.
table.differences = (page, rows) => {
  const lines = new Set(page.split('\n'));
  const missing = Object.values(rows)
    .flat()
    .map(line)
    .filter((row) => !lines.has(row));
  return missing.map((row) => `not in docs/clients.md; \`cargo xtask clients --write\` writes it: ${row}`);
};
