/** A device that the bare library paired with the simulated platform. It has conversations, and is stopped as another gateway would leave its store. */
import { BufferJSON } from '@whiskeysockets/baileys';
import type { Found, FoundSession, SessionKey } from '#src/moving/session.ts';
import { type Client, connect, createAuth, eventually, pair, type TestSandbox } from '#test/sandbox/client.ts';
import type { Held } from './writer.ts';

export const contact = '5511988880051';
export const groupMember = '5511988880052';

export interface PairedDevice {
  readonly held: Held;
  readonly number: string;
  readonly group: string;
  readonly lidGroup: string;
}

export const jidOf = (number: string): string => `${number}@s.whatsapp.net`;

const reads = (sandbox: TestSandbox, number: string, text: string): Promise<unknown> =>
  eventually(() => sandbox.sandbox.received(number).find((one) => one.text === text), `${number} reads ${text}`);

const heard = (client: Client, id: string): Promise<unknown> =>
  client.wait('messages.upsert', ({ messages }) => messages.find(({ key, message }) => key.id === id && message));

/** Pairs a device, exchanges messages in a chat and in two groups, one of them addressed by LIDs, and stops. Returns the device. */
export const pairedDevice = async (sandbox: TestSandbox, number: string, name: string): Promise<PairedDevice> => {
  const client = await pair(sandbox, { number, name });
  const people = { creator: number, participants: [contact, groupMember] };
  const group = (await sandbox.sandbox.createGroup({ subject: 'Moving', ...people, addressing: 'pn' })).jid;
  const lidGroup = (await sandbox.sandbox.createGroup({ subject: 'Moving by LID', ...people, addressing: 'lid' })).jid;
  for (const chat of [jidOf(contact), group, lidGroup]) {
    const text = `${name} to ${chat}`;
    await client.sock.sendMessage(chat, { text });
    await reads(sandbox, contact, text);
    const to = chat.endsWith('@g.us') ? chat : number;
    const { id } = await sandbox.sandbox.send(contact, to, { kind: 'text', text: `answer in ${chat}` });
    await heard(client, id);
  }
  await eventually(() => client.auth.creds.myAppStateKeyId, 'the phone shares its keys');
  await client.end();
  return { held: client.auth, number, group, lidGroup };
};

/** Returns the keys of a read session, under `<type> <id>`. */
export const keysOf = async (found: FoundSession): Promise<ReadonlyMap<string, unknown>> => {
  const keys: readonly SessionKey[] = await Array.fromAsync(found.keys());
  return new Map(keys.map(({ type, id, value }) => [`${type} ${id}`, value]));
};

export const sessionOf = (found: Found | undefined): FoundSession => {
  if (found?.found !== 'session') throw new Error(found === undefined ? 'nothing was found' : `${found.name}: ${found.reason}`);
  return found;
};

/** Returns a value as the vault stores it, so that Buffers, lists of numbers and objects of the protocol can be compared. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value, BufferJSON.replacer));

/** Starts the bare library on the session that a reader returned. */
export const libraryOn = async (sandbox: TestSandbox, found: FoundSession): Promise<Client> => {
  const auth = createAuth();
  Object.assign(auth.creds, found.creds);
  for (const [name, value] of await keysOf(found)) auth.values.set(name, value);
  return connect(sandbox, auth);
};
