/** Linking a device to a phone: by the text inside a QR code, or by a code of eight characters. */
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

/** A client that shows a QR code. */
interface Waiting {
  readonly connection: Connection;
  readonly refs: readonly string[];
  readonly identity: Uint8Array;
  readonly registrationId: number;
  readonly signedPreKey: SignedPreKey;
  readonly pushName: string;
  /** The client asked for a code instead. */
  code?: CodeRequest;
  busy: boolean;
  /** Answers of the client that the phone waits for. */
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
/** Milliseconds that a client has to answer a step of the pairing. */
const answerMs = 10_000;
/** Milliseconds that a code may be typed ahead of the client's request. */
const requestMs = 1500;

export class Pairing {
  readonly #waiting = new Map<Connection, Waiting>();
  /** Numbers, as clients ask for a code. */
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

  /** A registration payload: offers the references that the QR codes will show. False when its keys are not in order. */
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

  /** A waiting client's answer to what the pairing asked it. */
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

  /** First step of pairing by code: the client says for which number it shows one. Answers with its reference. */
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

  /** The client that asked last: its code is the one on the screen. */
  #askedFor(number: Digits): Waiting | undefined {
    return [...this.#waiting.values()].findLast((one) => one.code?.number === number);
  }

  /** A client shows its code before its request has arrived; a quick hand is ahead of it. */
  async #willAsk(number: Digits): Promise<Waiting | undefined> {
    // An early end of the waiting is the ordinary case of a number that nobody asked for.
    await once(this.#asked, number, { signal: AbortSignal.timeout(requestMs) }).catch(() => undefined);
    return this.#askedFor(number);
  }

  /** Whether a device shows exactly what it was given and signed itself at the pairing. */
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
      // Not a protobuf message of this type.
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

  /** The phone signs the device's identity, the device signs back, and from then on it is one of the account's. */
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
      node('platform', { name: 'android' }),
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

  /** Clients that have the person's device list in their cache learn of the change. */
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

  /** The client's next stanza that fits; rejects when it takes too long or the client goes away. */
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
    // Not a protobuf message of this type: as good as no signature.
    return undefined;
  }
}

const same = (one: Uint8Array | null | undefined, other: Uint8Array): boolean =>
  one !== null && one !== undefined && Buffer.from(one).equals(other);
