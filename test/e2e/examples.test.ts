/** Sends the example body of every operation unchanged, as a reader of the documents would. The route accepts it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/support/database.ts';
import { type Document, mediaOf, operationsOf } from '#test/support/openapi.ts';
import { adminToken, TestService } from '#test/support/service.ts';

/** Errors about hosts of the documents, which do not exist or serve other content. */
const notThere = /host not found|could not be (?:fetched|reached)|its name is not known/;
const nobody = /^the admin token has no password of its own/;
/** Examples that may be refused, with the error. Each error is about something outside the body. */
const exceptions: Readonly<Record<string, RegExp>> = {
  // The caller uses the admin token, which belongs to no user.
  'POST /admin/me/password': nobody,
  'POST /admin/me/code': nobody,
  'POST /admin/me/code/confirm': nobody,
  'POST /admin/me/code/remove': nobody,
  'POST /profile/image': notThere,
  'POST /group/updateImage': notThere,
  'POST /newsletter/create': notThere,
  'POST /newsletter/picture': notThere,
  'POST /business/catalog/save': notThere,
  'POST /instance/proxy': /^the proxy does not work: /,
  'PUT /chatwoot/config': /^Chatwoot /,
  'POST /admin/import': /^from is required$/,
  'POST /trigger/edit': /^there is no agent r1a2b3c4d5e6f70$/,
};

interface Example {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

const service = await TestService.open((await testDatabase()).url, { CONNECT_ANSWER_MS: '200' });
const operations = operationsOf((await (await fetch(`${service.address}/openapi.json`)).json()) as Document);

const examplesOf = (): readonly (readonly [string, Example])[] =>
  [...operations].flatMap(([name, { requestBody }]) => {
    const { schema } = mediaOf(requestBody?.content);
    if (schema === undefined) return [];
    const [method = '', path = ''] = name.split(' ');
    const { example, examples } = mediaOf(requestBody?.content);
    const body = example ?? Object.values(examples ?? {})[0]?.value;
    return [[name, { method, path: path.replaceAll(/\{\w+\}/g, 'x'), body }] as const];
  });

test('documents: the example body of every operation passes the checks of its route, on an instance that is not connected', async () => {
  const refused: string[] = [];
  const isLast = ([name]: readonly [string, Example]): number => Number(name === 'POST /admin/token');
  const examples = examplesOf().toSorted((a, b) => isLast(a) - isLast(b));
  assert.ok(examples.length > 100, `${examples.length} examples`);
  for (const [name, { method, path, body }] of examples) {
    const { token } = await service.instance('tried');
    const answer = await service.call(method, path, { token, admintoken: adminToken }, body);
    const { error = '' } = answer.body as { readonly error?: string };
    if (answer.status === 400 && !exceptions[name]?.test(error)) refused.push(`${name} ${JSON.stringify(body)}: ${error}`);
  }
  assert.deepEqual(refused, []);
});
