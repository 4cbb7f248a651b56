/** Writes `docs/operations.md` from the OpenAPI document (`node test/docs/operations.ts`). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildApp } from '#src/http/app.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { optionsWith } from '#test/http/setup.ts';
import { root } from '#test/source-tree.ts';
import { type Document, type JsonSchema, mediaOf, type Operation, operationsOf, resolved } from '#test/support/openapi.ts';

export const pagePath = join(root, 'docs/operations.md');

const head = `# Operations

Every call of the interface, made of the same table as the routes. \`/docs\` of a running gateway has the fields, answers and errors of each with examples, and
\`/openapi.json\` is the whole as OpenAPI 3.1. A field with a star is required; values in brackets are the only ones that it may have. \`token\` is the header
of an instance, \`admintoken\` that of the administrator; numbers and booleans may come as texts, and unknown fields are ignored.`;

const credentialOf = ({ security }: Operation): string => security.flatMap((one) => Object.keys(one))[0] ?? 'none';

/** Returns the listed values of a field. */
const valuesOf = ({ enum: own, items }: JsonSchema): string => {
  const values = (own ?? (items as JsonSchema | undefined)?.['enum'] ?? []) as readonly unknown[];
  const shown = values.filter((value) => value !== '').map((value) => `\`${String(value)}\``);
  return shown.length === 0 ? '' : ` (${shown.join(' / ')})`;
};

const field = (name: string, isRequired: boolean, schema: JsonSchema): string => `\`${name}\`${isRequired ? '\\*' : ''}${valuesOf(schema)}`;

const fieldsIn = (schema: JsonSchema | undefined): readonly string[] => {
  const required = new Set((schema?.['required'] ?? []) as readonly string[]);
  const properties = (schema?.['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return Object.entries(properties).map(([name, own]) => field(name, required.has(name), own));
};

const fieldsOf = ({ requestBody, parameters = [] }: Operation, { components }: Document): readonly string[] => {
  const schema = mediaOf(requestBody?.content).schema;
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, required, schema: own }) => field(`?${name}`, required === true, own));
  return [...query, ...fieldsIn(schema && resolved(schema, components.schemas))];
};

/** Returns the headers, without those of credentials. */
const headersOf = ({ parameters = [] }: Operation): readonly string[] =>
  parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => `header \`${name}\``);

/** The largest number of fields that a row lists. Longer lists, such as the fields of a chat, are shortened. */
const mostFields = 40;

const row = (name: string, operation: Operation, document: Document): string => {
  const fields = fieldsOf(operation, document);
  const shown = [...(fields.length > mostFields ? ['see `/docs`'] : fields), ...headersOf(operation)].join(', ');
  return `| \`${name}\` | ${credentialOf(operation)} | ${operation.summary.replaceAll('|', '\\|')} | ${shown} |`;
};

const titled = (tag: string): string => tag.slice(0, 1).toUpperCase() + tag.slice(1);

export const operationsPage = async (): Promise<string> => {
  const app = await buildApp(createFakeGateway(), optionsWith({}));
  const document = (await app.inject({ url: '/openapi.json' })).json<Document>();
  await app.close();
  const groups = Map.groupBy(operationsOf(document), ([, { tags }]) => tags[0] ?? '');
  const sections = [...groups].map(([tag, operations]) =>
    [
      `## ${titled(tag)}`,
      '',
      '| Call | Credential | What it does | Fields |',
      '| --- | --- | --- | --- |',
      ...operations.map(([name, operation]) => row(name, operation, document)),
    ].join('\n'),
  );
  return `${[head, ...sections].join('\n\n')}\n`;
};

if (import.meta.main) {
  writeFileSync(pagePath, await operationsPage());
  process.stdout.write(`wrote ${pagePath}\n`);
}
