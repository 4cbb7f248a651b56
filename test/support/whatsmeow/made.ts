/** A device with generated keys, for tests that read the store without a login. */
import { randomBytes } from 'node:crypto';
import { Curve, initAuthCreds, proto } from '@whiskeysockets/baileys';
import type { Held } from './writer.ts';

const lid = '100000000000001';

/** Returns a device with generated keys. `id` has the form `number:device@s.whatsapp.net`. */
export const madeDevice = (id: string, values: ReadonlyMap<string, unknown> = new Map()): Held => ({
  creds: {
    ...initAuthCreds(),
    me: { id, lid: `${lid}:1@lid`, name: 'Shop' },
    account: {
      details: randomBytes(18),
      accountSignatureKey: randomBytes(32),
      accountSignature: randomBytes(64),
      deviceSignature: randomBytes(64),
    },
    platform: 'smba',
  },
  values: new Map<string, unknown>([
    ['pre-key 7', Curve.generateKeyPair()],
    [
      'app-state-sync-key AAAAAQ==',
      proto.Message.AppStateSyncKeyData.fromObject({ keyData: randomBytes(32), timestamp: 1_700_000_000_000, fingerprint: { rawId: 1 } }),
    ],
    ...values,
  ]),
});
