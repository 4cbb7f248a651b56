/** Tests the own picture of the account: found after the login, updated on changes, and looked up at a pace that all sessions share. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { OwnPicture, PicturePace } from '#src/platform/link/pictures.ts';
import { pair } from '#test/sandbox/client.ts';
import { type Bench, connected, startBench } from './setup.ts';

let bench: Bench;
before(async () => {
  bench = await startBench();
});
after(() => bench.stop());

test('own picture: its address is reported after the login, when it changes, and as empty when it is removed', async () => {
  const number = '5511900000091';
  const device = await pair(bench.running, { number });
  // The smallest bytes that pass as a picture. Baileys would need a picture library to make one.
  const attrs = { to: 's.whatsapp.net', type: 'set', xmlns: 'w:profile:picture' };
  const set = (content: Buffer) =>
    device.sock.query({ tag: 'iq', attrs, content: [{ tag: 'picture', attrs: { type: 'image' }, content }] });
  await set(Buffer.from('a picture'));
  const instance = await connected(bench, number);
  const told = (pick: (url: string) => boolean) =>
    instance.facts.wait((fact) => fact.type === 'platform.identity' && pick(fact.patch.profilePicUrl ?? '?') && fact.patch, 'a picture');
  const { profilePicUrl } = await told((url) => url.startsWith('https://127.0.0.1:'));
  await instance.link.close();
  await device.sock.removeProfilePicture(`${number}@s.whatsapp.net`);
  instance.open();
  await told((url) => url === '');
  assert.match(profilePicUrl ?? '', /^https:/);
  await device.end();
});

/** Returns an error in the form of the library. */
const refusal = (message: string, more: object) => Object.assign(new Error(message), { output: { statusCode: 500 }, ...more });

const me = { pn: '55@s.whatsapp.net', lid: '1@lid' };

const watch = (t: TestContext, answer: () => Promise<string | undefined>) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [found, failed]: [string[], unknown[]] = [[], []];
  const asked: string[] = [];
  const pace = new PicturePace({ login: 2_000, between: 200 }, () => 0);
  const make = () =>
    new OwnPicture({
      sock: {
        profilePictureUrl: (jid) => {
          asked.push(jid);
          return answer();
        },
      },
      pace,
      me: () => me,
      changed: () => undefined,
      found: (url) => void found.push(url),
      failed: (error) => void failed.push(error),
    });
  return { make, found, failed, asked, pass: async (ms: number) => [t.mock.timers.tick(ms), await new Promise(setImmediate)] };
};

test('own picture: sessions that log in at once look it up one after the other', async (t) => {
  const { make, asked, pass } = watch(t, async () => 'url');
  for (let n = 0; n < 3; n++) make().loggedIn();
  await pass(1_999);
  assert.equal(asked.length, 0);
  await pass(1);
  assert.equal(asked.length, 1);
  await pass(200);
  await pass(200);
  assert.deepEqual(asked, [me.pn, me.pn, me.pn]);
});

test('own picture: a change of it is looked up, and a change of another person is not', async (t) => {
  const { make, asked, found, pass } = watch(t, async () => 'url');
  const picture = make();
  picture.observe({ name: 'contacts.update', data: [{ id: '66@s.whatsapp.net', imgUrl: 'changed' }] });
  picture.observe({ name: 'contacts.update', data: [{ id: me.pn, notify: 'Me' }] });
  await pass(10_000);
  assert.equal(asked.length, 0);
  picture.observe({ name: 'contacts.update', data: [{ id: '1:3@lid', imgUrl: 'changed' }] });
  await pass(1_000);
  assert.deepEqual(found, ['url']);
});

const answers: readonly (readonly [
  title: string,
  answer: () => Promise<string | undefined>,
  found: readonly string[],
  failures: number,
])[] = [
  ['no address', async () => undefined, [''], 0],
  ['a picture that there is not', () => Promise.reject(refusal('item-not-found', { data: 404 })), [''], 0],
  ['a picture that is hidden', () => Promise.reject(refusal('not-authorized', { data: 401 })), [''], 0],
  ['no answer in time', () => Promise.reject(refusal('Timed Out', { output: { statusCode: 408 } })), [], 1],
];
for (const [title, answer, expected, failures] of answers)
  test(`own picture: ${title} ${expected.length > 0 ? 'is none' : 'changes nothing'}`, async (t) => {
    const { make, found, failed, pass } = watch(t, answer);
    make().loggedIn();
    await pass(2_000);
    assert.deepEqual([found, failed.length], [expected, failures]);
  });

test('own picture: after the end of the connection nothing is looked up or reported', async (t) => {
  const answer = Promise.withResolvers<string>();
  const { make, found, asked, pass } = watch(t, () => answer.promise);
  const [early, late] = [make(), make()];
  early.loggedIn();
  early.close();
  late.loggedIn();
  await pass(3_000);
  late.close();
  answer.resolve('url');
  await pass(0);
  early.loggedIn();
  await pass(9_000);
  assert.deepEqual([asked.length, found], [1, []]);
});
