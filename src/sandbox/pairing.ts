/** Pairing: links a device to a phone, with the text of a QR code or with a code of eight characters. */
import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Curve, proto } from '@whiskeysockets/baileys';
import { jidOf } from './address.ts';
import { versionOf, type ClientVersions } from './client-versions.ts';
import { announceDevice, rawIdOf } from './device-lists.ts';
import { SandboxError, type Digits, type History } from './interface.ts';
import type { Faults } from './faults.ts';
import type { Connections } from './connections.ts';
import { child, firstChild, node, text, platformJid, unixSeconds, type BinaryNode } from './nodes.ts';
import {
  type CodeRequest,
  openBundle,
  readDeviceSignature,
  readRegistration,
  type Registration,
  same,
  wrapEphemeral,
} from './pairing-code.ts';
import { PasskeyCeremony } from './passkey/ceremony.ts';
import type { Account, Device, People, Person } from './people.ts';
import type { Random } from './random.ts';
import { sign, verify, withType } from './signal/identity.ts';
import type { Phones } from './signal/phones.ts';
import type { Counters } from './stats.ts';
import { streamError, type Connection } from './wire/connection.ts';

/** A client that waits for its pairing. */
interface Waiting extends Registration {
  readonly connection: Connection;
  readonly refs: readonly string[];
  readonly pushName: string;
  readonly version: string;
  /** Secrets of QR codes that are void, because the platform asked the client for a new code. */
  readonly retired: Set<string>;
  /** Ids of notifications that the client has to acknowledge before it is linked. */
  readonly unacknowledged: Set<string>;
  /** Present after the client asked for a pairing code. */
  code?: CodeRequest;
  /** Present after the ceremony of an account with a passkey has begun. */
  ceremony?: { readonly number: Digits; readonly passkey: PasskeyCeremony };
  busy: boolean;
  /** Called with each answer of the client while the phone waits for an answer. */
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
/** The time-out of a client's answer to a step of the pairing. In milliseconds. */
const answerMs = 10_000;
/** The longest wait for a client, in milliseconds. A typed code waits for the client's request. A scan waits for the client's acknowledgements. */
const requestMs = 1500;
/** The validity of a pairing code, in milliseconds (vinikjkkj/zapo `src/protocol/defaults.ts`). */
const codeMs = 180_000;
const usualRepetitions = 3;

interface PairingParts {
  readonly people: People;
  readonly phones: Phones;
  readonly connections: Connections;
  readonly counters: Counters;
  readonly random: Random;
  readonly faults: Faults;
  readonly versions: ClientVersions;
}

export class Pairing {
  readonly #waiting = new Map<Connection, Waiting>();
  /** Emits an event when a client asks for a code. The number is the name of the event. */
  readonly #asked = new EventEmitter();
  readonly #acknowledgements = new EventEmitter();
  readonly #parts: PairingParts;

  constructor(parts: PairingParts) {
    this.#parts = parts;
  }

  /**
   * Handles a registration: sends the references that the QR codes contain. Returns false if a key is malformed or its signature is wrong.
   */
  begin(connection: Connection, payload: proto.ClientPayload): boolean {
    const keys = readRegistration(payload);
    if (!keys || !this.#parts.counters.signature(verify(keys.identity, withType(keys.signedPreKey.value), keys.signedPreKey.signature)))
      return false;
    const refs = Array.from({ length: refCount }, () => `2@${this.#parts.random.bytes(48).toString('base64url')}`);
    const pushName = (payload.pushName ?? '').slice(0, maxPushName);
    const fresh = { version: versionOf(payload), retired: new Set<string>(), unacknowledged: new Set<string>(), busy: false };
    this.#waiting.set(connection, { connection, refs, ...keys, pushName, ...fresh });
    const attrs = { from: platformJid, type: 'set', id: this.#parts.random.id(), xmlns: 'md' };
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

  /** Handles the acknowledgement of a notification. */
  acknowledged(connection: Connection, { attrs }: BinaryNode): void {
    this.#waiting.get(connection)?.unacknowledged.delete(attrs['id'] ?? '');
    this.#acknowledgements.emit('one');
  }

  /** Scans a QR code. `qr` has the form `[address#]ref,noise key,identity key,adv secret[,platform]`, with keys in base64. */
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
    if (waiting.retired.has(secret)) throw new SandboxError(409, 'the QR code is void: the client was told to show another');
    const signal = AbortSignal.timeout(requestMs);
    while (waiting.unacknowledged.size > 0 && !signal.aborted) await once(this.#acknowledgements, 'one', { signal }).catch(() => undefined);
    if (waiting.unacknowledged.size > 0) throw new SandboxError(409, 'the client has not acknowledged a notification of the pairing');
    if (this.#refresh(waiting, request.person.number)) {
      waiting.retired.add(secret);
      throw new SandboxError(409, 'the platform wants another QR code of this client: scan the next one');
    }
    await this.#exclusively(waiting, () => this.#admit(waiting, Buffer.from(secret, 'base64'), request));
  }

  /** Returns the ceremony of a client that waits for its pairing. */
  ceremonyOn(connection: Connection): PasskeyCeremony | undefined {
    return this.#waiting.get(connection)?.ceremony?.passkey;
  }

  /** Returns the newest ceremony that links a device to this account. */
  ceremonyOf(number: Digits): PasskeyCeremony | undefined {
    return [...this.#waiting.values()].findLast(({ ceremony }) => ceremony?.number === number)?.ceremony?.passkey;
  }

  /**
   * Asks the client for a new secret after a scan if the fault `rotateQr` or `registrationRefresh` is armed (WhiskeySockets/Baileys 2737, vinikjkkj/zapo
   * `WaPairingFlow`). Returns true if it asked.
   */
  #refresh(waiting: Waiting, number: Digits): boolean {
    const { faults } = this.#parts;
    const rotates = faults.take('rotateQr', number) !== undefined;
    if (!rotates && !faults.take('registrationRefresh', number)) return false;
    this.#notify(waiting, 'companion_reg_refresh', node(rotates ? 'pair-device-rotate-qr' : 'companion_reg_refresh'));
    return true;
  }

  #notify(waiting: Waiting, type: string, content: BinaryNode | undefined): void {
    const id = this.#parts.random.id();
    waiting.unacknowledged.add(id);
    waiting.connection.send(node('notification', { from: platformJid, type, id, t: unixSeconds(Date.now()) }, content && [content]));
  }

  /**
   * Handles the first step of pairing by code, in which the client names the phone number. Returns the reference of this pairing; undefined if the client does
   * not wait for a pairing.
   */
  hello(connection: Connection, number: Digits, wrapped: Uint8Array): string | undefined {
    const waiting = this.#waiting.get(connection);
    if (!waiting) return undefined;
    const ref = `3@${this.#parts.random.bytes(48).toString('base64url')}`;
    waiting.code = { number, wrapped, ref, askedAt: Date.now() };
    this.#asked.emit(number);
    return ref;
  }

  async enterCode(code: string, request: LinkRequest): Promise<void> {
    const { number } = request.person;
    const waiting = this.#askedFor(number) ?? (await this.#willAsk(number));
    if (!waiting?.code) throw new SandboxError(404, `no client waits for a code from ${number}`);
    const asked = waiting.code;
    if (Date.now() - asked.askedAt > codeMs) throw new SandboxError(410, 'the pairing code is too old: codes live 180 seconds');
    this.#void(waiting, asked);
    await this.#exclusively(waiting, async () => {
      const { faults } = this.#parts;
      if (faults.take('emptyHello', number)) this.#hello(waiting, asked, []);
      const repeated = faults.take('repeatHello', number);
      let secret: Uint8Array = Buffer.alloc(0);
      for (let left = repeated ? (repeated.code ?? usualRepetitions) : 1; left > 0; left -= 1)
        secret = await this.#shareSecret(waiting, asked, code, request.person);
      await this.#admit(waiting, secret, request);
    });
  }

  /** Voids the pairing code and throws if the fault `voidCode` or `voidCodeByHand` is armed (vinikjkkj/zapo 7f7f560, oxidezap/whatsapp-rust 976). */
  #void(waiting: Waiting, { number, ref }: CodeRequest): void {
    const { faults } = this.#parts;
    const byHand = faults.take('voidCodeByHand', number) !== undefined;
    if (!byHand && !faults.take('voidCode', number)) return;
    delete waiting.code;
    const attrs = { stage: 'refresh_code', force_manual_refresh: byHand ? 'true' : undefined };
    const content = [node('link_code_pairing_ref', {}, Buffer.from(ref))];
    this.#notify(waiting, 'link_code_companion_reg', node('link_code_companion_reg', attrs, content));
    throw new SandboxError(410, 'the platform has voided the pairing code: type the next one');
  }

  #hello(waiting: Waiting, { ref }: CodeRequest, keys: BinaryNode[]): void {
    const content = [node('link_code_pairing_ref', {}, Buffer.from(ref)), ...keys];
    this.#notify(waiting, 'link_code_companion_reg', node('link_code_companion_reg', { stage: 'primary_hello' }, content));
  }

  /** Sends a `primary_hello` and returns the secret that both sides derive from its answer. */
  async #shareSecret(waiting: Waiting, asked: CodeRequest, code: string, person: Person): Promise<Uint8Array> {
    const { identity } = this.#parts.phones.keysOf(person);
    const primary = await wrapEphemeral(code.replace('-', ''), asked, this.#parts.random);
    const answer = this.#answerOf(waiting, (one) => {
      const finish = firstChild(one);
      return finish?.attrs['stage'] === 'companion_finish' && text(child(finish, 'link_code_pairing_ref')) === asked.ref;
    });
    this.#hello(waiting, asked, [
      node('link_code_pairing_wrapped_primary_ephemeral_pub', {}, primary.wrapped),
      node('primary_identity_pub', {}, identity.public),
    ]);
    const secret = openBundle(firstChild(await answer), primary.ephemeral, primary.companionEphemeral, identity);
    if (!secret || !Buffer.from(secret.companionIdentity).equals(waiting.identity)) throw new SandboxError(400, 'wrong code');
    return secret.advSecret;
  }

  /** Returns the client that requested a code for this number. If several clients did, returns the client that connected last. */
  #askedFor(number: Digits): Waiting | undefined {
    return [...this.#waiting.values()].findLast((one) => one.code?.number === number);
  }

  /** Waits for the request of a client. The client shows its code before its request arrives, so the owner may type the code too early. */
  async #willAsk(number: Digits): Promise<Waiting | undefined> {
    // A time-out is an ordinary case, in which no client requests a code for this number.
    await once(this.#asked, number, { signal: AbortSignal.timeout(requestMs) }).catch(() => undefined);
    return this.#askedFor(number);
  }

  /** Returns true if `shown` is the identity that phone and device signed at the pairing. */
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
      // The protobuf is malformed.
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

  /** Links the device, or begins the ceremony of an account that has a passkey. */
  async #admit(waiting: Waiting, advSecret: Uint8Array, request: LinkRequest): Promise<void> {
    const { person } = request;
    if (!person.passkey) return this.#link(waiting, advSecret, request);
    const passkey = new PasskeyCeremony({
      passkey: person.passkey,
      advSecret,
      noiseKey: waiting.connection.clientStatic,
      identity: waiting.identity,
      deviceType: waiting.deviceType,
      random: this.#parts.random,
      fault: person.passkeyFault,
      notify: (type, content) => this.#notify(waiting, type, content),
      link: (secret) => {
        this.#parts.people.save(person);
        void this.#exclusively(waiting, () => this.#link(waiting, secret, request)).catch(() => {
          passkey.stage = 'refused';
        });
      },
    });
    waiting.ceremony = { number: person.number, passkey };
    passkey.begin(person.passkeyFault === 'bare');
  }

  /** Links the device: the phone signs the device's identity, the device signs in return, and the device is stored. */
  async #link(waiting: Waiting, advSecret: Uint8Array, { person, history }: LinkRequest): Promise<void> {
    const { connection } = waiting;
    if (!this.#parts.versions.mayLink(waiting.version))
      throw new SandboxError(426, 'the device could not be linked: its client is too old');
    const name = person.name || waiting.pushName;
    const number = this.#parts.people.nextDevice(person);
    const keyIndex = number;
    const { identity } = this.#parts.phones.keysOf(person);
    const rawId = rawIdOf(this.#parts, person);
    const now = Date.now();
    const details = proto.ADVDeviceIdentity.encode({
      rawId,
      timestamp: Math.floor(now / 1000),
      keyIndex,
      accountType: 0,
      deviceType: 0,
    }).finish();
    const signer = this.#parts.faults.take('forgedAccount') ? Curve.generateKeyPair() : identity;
    const accountSignature = sign(signer.private, Buffer.concat([accountPrefix, details, waiting.identity]));
    const signed = proto.ADVSignedDeviceIdentity.encode({ details, accountSignatureKey: identity.public, accountSignature }).finish();
    const secret = this.#parts.faults.take('forgedPairing') ? this.#parts.random.bytes(32) : advSecret;
    const hmac = createHmac('sha256', secret).update(signed).digest();
    const content = [
      node('device-identity', {}, proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish()),
      ...(name === '' ? [] : [node('biz', { name })]),
      node('device', { jid: jidOf(person, 'pn', number), lid: jidOf(person, 'lid', number) }),
      node('platform', { name: person.business ? 'smba' : 'android' }),
    ];
    const id = this.#parts.random.id();
    const attrs = { from: platformJid, type: 'set', id, xmlns: 'md', t: unixSeconds(now) };
    const answer = this.#answerOf(waiting, (one) => one.attrs['id'] === id);
    connection.send(node('iq', attrs, [node('pair-success', {}, content)]));
    const reply = await answer;
    if (reply.attrs['type'] === 'error') throw new SandboxError(409, 'the client refused to be linked to this account');
    const deviceSignature = readDeviceSignature(reply);
    const text = Buffer.concat([devicePrefix, details, waiting.identity, identity.public]);
    if (
      !this.#parts.counters.signature(deviceSignature !== undefined && verify(waiting.identity, text, deviceSignature)) ||
      !deviceSignature
    ) {
      connection.close(1008);
      throw new SandboxError(502, 'the client did not sign its device identity');
    }
    const account = { details, accountSignatureKey: identity.public, accountSignature, deviceSignature };
    const device = { number: person.number, device: number, keyIndex, account, linkedAt: now, history: { ...history, sent: false } };
    if (person.name !== name) {
      person.name = name;
      this.#parts.people.save(person);
    }
    this.#keep(waiting, device);
    connection.finish(streamError(515));
  }

  #keep(
    waiting: Waiting,
    given: Pick<Device, 'number' | 'device' | 'keyIndex' | 'linkedAt' | 'history'> & { readonly account: Account },
  ): void {
    const { connection, identity, registrationId, signedPreKey, pushName } = waiting;
    this.#parts.people.saveDevice({ ...given, noiseKey: connection.clientStatic, identity, registrationId, signedPreKey, pushName });
    this.#parts.counters.pairings += 1;
    const device = this.#parts.people.device(given.number, given.device);
    if (device) announceDevice(this.#parts, device, 'add');
  }

  /** Resolves with the client's next stanza that fits. Rejects on a time-out. */
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
