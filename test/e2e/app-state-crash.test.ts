/** Tests changes of the shared state under kills and late answers. Afterwards the stored state equals that of the phone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import type { Json } from '#test/support/operation-rows.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const people = Array.from({ length: 12 }, (_, n) => `55119777000${String(n).padStart(2, '0')}`);

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open({ SEND_TIMEOUT_MS: '3000' });
  account = await scene.paired();
  for (const number of people) await scene.platform.sandbox.send(number, account.number, { kind: 'text', text: 'hello' });
  await until(async () => (await here()).size === people.length, 'all chats are stored');
  await until(
    async () => (await account.call('POST', '/chat/pin', { number: people[0], pin: false })).status === 200,
    'the phone has shared its key',
  );
});
after(() => scene.close());

interface State {
  readonly archived: boolean;
  readonly pinned: boolean;
  readonly name: string;
}

const here = async (): Promise<ReadonlyMap<string, State>> => {
  const { body } = await account.call('POST', '/chat/find', { limit: 100 });
  return new Map(
    (body['chats'] as readonly Json[]).map((chat) => [
      String(chat['wa_chatid']).split('@')[0] ?? '',
      { archived: chat['wa_archived'] === true, pinned: chat['wa_isPinned'] === true, name: String(chat['wa_contactName']) },
    ]),
  );
};

const onPhone = (number: string): State => {
  const { chats, contacts } = scene.platform.sandbox.settings(account.number);
  const chat = chats.find((one) => one.chat === number);
  const name = contacts.find((one) => one.number === number)?.name ?? '';
  return { archived: chat?.archived === true, pinned: (chat?.pinnedAt ?? 0) > 0, name };
};

/** Waits until every stored chat equals the chat on the phone. */
const agrees = async (): Promise<void> => {
  let wrong: string[] = [];
  await until(
    async () => {
      const stored = await here();
      wrong = people.filter((number) => JSON.stringify(stored.get(number)) !== JSON.stringify(onPhone(number)));
      return wrong.length === 0;
    },
    () => `all chats are as on the phone; these are not: ${wrong.join(', ')}`,
    120_000,
  );
};

let round = 0;
const changeOnPhone = async (number: string): Promise<void> => {
  const { sandbox } = scene.platform;
  round += 1;
  await sandbox.change(account.number, { kind: 'archive', chat: number, on: round % 2 === 0 });
  await sandbox.change(account.number, { kind: 'pin', chat: number, on: round % 3 === 0 });
  await sandbox.change(account.number, { kind: 'contact', number, name: `Name ${round}` });
};

test('shared state: a kill loses no change that the phone made', async () => {
  for (const pause of [150, 300, 450, 600]) {
    const going = { on: true };
    const work = (async () => {
      for (let n = 0; going.on; n += 1) {
        await changeOnPhone(people[n % people.length] ?? '');
        await wait(2);
      }
    })();
    await wait(pause);
    await scene.gateway.end('SIGKILL');
    going.on = false;
    await work;
    await scene.gateway.start();
    await account.reaches('connected');
    await agrees();
  }
});

test('shared state: a change whose answer is late is answered with 504, and stored when the answer arrives', async () => {
  const [number = ''] = people;
  const before = onPhone(number).archived;
  await scene.platform.sandbox.fault({ kind: 'delay', number: account.number, ms: 6_000 });
  const late = await account.call('POST', '/chat/archive', { number, archive: !before });
  assert.equal(late.status, 504, JSON.stringify(late.body));
  await until(() => onPhone(number).archived === !before, 'the phone has it');
  await scene.platform.sandbox.fault({ kind: 'delay', number: account.number, ms: 0 });
  await agrees();
});

test('shared state: resets and sleep during changes of the API leave both sides equal', async () => {
  for (const path of ['/instance/reset', '/instance/hibernate'] as const) {
    const going = { on: true };
    const workers = people.slice(0, 6).map(async (number, at) => {
      for (let n = at; going.on; n += 1) await account.call('POST', '/chat/pin', { number, pin: n % 2 === 0 });
    });
    await wait(300);
    await account.call('POST', path);
    await wait(300);
    going.on = false;
    await Promise.all(workers);
    await account.connect();
    await account.reaches('connected');
    await agrees();
  }
});
