/**
 * The pairing with an account that requires a passkey. The owner signs the platform's challenge in a browser. This file passes the challenge to the owner,
 * and the assertion to the platform. The gateway never gets a passkey. The steps follow tulir/whatsmeow, `pair-passkey.go` (2026-06-30).
 */
import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { type BinaryNode, bytesToCrockford, Curve, getBinaryNodeChild, hkdf, type KeyPair, proto } from '@whiskeysockets/baileys';
import type { PasskeyAssertion, PasskeyFact, PasskeyOptions } from '#actors/ports.ts';

interface PasskeyInput {
  /** Sends a query with `xmlns="md"`. Rejects if the platform refuses, does not answer, or the connection ends. */
  ask(type: 'get' | 'set', request: BinaryNode): Promise<BinaryNode>;
  /** Returns the secret with which the phone authenticates the device. */
  advSecret(): Uint8Array;
  /** Replaces the secret. Resolves when the new secret is stored. */
  replaceAdvSecret(secret: Uint8Array): Promise<void>;
  /** Public keys of this device. */
  readonly noiseKey: Uint8Array;
  readonly identityKey: Uint8Array;
  /** `PlatformType` of the registered DeviceProps. */
  readonly deviceType: number;
  /** The monotonic clock, in milliseconds. */
  now(): number;
  emit(fact: PasskeyFact): void;
  /** Ends the pairing with a reason. No step is retried, because the platform may ban an account for malformed requests. */
  fail(reason: string): void;
}

/** Validity of the key that proves the hand-off (whatsmeow, `passkeyHandoffKey.Valid`). In milliseconds. */
const handoffMs = 5 * 60_000;

/** The state between the prologue and the pairing request. */
interface Exchange {
  readonly ephemeral: KeyPair;
  readonly nonce: Uint8Array;
  readonly ref: string;
  /** True if the hand-off is proven, so the owner need not compare codes. */
  readonly handedOff: boolean;
  /** The key of the pairing request, from the phone's answer until the request. */
  key: Uint8Array | null;
  /** True after the phone's answer. */
  isContinued: boolean;
}

const sha256 = (...parts: readonly Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
const nodeOf = (tag: string, content?: BinaryNode['content']): BinaryNode => ({
  tag,
  attrs: {},
  ...(content === undefined ? {} : { content }),
});
const bytesOf = (stanza: BinaryNode, tag: string): Buffer | null => {
  const content = getBinaryNodeChild(stanza, tag)?.content;
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? Buffer.from(content) : null;
};

/** Reads the options of a request. Returns null if they are missing or invalid. */
const readOptions = (stanza: BinaryNode): PasskeyOptions | null => {
  const text = bytesOf(stanza, 'passkey_request_options')?.toString();
  if (text === undefined) return null;
  try {
    const options = JSON.parse(text) as PasskeyOptions;
    return typeof options.challenge === 'string' && typeof options.rpId === 'string' ? options : null;
  } catch {
    return null;
  }
};

export class PasskeyPairing {
  readonly #input: PasskeyInput;
  #handoff: { readonly key: Uint8Array; readonly at: number } | null = null;
  #exchange: Exchange | null = null;
  /** Resolves when all earlier steps have ended. Steps run one after the other, because each waits for an answer of the platform. */
  #steps: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(input: PasskeyInput) {
    this.#input = input;
  }

  /** Handles the platform's request for an assertion. Until a prologue is sent, a repeated request restarts the steps. */
  requested(stanza: BinaryNode): void {
    this.#step('the platform asked for a passkey, and did not say for which', async () => {
      if (this.#exchange !== null) return;
      const { ask, advSecret, replaceAdvSecret, now, emit } = this.#input;
      const key = hkdf(Buffer.from(advSecret()), 32, { info: 'shortcake-passkey-handoff-v1' });
      this.#handoff = { key, at: now() };
      await replaceAdvSecret(randomBytes(32));
      const options = readOptions(stanza) ?? readOptions(await ask('get', nodeOf('passkey_request_options')));
      if (options === null) throw new Error('no options');
      emit({ type: 'platform.passkeyRequested', options });
    });
  }

  /** Sends the owner's assertion, which `problemOf` has checked. */
  assert(assertion: PasskeyAssertion): void {
    this.#step('the platform did not accept the passkey', async () => {
      if (this.#exchange !== null) return;
      const { ask } = this.#input;
      const ref = bytesOf(await ask('get', nodeOf('ref')), 'ref')?.toString();
      if (!ref) throw new Error('no reference');
      const { exchange, content } = this.#makePrologue(ref, assertion);
      this.#exchange = exchange;
      await ask('set', nodeOf('passkey_prologue', content));
      this.#handoff = null;
    });
  }

  /** Handles the phone's half of the key exchange. A repeated half is ignored. */
  continued(stanza: BinaryNode): void {
    this.#step('the phone’s answer to the passkey cannot be read', async () => {
      const exchange = this.#exchange;
      if (exchange === null || exchange.isContinued) return;
      const { publicKey, nonce } = proto.PrimaryEphemeralIdentity.decode(bytesOf(stanza, 'primary_ephemeral_identity') ?? Buffer.alloc(0));
      if (publicKey?.length !== 32 || nonce?.length !== 32) throw new Error('keys of another length');
      const salt = Buffer.from(`Companion Pairing ${this.#input.deviceType} with ref ${exchange.ref}`);
      const shared = Curve.sharedKey(exchange.ephemeral.private, publicKey);
      exchange.isContinued = true;
      exchange.key = hkdf(shared, 32, { salt, info: 'Pairing Information Encryption Key' });
      await this.#input.ask('set', nodeOf('companion_nonce', exchange.nonce));
      const digest = sha256(exchange.nonce, publicKey);
      const text = bytesToCrockford(Buffer.from(nonce.subarray(0, 5).map((one, at) => one ^ (digest[at] ?? 0))));
      this.#input.emit({ type: 'platform.passkeyCode', code: `${text.slice(0, 4)}-${text.slice(4)}`, handedOff: exchange.handedOff });
      if (exchange.handedOff) this.confirm();
    });
  }

  /** Requests the link. The owner must have seen the same code on the phone, or the hand-off must be proven. */
  confirm(): void {
    this.#step('the platform did not link the device after the passkey', async () => {
      const exchange = this.#exchange;
      if (exchange === null || exchange.key === null) return;
      const request = this.#seal(exchange.key);
      exchange.key = null;
      await this.#input.ask('set', nodeOf('encrypted_pairing_request', request));
    });
  }

  /** Ends the pairing. Later steps send and report nothing. */
  end(): void {
    this.#ended = true;
    this.#handoff = null;
    this.#exchange = null;
  }

  #step(sentence: string, work: () => Promise<void>): void {
    this.#steps = this.#steps.then(async () => {
      if (this.#ended) return;
      try {
        await work();
      } catch (error) {
        if (!this.#ended) this.#input.fail(`${sentence}: ${error instanceof Error ? error.message : String(error)}`);
        this.end();
      }
    });
  }

  #makePrologue(ref: string, assertion: PasskeyAssertion): { readonly exchange: Exchange; readonly content: BinaryNode[] } {
    const { deviceType, now } = this.#input;
    const ephemeral = Curve.generateKeyPair();
    const nonce = randomBytes(32);
    const identity = proto.CompanionEphemeralIdentity.encode({ publicKey: ephemeral.public, deviceType, ref }).finish();
    const commitment = { hash: sha256(identity, nonce) };
    const payload = proto.ProloguePayload.encode({ companionEphemeralIdentity: identity, commitment }).finish();
    const proof = this.#handoff !== null && now() - this.#handoff.at < handoffMs ? createHmac('sha256', this.#handoff.key) : null;
    const { id, rawId, type, response } = assertion;
    const { clientDataJSON, authenticatorData, signature, userHandle = null } = response;
    const sent = { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } };
    return {
      exchange: { ephemeral, nonce, ref, handedOff: proof !== null, key: null, isContinued: false },
      content: [
        nodeOf('credential_id', Buffer.from(rawId, 'base64url')),
        nodeOf('webauthn_assertion', Buffer.from(JSON.stringify(sent))),
        nodeOf('prologue_payload', payload),
        ...(proof === null ? [] : [nodeOf('pairing_handoff_proof', proof.update(payload).digest())]),
      ],
    };
  }

  #seal(key: Uint8Array): Uint8Array {
    const { noiseKey, identityKey, advSecret } = this.#input;
    const request = { companionPublicKey: noiseKey, companionIdentityKey: identityKey, advSecret: advSecret() };
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    const encrypted = Buffer.concat([cipher.update(proto.PairingRequest.encode(request).finish()), cipher.final(), cipher.getAuthTag()]);
    return proto.EncryptedPairingRequest.encode({ encryptedPayload: encrypted, iv }).finish();
  }
}

/** Returns true for the origin of a page that may request the passkey. */
const isOrigin = (origin: unknown): boolean => {
  const url = typeof origin === 'string' ? URL.parse(origin) : null;
  return url?.protocol === 'https:' && url.port === '' && (url.hostname === 'whatsapp.com' || url.hostname.endsWith('.whatsapp.com'));
};

/** Returns the fault of an assertion as a text; null for a valid assertion. An invalid one must not be sent: the platform may ban the account. */
export const problemOf = (assertion: PasskeyAssertion, options: PasskeyOptions): string | null => {
  const { clientDataJSON, authenticatorData } = assertion.response;
  let data: { readonly type?: unknown; readonly challenge?: unknown; readonly origin?: unknown };
  try {
    data = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as typeof data;
  } catch {
    return 'clientDataJSON is no JSON in base64url';
  }
  if (data?.type !== 'webauthn.get') return 'clientDataJSON is not of an assertion (webauthn.get)';
  if (data.challenge !== options.challenge) return 'the assertion answers another challenge: begin again with the options of now';
  if (!isOrigin(data.origin)) return `the assertion is of the page ${String(data.origin)}: open https://web.whatsapp.com`;
  if (
    !Buffer.from(authenticatorData, 'base64url')
      .subarray(0, 32)
      .equals(sha256(Buffer.from(options.rpId)))
  )
    return `the assertion is for another site than ${options.rpId}`;
  const allowed = options.allowCredentials ?? [];
  if (allowed.length > 0 && !allowed.some(({ id }) => id === assertion.rawId))
    return 'the account does not know this passkey: choose another one';
  return null;
};
