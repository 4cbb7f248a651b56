/** Writes `docs/event-bodies.md` from the OpenAPI document (`node test/docs/event-bodies.ts`): each event with a complete body. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildApp } from '#src/http/app.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { optionsWith } from '#test/http/setup.ts';
import { root } from '#test/source-tree.ts';
import { type Document, examplesOf, mediaOf } from '#test/support/openapi.ts';

export const bodiesPath = join(root, 'docs/event-bodies.md');

const head = `# Bodies of events

This page shows each event as a webhook delivers it. The shapes are in \`/openapi.json\` of a running gateway, in the section \`webhooks\` and in the schema that each heading names. \`WebhookEvent\` is the union of all events, so that
[generated clients](quickstart.md#generated-clients) have a type for a receiver. [Events](events.md) says when each event comes and how it is delivered.`;

export const bodiesPage = async (): Promise<string> => {
  const app = await buildApp(createFakeGateway(), optionsWith({}));
  const { webhooks, components } = (await app.inject({ url: '/openapi.json' })).json<Document>();
  await app.close();
  const sections = Object.entries(webhooks).map(([type, { post }]) => {
    const media = mediaOf(post.requestBody?.content);
    const name = String(media.schema?.['$ref']).split('/').at(-1);
    const body = examplesOf(media, components.schemas)[0];
    return [`## ${type}`, '', `${post.summary}. Schema: \`${name}\`.`, '', '```json', JSON.stringify(body, null, 2), '```'].join('\n');
  });
  return `${[head, ...sections].join('\n\n')}\n`;
};

if (import.meta.main) {
  writeFileSync(bodiesPath, await bodiesPage());
  process.stdout.write(`wrote ${bodiesPath}\n`);
}
