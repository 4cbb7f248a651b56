/** Tests the settings of the Chatwoot connector: accepted and refused values, and that no answer has the token. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessToken, ChatwootStandIn } from '#test/support/chatwoot/stand-in.ts';
import { testDatabase } from '#test/support/database.ts';
import { TestService } from '#test/support/service.ts';

const database = await testDatabase();
const service = await TestService.open(database.url, { CHATWOOT_TIMEOUT_MS: '3000' });
const desk = await ChatwootStandIn.open();
after(() => desk.close());

const unset = {
  chatwoot_enabled: false,
  chatwoot_url: '',
  chatwoot_account_id: 0,
  chatwoot_inbox_id: 0,
  chatwoot_access_token: '',
  chatwoot_ignore_groups: false,
  chatwoot_sign_messages: false,
  chatwoot_create_new_conversation: false,
};

interface Saved {
  readonly message: string;
  readonly chatwoot_inbox_webhook_url: string;
}

test('PUT /chatwoot/config: connects with an inbox, shows no token, and keeps address and token over a restart', async () => {
  const shop = await service.instance('connected');
  assert.deepEqual((await shop.call('GET', '/chatwoot/config')).body, unset);
  const choices = { ignore_groups: true, sign_messages: true, create_new_conversation: true };
  const { status, body } = await shop.call('PUT', '/chatwoot/config', { ...desk.settings, url: `${desk.url}//`, ...choices });
  assert.equal(status, 200, JSON.stringify(body));
  const { chatwoot_inbox_webhook_url: hook } = body as Saved;
  assert.match(hook, /\/chatwoot\/webhook\/[A-Za-z0-9]{32}$/);
  assert.ok(!JSON.stringify(body).includes(accessToken));
  const shown = {
    chatwoot_enabled: true,
    chatwoot_url: desk.url,
    chatwoot_account_id: 3,
    chatwoot_inbox_id: 5,
    chatwoot_access_token: '***',
    chatwoot_ignore_groups: true,
    chatwoot_sign_messages: true,
    chatwoot_create_new_conversation: true,
  };
  assert.deepEqual((await shop.call('GET', '/chatwoot/config')).body, shown);
  await service.restart();
  assert.deepEqual((await shop.call('GET', '/chatwoot/config')).body, shown);
  const again = await shop.call('PUT', '/chatwoot/config', { ...desk.settings, access_token: '***' });
  assert.equal(again.status, 200, 'what is shown can be sent back');
  assert.equal((again.body as Saved).chatwoot_inbox_webhook_url, hook);
  const rows = await database.admin.rows<{ url: string; text: string }>(
    { name: '', text: `select url, row_to_json(webhook)::text as text from webhook` },
    [],
  );
  assert.equal(rows.length, 1, 'one connector an instance');
  assert.ok(
    !rows.some(({ text }) => text.includes(accessToken) || text.includes(Buffer.from(accessToken).toString('hex'))),
    'sealed at rest',
  );
});

test('POST /chatwoot/test: checks the inbox, saves nothing, and uses the stored token for the same server only', async () => {
  const shop = await service.instance('tested');
  const test = (change: object) => shop.call('POST', '/chatwoot/test', { ...desk.settings, ...change });
  const wrong = await test({ access_token: 'wrong' });
  assert.deepEqual(
    [wrong.status, wrong.body],
    [200, { ...(wrong.body as object), ok: false, error: 'Chatwoot does not take the access token' }],
  );
  assert.partialDeepStrictEqual((await test({})).body, { ok: true });
  assert.deepEqual((await shop.call('GET', '/chatwoot/config')).body, unset);
  assert.equal((await test({ access_token: '***' })).status, 400);
  await shop.call('PUT', '/chatwoot/config', desk.settings);
  assert.partialDeepStrictEqual((await test({ access_token: '***', inbox_id: 6 })).body, {
    ok: false,
    error: 'Chatwoot has no inbox 6 in account 3',
  });
  assert.equal((await test({ access_token: '***', url: 'http://127.0.0.1:9' })).status, 400);
  assert.partialDeepStrictEqual((await shop.call('GET', '/chatwoot/config')).body, { chatwoot_inbox_id: 5 });
});

test('connector: it is no webhook of the API, which neither shows, changes nor deletes it', async () => {
  const shop = await service.instance('apart');
  await shop.call('PUT', '/chatwoot/config', desk.settings);
  assert.deepEqual((await shop.call('GET', '/webhook')).body, []);
  await shop.call('POST', '/webhook', { url: 'https://example.com/hook', events: ['messages'], enabled: true });
  await shop.call('POST', '/webhook', { action: 'delete', url: desk.url });
  assert.equal(((await shop.call('GET', '/webhook')).body as readonly unknown[]).length, 1);
  assert.partialDeepStrictEqual((await shop.call('GET', '/chatwoot/config')).body, { chatwoot_enabled: true });
});

const refused: readonly (readonly [title: string, change: object, text: RegExp])[] = [
  ['another token', { access_token: 'wrong' }, /^Chatwoot does not take the access token$/],
  ['another inbox', { inbox_id: 6 }, /^Chatwoot has no inbox 6 in account 3$/],
  ['another account', { account_id: 4 }, /^Chatwoot has no inbox 5 in account 4$/],
  ['a server that is not there', { url: 'http://127.0.0.1:9' }, /^Chatwoot could not be reached: connection refused$/],
  ['no address', { url: 'chatwoot' }, /^url must start with http/],
  ['an address with credentials', { url: 'http://a:b@127.0.0.1' }, /^url must not hold credentials$/],
  ['an address inside the network', { url: 'http://10.0.0.1' }, /^url points to an address that is not allowed \(private\)/],
  ['the masked token for the first time', { access_token: '***' }, /^access_token is not an access token of Chatwoot$/],
  ['a token with spaces', { access_token: 'a b' }, /^access_token is not an access token of Chatwoot$/],
  ['a text for a number', { inbox_id: 'five' }, /inbox_id/],
  ['no number at all', { account_id: 0 }, /account_id/],
  ['no address field', { url: undefined }, /url/],
  ['no token field', { access_token: undefined }, /access_token/],
  ['no switch', { enabled: undefined }, /enabled/],
];
for (const [title, change, text] of refused)
  test(`PUT /chatwoot/config: ${title} is refused, and nothing is stored`, async () => {
    const shop = await service.instance(`refused ${title}`);
    const { status, body } = await shop.call('PUT', '/chatwoot/config', { ...desk.settings, ...change });
    assert.equal(status, 400, JSON.stringify(body));
    assert.match((body as { readonly error: string }).error, text);
    assert.deepEqual((await shop.call('GET', '/chatwoot/config')).body, unset);
  });

test('PUT /chatwoot/config: an inbox of another type, a server that is slow, and one that is ill are refused', async () => {
  const shop = await service.instance('strange');
  const error = async (): Promise<string> => {
    const { status, body } = await shop.call('PUT', '/chatwoot/config', desk.settings);
    return `${status} ${(body as { readonly error: string }).error}`;
  };
  desk.channelType = 'Channel::WebWidget';
  assert.equal(await error(), '400 the inbox 5 is of another type than API');
  desk.channelType = 'Channel::Api';
  desk.refusals.push(500);
  assert.equal(await error(), '400 Chatwoot answered 500 Internal Server Error');
  desk.delayMs = 6_000;
  assert.equal(await error(), '400 Chatwoot could not be reached: no answer in time');
  desk.delayMs = 0;
});

test('PUT /chatwoot/config: a disabled connector is not checked, and a stored token is sent to no other server', async () => {
  const shop = await service.instance('off');
  assert.equal((await shop.call('PUT', '/chatwoot/config', { ...desk.settings, enabled: false, url: 'http://127.0.0.1:9' })).status, 200);
  const other = await shop.call('PUT', '/chatwoot/config', { ...desk.settings, access_token: '***' });
  assert.deepEqual([other.status, other.body], [400, { error: 'access_token is required for another url' }]);
});

test('PUT /chatwoot/config: a wrong token is refused with 401', async () => {
  assert.equal((await service.call('PUT', '/chatwoot/config', { token: 'nobody' }, desk.settings)).status, 401);
  assert.equal((await service.call('GET', '/chatwoot/config', {})).status, 401);
});
