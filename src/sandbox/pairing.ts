/** Pairing: links a device to a phone, by the text inside a QR code or by a code of eight characters. */
import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { proto } from '@whiskeysockets/baileys';
import { jidOf } from './address.ts';
import { SandboxError, type Digits, type History } from './face.ts';
import type { Links } from './links.ts';
import { bytes, child, firstChild, node, platformJid, unixSeconds, type BinaryNode } from './nodes.ts';
import { openBundle, wrapEphemeral, type CodeRequest } from './pairing-code.ts';
import type { Account, Device, People, Person } from './people.ts';
import type { Random } from './random.ts';
import { sign, verify, withType } from './signatures.ts';
import type { Phones } from './signal/phones.ts';
import type { Counters } from './stats.ts';
import type { SignedPreKey } from './store/keys.ts';
import { streamError, type Connection } from './wire/connection.ts';

/** A client that waits for its pairing. */
interface Waiting {
  readonly connection: Connection;
  readonly refs: readonly string[];
  readonly identity: Uint8Array;
  readonly registrationId: number;
  readonly signedPreKey: SignedPreKey;
  readonly pushName: string;
  /** Present after the client asked for a pairing code. */
  code?: CodeRequest;
  busy: boolean;
  /** Called with every answer of the client while the phone waits for one. */
  finish?: (stanza: BinaryNode) => void;
}

export interface LinkRequest {
  readonly person: Person;
  readonly history: History;
}

const accountPrefix = Buffer.from([6, 0]);
const devicePrefix = Buffer.from([6, 1]);
const refCount = 6;
const maxPushName = 100;
/** Milliseconds within which a client must answer a step of the pairing. */
const answerMs = 10_000;
/** Milliseconds by which the owner may type a code before the client's request for it arrives. */
const requestMs = 1500;

export class Pairing {
  readonly #waiting = new Map<Connection, Waiting>();
  /** Emits the number for which a client asks for a code. */
  readonly #asked = new EventEmitter();
  readonly #people: People;
  readonly #phones: Phones;
  readonly #links: Links;
  readonly #counters: Counters;
  readonly #random: Random;

  constructor(people: People, phones: Phones, links: Links, counters: Counters, random: Random) {
    this.#people = people;
    this.#phones = phones;
    this.#links = links;
    this.#counters = counters;
    this.#random = random;
  }

  /** Handles a registration: sends the references that the QR codes contain. False when a key is malformed or its signature is wrong. */
  begin(connection: Connection, payload: proto.ClientPayload): boolean {
    const keys = readRegistration(payload);
    if (!keys || !this.#counters.signature(verify(keys.identity, withType(keys.signedPreKey.value), keys.signedPreKey.signature)))
      return false;
    const refs = Array.from({ length: refCount }, () => `2@${this.#random.bytes(48).toString('base64url')}`);
    this.#waiting.set(connection, { connection, refs, ...keys, pushName: (payload.pushName ?? '').slice(0, maxPushName), busy: false });
    const attrs = { from: platformJid, type: 'set', id: this.#random.id(), xmlns: 'md' };
    connection.send(
      node('iq', attrs, [
        node(
          'pair-device',
          {},
          refs.map((ref) => node('ref', {}, Buffer.from(ref))),
        ),
      ]),
    );
    return true;
  }

  end(connection: Connection): void {
    this.#waiting.delete(connection);
  }

  /** Handles an answer of a client that waits for its pairing. */
  answer(connection: Connection, stanza: BinaryNode): void {
    this.#waiting.get(connection)?.finish?.(stanza);
  }

  /** `qr`: `[address#]ref,noise key,identity key,adv secret[,platform]`, keys in base64. */
  async scan(qr: string, request: LinkRequest): Promise<void> {
    const [ref = '', noise = '', identity = '', secret = ''] = qr
      .slice(qr.indexOf('#') + 1)
      .trim()
      .split(',');
    const waiting = [...this.#waiting.values()].find(({ refs }) => refs.includes(ref));
    if (!waiting) throw new SandboxError(404, 'no client waits for this QR code: it is too old, or of another platform');
    const same =
      waiting.connection.clientStatic.equals(Buffer.from(noise, 'base64')) && Buffer.from(identity, 'base64').equals(waiting.identity);
    if (!same) throw new SandboxError(400, 'the QR code names other keys than the client has');
    await this.#exclusively(waiting, () => this.#link(waiting, Buffer.from(secret, 'base64'), request));
  }

  /** First step of pairing by code: the client says for which number it shows a code. Returns the reference of this pairing. */
  hello(connection: Connection, number: Digits, wrapped: Uint8Array): string | undefined {
    const waiting = this.#waiting.get(connection);
    if (!waiting) return undefined;
    waiting.code = { number, wrapped, ref: waiting.refs[0] ?? '' };
    this.#asked.emit(number);
    return waiting.code.ref;
  }

  async enterCode(code: string, request: LinkRequest): Promise<void> {
    const { number } = request.person;
    const waiting = this.#askedFor(number) ?? (await this.#willAsk(number));
    if (!waiting?.code) throw new SandboxError(404, `no client waits for a code from ${number}`);
    const asked = waiting.code;
    await this.#exclusively(waiting, async () => {
      const identity = this.#phones.keysOf(request.person).identity;
      const primary = await wrapEphemeral(code.replace('-', ''), asked, this.#random);
      const content = [
        node('link_code_pairing_ref', {}, Buffer.from(asked.ref)),
        node('link_code_pairing_wrapped_primary_ephemeral_pub', {}, primary.wrapped),
        node('primary_identity_pub', {}, identity.public),
      ];
      const attrs = { from: platformJid, type: 'link_code_companion_reg', id: this.#random.id(), t: unixSeconds(Date.now()) };
      const answer = this.#answerOf(waiting, (one) => firstChild(one)?.attrs['stage'] === 'companion_finish');
      waiting.connection.send(node('notification', attrs, [node('link_code_companion_reg', { stage: 'primary_hello' }, content)]));
      const secret = openBundle(firstChild(await answer), primary.ephemeral, primary.companionEphemeral, identity);
      if (!secret || !Buffer.from(secret.companionIdentity).equals(waiting.identity)) throw new SandboxError(400, 'wrong code');
      await this.#link(waiting, secret.advSecret, request);
    });
  }

  /** The client that asked for a code last. Its code is the one on the screen. */
  #askedFor(number: Digits): Waiting | undefined {
    return [...this.#waiting.values()].findLast((one) => one.code?.number === number);
  }

  /** Waits for a client's request. The client shows its code before its request arrives, so that the code may be typed earlier. */
  async #willAsk(number: Digits): Promise<Waiting | undefined> {
    // A time-out is an ordinary case: no client asks for a code for this number.
    await once(this.#asked, number, { signal: AbortSignal.timeout(requestMs) }).catch(() => undefined);
    return this.#askedFor(number);
  }

  /** True when `shown` is exactly the identity that phone and device signed at the pairing. */
  isAccount(device: Device, shown: Uint8Array): boolean {
    try {
      const { details, accountSignature, accountSignatureKey, deviceSignature } = proto.ADVSignedDeviceIdentity.decode(shown);
      const { account } = device;
      return (
        same(details, account.details) &&
        same(accountSignature, account.accountSignature) &&
        same(accountSignatureKey, account.accountSignatureKey) &&
        same(deviceSignature, account.deviceSignature)
      );
    } catch {
      // Malformed protobuf.
      return false;
    }
  }

  async #exclusively(waiting: Waiting, work: () => Promise<void>): Promise<void> {
    if (waiting.busy) throw new SandboxError(409, 'this client is being linked already');
    waiting.busy = true;
    try {
      await work();
    } finally {
      waiting.busy = false;
    }
  }

  /** Links the device: the phone signs the device's identity, the device signs in return, and the device is stored. */
  async #link(waiting: Waiting, advSecret: Uint8Array, { person, history }: LinkRequest): Promise<void> {
    const { connection } = waiting;
    const name = person.name || waiting.pushName;
    const number = this.#people.nextDevice(person);
    const keyIndex = number;
    const { identity } = this.#phones.keysOf(person);
    const rawId = this.#random.bytes(4).readUInt32BE(0);
    const now = Date.now();
    const details = proto.ADVDeviceIdentity.encode({
      rawId,
      timestamp: Math.floor(now / 1000),
      keyIndex,
      accountType: 0,
      deviceType: 0,
    }).finish();
    const accountSignature = sign(identity.private, Buffer.concat([accountPrefix, details, waiting.identity]));
    const signed = proto.ADVSignedDeviceIdentity.encode({ details, accountSignatureKey: identity.public, accountSignature }).finish();
    const hmac = createHmac('sha256', advSecret).update(signed).digest();
    const content = [
      node('device-identity', {}, proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish()),
      ...(name === '' ? [] : [node('biz', { name })]),
      node('device', { jid: jidOf(person, 'pn', number), lid: jidOf(person, 'lid', number) }),
      node('platform', { name: person.business ? 'smba' : 'android' }),
    ];
    const id = this.#random.id();
    const attrs = { from: platformJid, type: 'set', id, xmlns: 'md', t: unixSeconds(now) };
    const answer = this.#answerOf(waiting, (one) => one.attrs['id'] === id);
    connection.send(node('iq', attrs, [node('pair-success', {}, content)]));
    const deviceSignature = readDeviceSignature(await answer);
    const text = Buffer.concat([devicePrefix, details, waiting.identity, identity.public]);
    if (!this.#counters.signature(deviceSignature !== undefined && verify(waiting.identity, text, deviceSignature)) || !deviceSignature) {
      connection.close(1008);
      throw new SandboxError(502, 'the client did not sign its device identity');
    }
    const account = { details, accountSignatureKey: identity.public, accountSignature, deviceSignature };
    const device = { number: person.number, device: number, keyIndex, account, linkedAt: now, history: { ...history, sent: false } };
    if (person.name !== name) {
      person.name = name;
      this.#people.save(person);
    }
    this.#keep(waiting, device);
    connection.finish(streamError(515));
  }

  #keep(
    waiting: Waiting,
    given: Pick<Device, 'number' | 'device' | 'keyIndex' | 'linkedAt' | 'history'> & { readonly account: Account },
  ): void {
    const { connection, identity, registrationId, signedPreKey, pushName } = waiting;
    this.#people.saveDevice({ ...given, noiseKey: connection.clientStatic, identity, registrationId, signedPreKey, pushName });
    this.#counters.pairings += 1;
    const device = this.#people.device(given.number, given.device);
    if (device) this.announceDevice(device, 'add');
  }

  /** Notifies the clients that have cached the person's device list. */
  announceDevice(device: Device, change: 'add' | 'remove'): void {
    const person = this.#people.ensure(device.number);
    const devices = (['pn', 'lid'] as const).map((one) =>
      node('device', { jid: jidOf(person, one, device.device), 'key-index': change === 'add' ? String(device.keyIndex) : undefined }),
    );
    for (const connection of this.#links.all()) {
      const reader = this.#people.deviceByKey(connection.deviceKey);
      if (!reader || !connection.knows.has(person.number)) continue;
      const attrs = { from: jidOf(person, 'pn'), type: 'devices', id: this.#random.id(), t: unixSeconds(Date.now()) };
      this.#links.deliver(reader, node('notification', attrs, [node(change, {}, devices)]));
    }
  }

  /** Resolves with the client's next stanza that fits. Rejects when none comes in time. */
  async #answerOf(waiting: Waiting, fits: (stanza: BinaryNode) => boolean): Promise<BinaryNode> {
    const { promise, resolve, reject } = Promise.withResolvers<BinaryNode>();
    const timer = setTimeout(() => reject(new SandboxError(504, 'the client did not answer the pairing')), answerMs);
    waiting.finish = (stanza) => {
      if (fits(stanza)) resolve(stanza);
    };
    return promise.finally(() => {
      clearTimeout(timer);
      delete waiting.finish;
    });
  }
}

function readRegistration(payload: proto.ClientPayload): Pick<Waiting, 'identity' | 'registrationId' | 'signedPreKey'> | undefined {
  const { eRegid, eIdent, eSkeyId, eSkeyVal, eSkeySig } = payload.devicePairingData ?? {};
  if (eRegid?.length !== 4 || eIdent?.length !== 32 || eSkeyId?.length !== 3 || eSkeyVal?.length !== 32 || eSkeySig?.length !== 64)
    return undefined;
  return {
    identity: eIdent,
    registrationId: Buffer.from(eRegid).readUInt32BE(0),
    signedPreKey: { id: Buffer.from(eSkeyId).readUIntBE(0, 3), value: eSkeyVal, signature: eSkeySig },
  };
}

function readDeviceSignature(stanza: BinaryNode): Uint8Array | undefined {
  const signed = bytes(child(child(stanza, 'pair-device-sign'), 'device-identity'));
  try {
    return signed && (proto.ADVSignedDeviceIdentity.decode(signed).deviceSignature ?? undefined);
  } catch {
    // Malformed protobuf counts as a missing signature.
    return undefined;
  }
}

const same = (one: Uint8Array | null | undefined, other: Uint8Array): boolean =>
  one !== null && one !== undefined && Buffer.from(one).equals(other);
