/** Tests alerts of a real gateway over every channel: one message for several sessions, none after a restart, and the end of a trouble. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type MailServerStandIn,
  mailLogin,
  mailSettings,
  openMailServer,
  openPosts,
  type PostsStandIn,
  subjectsOf,
} from '#test/support/alert-channels.ts';
import { inEmbedded } from '#test/support/embedded-url.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const minute = 60_000;
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
let scene: Scene;
let mail: MailServerStandIn;
let posts: PostsStandIn;
before(async () => {
  mail = await openMailServer();
  posts = await openPosts();
  // A disk with less than 100 % free is nearly full.
  scene = await Scene.open({ DISK_FREE_PERCENT: '99' });
});
after(async () => {
  await scene?.close();
  await mail?.close();
  await posts?.close();
});

const postsTo = (path: string) => posts.posts.filter((post) => post.path === path);
/**
 * Makes the stored times older, so that the test need not wait for minutes. The gateway writes its state over another one of the same version, and that
 * of a message under way over any.
 */
const age = (ms: number): Promise<unknown> =>
  until(
    () =>
      inEmbedded(scene.gateway.dataDir, async (database) => {
        const run = (text: string, values: readonly unknown[]) =>
          database.rows<{ readonly state: string; readonly version: number }>({ name: '', text }, values);
        const [row] = await run('select state, version from alert', []);
        const { known, pending, lastAt, ...state } = JSON.parse(row?.state ?? '') as {
          readonly lastAt: number;
          readonly pending: readonly unknown[];
          readonly known: readonly { readonly seenAt: number; readonly missingSince: number | null }[];
        };
        if (pending.length > 0) return false;
        const older = known.map((one) => ({
          ...one,
          seenAt: one.seenAt - ms,
          missingSince: one.missingSince === null ? null : one.missingSince - ms,
        }));
        const aged = JSON.stringify({ ...state, pending, lastAt: lastAt - ms, known: older });
        const text = 'update alert set state = $1, version = version + 1 where version = $2 returning state, version';
        return (await run(text, [aged, row?.version])).length === 1;
      }),
    'the stored times are older',
  );

/** Waits until the gateway knows of so many troubles. It looks four times a minute. */
const knows = (total: number): Promise<unknown> =>
  until(
    async () => (await scene.gateway.call('GET', '/admin/alerts')).body['total'] === total,
    () => `the gateway knows of ${total} troubles`,
    2 * minute,
  );

test('alerts: a full disk is reported over all four channels within a minute, each in its format', async () => {
  const settings = {
    kinds: ['session', 'disk'],
    channels: ['email', 'telegram', 'slack', 'webhook'],
    email: mailSettings(mail),
    telegram: { url: posts.address, chatId: '-100' },
    quiet: null,
    timeZone: 'UTC',
    repeatHours: 0,
    receiverMinutes: 10,
  };
  const secrets = {
    emailPassword: mailLogin.password,
    telegramToken: '77:bot-token',
    slackUrl: `${posts.address}/slack/secret-path`,
    webhookUrl: `${posts.address}/hook`,
    webhookSecret: secret,
  };
  const { status, body } = await scene.gateway.call('POST', '/admin/alerts', { body: { ...settings, secrets } });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body['secrets'], ['emailPassword', 'telegramToken', 'slackUrl', 'webhookUrl', 'webhookSecret']);
  await until(() => mail.mails.length === 1 && posts.posts.length === 3, 'all channels got the message', 2 * minute);
  assert.deepEqual(subjectsOf(mail), ['Dormouse: 1 disk is nearly full']);
  assert.deepEqual([mail.mails[0]?.to, mail.mails[0]?.user], [['ana@test.example'], mailLogin.user]);
  const [telegram] = postsTo('/bot77:bot-token/sendMessage');
  assert.match(String(telegram?.body['text']), /^1 disk is nearly full:\n- this gateway: the disk of the data folder is nearly full: /);
  assert.equal(telegram?.body['chat_id'], '-100');
  assert.equal(postsTo('/slack/secret-path')[0]?.body['text'], telegram?.body['text']);
  const [hook] = postsTo('/hook');
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = hook?.headers ?? {};
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  assert.equal(
    signature,
    `v1,${createHmac('sha256', key)
      .update(`${String(id)}.${String(at)}.${hook?.text}`)
      .digest('base64')}`,
  );
  assert.partialDeepStrictEqual(hook?.body, { type: 'alert', id, counts: { troubles: 1, well: 0 } });
  const shown = JSON.stringify((await scene.gateway.call('GET', '/admin/alerts')).body);
  for (const hidden of [mailLogin.password, 'bot-token', 'secret-path', secret, '/hook']) {
    assert.ok(!shown.includes(hidden), hidden);
    assert.ok(!scene.gateway.printed.includes(hidden), `${hidden} in the log`);
  }
});

test('alerts: two sessions that the phone logs out share one message, and a restart after a kill sends none again', async () => {
  await scene.gateway.call('POST', '/admin/alerts', {
    body: { ...((await scene.gateway.call('GET', '/admin/alerts')).body['settings'] as object), channels: ['email'] },
  });
  const accounts = [await scene.paired(), await scene.paired()];
  for (const account of accounts) await scene.platform.sandbox.logout(account.number);
  for (const account of accounts) await account.reaches('disconnected');
  // No message leaves in the five minutes after the one about the disk, so that both are known before the next one.
  await knows(3);
  await age(5 * minute);
  await until(() => mail.mails.length === 2, 'the message about the sessions', 3 * minute);
  assert.equal(subjectsOf(mail)[1], 'Dormouse: 2 sessions need a person');
  assert.equal(mail.mails[1]?.text.match(/\/admin\/sessions\/r/g)?.length, 2);
  // A gateway that is killed before it has stored that a message was sent sends the message again.
  await age(0);
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start({ DISK_FREE_PERCENT: '0' });
  await wait(minute / 2);
  assert.equal(mail.mails.length, 2);
  assert.equal(posts.posts.length, 3, 'channels that are switched off get nothing');
});

test('alerts: a disk with room again has recovered, and the sessions have not', async () => {
  await knows(2);
  await age(5 * minute);
  await until(() => mail.mails.length === 3, 'the message that the disk is well', 2 * minute);
  assert.equal(subjectsOf(mail)[2], 'Dormouse: 1 well again');
  assert.match(String(mail.mails[2]?.text), /Well again:\r\n- this gateway\r\n/);
  const { body } = await scene.gateway.call('GET', '/admin/alerts');
  assert.equal(body['total'], 2);
});
