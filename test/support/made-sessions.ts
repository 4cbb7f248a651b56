/** Folders of the bare library with sessions that were made without a pairing. They serve imports that never connect. */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BufferJSON, initAuthCreds, type AuthenticationCreds } from '@whiskeysockets/baileys';

const json = (value: unknown): string => JSON.stringify(value, BufferJSON.replacer);

export interface MadeSession {
  readonly number: string;
  /** The number of one-time pre-keys. About 812 remain after a pairing with a phone. */
  readonly preKeys: number;
  /** The number of people with a Signal session. */
  readonly people?: number;
}

export const madeCreds = (number: string): AuthenticationCreds => ({
  ...initAuthCreds(),
  me: { id: `${number}:7@s.whatsapp.net`, name: `Person ${number}`, lid: `9${number}:7@lid` },
  account: {
    details: randomBytes(20),
    accountSignatureKey: randomBytes(32),
    accountSignature: randomBytes(64),
    deviceSignature: randomBytes(64),
  },
  platform: 'android',
  accountSyncCounter: 1,
});

const base64 = (bytes: number): string => randomBytes(bytes).toString('base64');

/** Returns a generated session in the format of libsignal-node. */
const madeSignalSession = (): object => {
  const baseKey = base64(33);
  return {
    _sessions: {
      [baseKey]: {
        registrationId: 1,
        currentRatchet: {
          ephemeralKeyPair: { pubKey: base64(33), privKey: base64(32) },
          lastRemoteEphemeralKey: base64(33),
          previousCounter: 0,
          rootKey: base64(32),
        },
        indexInfo: { baseKey, baseKeyType: 2, closed: -1, used: 1, created: 1, remoteIdentityKey: base64(33) },
        _chains: { [base64(33)]: { chainKey: { counter: 1, key: base64(32) }, chainType: 1, messageKeys: {} } },
      },
    },
    version: 'v1',
  };
};

/** Writes the folder of a generated session. Returns the number of keys that an import reads from the folder. */
export const writeMadeSession = async (folder: string, { number, preKeys, people = 0 }: MadeSession): Promise<number> => {
  await mkdir(folder, { recursive: true });
  const files: [string, unknown][] = [];
  for (let id = 1; id <= preKeys; id += 1) files.push([`pre-key-${id}`, { public: randomBytes(32), private: randomBytes(32) }]);
  for (let person = 0; person < people; person += 1) files.push([`session-55119${String(person).padStart(8, '0')}.0`, madeSignalSession()]);
  await Promise.all(
    [['creds', madeCreds(number)] as const, ...files].map(([name, value]) => writeFile(join(folder, `${name}.json`), json(value))),
  );
  return files.length;
};
