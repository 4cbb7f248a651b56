/**
 * Encryption at rest by AES-256-GCM. Each value is bound to the place where it is stored. Nonces are random, so one key may seal at most some 2^32 values.
 * Therefore each instance has its own derived key, and values that belong to no instance share another key.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Log } from '#actors/ports.ts';
import { LruMap } from '#src/base/lru-map.ts';
import { CorruptCredentials } from '#src/platform/wire/vault-port.ts';

/** The identity of a stored value. */
export interface SealedId {
  /** The instance whose derived key seals the value; '' if the value belongs to no instance. */
  readonly owner: string;
  /** The table, row and field of the value, as additional authenticated data. A value that was copied to another row cannot be unsealed. */
  readonly name: string;
}

export interface Sealer {
  seal(id: SealedId, value: string | Uint8Array): Buffer;
  /** Unseals a text. Throws if the value was changed, moved, or sealed under another key. The error does not contain the value. */
  open(id: SealedId, sealed: Uint8Array): string;
  openBytes(id: SealedId, sealed: Uint8Array): Buffer;
  /** Returns true if `seal` would now use another key or the newer form. Returns false if the value cannot be unsealed. */
  isOld(id: SealedId, sealed: Uint8Array): boolean;
}

/** The first byte of a sealed value. Form 1 is sealed under the encryption key. Form 2 is sealed under a key that is derived for the owner. */
const forms = { whole: 1, derived: 2 } as const;
type Form = (typeof forms)[keyof typeof forms];

/** The form in which `seal` writes: under a derived key or under the encryption key. Values of both forms can be unsealed. */
export interface WrittenForm {
  derived: boolean;
}

const ivLength = 12;
const tagLength = 16;

/** Returns the sealed id of a value. `owner` is the instance by default. */
export const sealedIdOf = (table: string, id: string, type = '', key = '', owner = id): SealedId => ({
  owner,
  name: `${table}|${id}|${type}|${key}`,
});

/** Returns the sealed id of a refused entry. */
export const refusedSealedId = (instance: string, id: string): SealedId => sealedIdOf('refused_entry', instance, '', id);

/** Returns the sealed id of a user's secret, which belongs to no instance. */
export const userSealedId = (id: string, kind: 'password' | 'code'): SealedId => sealedIdOf('gateway_user', id, kind, '', '');

/** Returns the sealed id of the secrets of alerts, which belong to no instance. */
export const alertSealedId = (id: string): SealedId => sealedIdOf('alert', id, '', '', '');

/** Returns the sealed id of the secret part of a webhook. `instance`: null for a global webhook. */
export const privateSealedId = (id: string, instance: string | null): SealedId => sealedIdOf('webhook', id, 'private', '', instance ?? '');

export const isDerived = (sealed: Uint8Array): boolean => sealed[0] === forms.derived;

/** Draws nonces in blocks, because a call for one random number costs as much as a call for hundreds. */
class Nonces {
  #block = Buffer.alloc(0);
  #at = 0;

  next(): Buffer {
    if (this.#at >= this.#block.length) [this.#block, this.#at] = [randomBytes(ivLength * 256), 0];
    return this.#block.subarray(this.#at, (this.#at += ivLength));
  }
}

/** The number of derived keys that stay cached. The cache may contain up to twice as many. A key takes a microsecond to derive and 240 bytes of heap. */
const keptKeys = 1_000;

/** An encryption key, and the keys that are derived from it. */
class Keys {
  readonly #whole: KeyObject;
  /** The pseudorandom key of HKDF-SHA256 (RFC 5869) without a salt, from which the keys of owners are expanded. */
  readonly #extracted: KeyObject;
  readonly #derived = new LruMap<KeyObject>(keptKeys);

  constructor(bytes: Uint8Array) {
    if (bytes.length !== 32) throw new Error('The encryption key must be 32 bytes long.');
    this.#whole = createSecretKey(bytes);
    this.#extracted = createSecretKey(createHmac('sha256', '').update(bytes).digest());
  }

  of(form: Form, owner: string): KeyObject {
    if (form === forms.whole) return this.#whole;
    const known = this.#derived.get(owner);
    if (known) return known;
    // A key of 32 bytes is the first block of the expansion. The extraction is done once, so this costs a fifth of `hkdfSync`.
    const key = createSecretKey(createHmac('sha256', this.#extracted).update(`dormouse sealed values|${owner}\x01`).digest());
    this.#derived.set(owner, key);
    return key;
  }
}

const formOf = (sealed: Uint8Array): Form | null => Object.values(forms).find((form) => form === sealed[0]) ?? null;

const openUnder = (keys: Keys, { owner, name }: SealedId, sealed: Uint8Array): Buffer => {
  const form = formOf(sealed);
  if (sealed.length < 1 + ivLength + tagLength || form === null) throw new Error('The sealed value is damaged.');
  const body = 1 + ivLength;
  const decipher = createDecipheriv('aes-256-gcm', keys.of(form, owner), sealed.subarray(1, body), { authTagLength: tagLength });
  decipher.setAAD(Buffer.from(name)).setAuthTag(sealed.subarray(-tagLength));
  return Buffer.concat([decipher.update(sealed.subarray(body, -tagLength)), decipher.final()]);
};

const opensUnder = (keys: Keys, id: SealedId, sealed: Uint8Array): boolean => {
  try {
    openUnder(keys, id, sealed);
    return true;
  } catch {
    return false;
  }
};

/** Creates a sealer. `former`: the previous key, if values that it sealed may be left. `written` may change at any time. */
export const createSealer = (
  bytes: Uint8Array,
  former: Uint8Array | null = null,
  written: Readonly<WrittenForm> = { derived: true },
): Sealer => {
  const keys = new Keys(bytes);
  const formerKeys = former && new Keys(former);
  const nonces = new Nonces();
  const isUnderFormer = (id: SealedId, sealed: Uint8Array): boolean =>
    formerKeys !== null && !opensUnder(keys, id, sealed) && opensUnder(formerKeys, id, sealed);
  const openBytes = (id: SealedId, sealed: Uint8Array): Buffer =>
    openUnder(formerKeys !== null && isUnderFormer(id, sealed) ? formerKeys : keys, id, sealed);
  return {
    seal({ owner, name }, value) {
      const iv = nonces.next();
      const form = written.derived ? forms.derived : forms.whole;
      const cipher = createCipheriv('aes-256-gcm', keys.of(form, owner), iv, { authTagLength: tagLength }).setAAD(Buffer.from(name));
      const body = typeof value === 'string' ? cipher.update(value, 'utf8') : cipher.update(value);
      return Buffer.concat([Buffer.of(form), iv, body, cipher.final(), cipher.getAuthTag()]);
    },
    open: (id, sealed) => openBytes(id, sealed).toString('utf8'),
    openBytes,
    isOld: (id, sealed) => isUnderFormer(id, sealed) || (written.derived && formOf(sealed) === forms.whole && opensUnder(keys, id, sealed)),
  };
};

/** Unseals a value of a session. Throws `CorruptCredentials` if it cannot be unsealed. */
export const openSealed = (sealer: Sealer, id: SealedId, sealed: Uint8Array): Buffer => {
  try {
    return sealer.openBytes(id, sealed);
  } catch {
    throw new CorruptCredentials('stored credentials or keys cannot be decrypted');
  }
};

export const tokenHash = (token: string): Buffer => createHash('sha256').update(token).digest();

// The opener unseals the values of rows. A value that cannot be unsealed counts as missing, so that one damaged row does not block the others.

/** The owner and the field of a value, for the program's log. */
export interface Named {
  readonly id: string;
  readonly field: string;
}

export const asText = (text: string): string => text;

export class Opener {
  readonly #sealer: Sealer;
  readonly #log: Pick<Log, 'error'>;
  readonly #reported = new Set<string>();

  /** `sealer` unseals under the current key, and during a change of the key also under the previous key. */
  constructor(sealer: Sealer, log: Pick<Log, 'error'>) {
    this.#sealer = sealer;
    this.#log = log;
  }

  seal(id: SealedId, value: string | Uint8Array): Buffer {
    return this.#sealer.seal(id, value);
  }

  /** Unseals a value and parses it with `read`. If either fails, logs `storage.unreadable` and returns null. */
  open<T>(id: SealedId, sealed: Uint8Array, read: (text: string) => T, named: Named): T | null {
    try {
      return read(this.#sealer.open(id, sealed));
    } catch {
      // The error is not logged, because it may contain the value.
      this.report(id, named);
      return null;
    }
  }

  /** Logs `storage.unreadable`, once for each value. */
  report(id: SealedId, named: Named): void {
    if (!this.#reported.has(id.name)) this.#log.error({ ...named }, 'storage.unreadable');
    this.#reported.add(id.name);
  }
}
