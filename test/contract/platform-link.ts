/** Tests the contract of every implementation of `PlatformLink`: its facts, their order, and the promises of its methods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenOptions, PlatformFact, PlatformLink } from '#actors/ports.ts';

type FactOf<T extends PlatformFact['type']> = Extract<PlatformFact, { readonly type: T }>;

/** A link of an unpaired instance, with control over its phone and its platform. */
export interface LinkStage {
  readonly link: PlatformLink;
  /** Facts of all connections, in order. */
  readonly facts: readonly PlatformFact[];
  open(options?: OpenOptions): void;
  /** Waits for a fact of the newest connection. */
  fact<T extends PlatformFact['type']>(type: T): Promise<FactOf<T>>;
  /** Scans the QR code with the phone, or types the code. */
  scan(qr: string): Promise<void>;
  type(code: string, phone: string): Promise<void>;
  /** Ends the connection from the platform, or unlinks the device on the phone. */
  drop(): Promise<void>;
  unlink(): Promise<void>;
  /** Resolves when all earlier frames of the platform have arrived. */
  arrived(): Promise<void>;
}

/** Returns a phone number that no other test uses. */
let numbers = 5_511_955_550_000;
const nextNumber = (): string => String((numbers += 1));

const typesOf = (stage: LinkStage, from = 0): readonly string[] =>
  stage.facts
    .slice(from)
    .map(({ type }) => type.replace('platform.', ''))
    .filter((type) => type !== 'identity');

const paired = async (stage: LinkStage): Promise<void> => {
  stage.open();
  const { qr } = await stage.fact('platform.qr');
  await stage.scan(qr);
  await stage.fact('platform.closed');
};

const live = async (stage: LinkStage): Promise<void> => {
  await paired(stage);
  stage.open();
  await stage.fact('platform.opened');
};

const pairingCases: Readonly<Record<string, (stage: LinkStage) => Promise<void>>> = {
  async 'a pairing by QR: handshake, QR, paired, and a close with 515; credentials exist from the fact on'(stage) {
    assert.equal(await stage.link.paired(), false);
    stage.open();
    const { qr } = await stage.fact('platform.qr');
    assert.equal(await stage.link.paired(), false);
    await stage.scan(qr);
    const { identity } = await stage.fact('platform.paired');
    assert.equal(await stage.link.paired(), true);
    const { close } = await stage.fact('platform.closed');
    assert.deepEqual([typesOf(stage), close.code], [['handshaken', 'qr', 'paired', 'closed'], 515]);
    for (const field of ['jid', 'lid', 'owner'] as const) assert.notEqual(identity[field], '', field);
  },

  async 'a pairing by code: no QR, eight characters'(stage) {
    const phone = nextNumber();
    stage.open({ phone });
    const { code } = await stage.fact('platform.code');
    assert.match(code, /^[0-9A-Z]{8}$/);
    await stage.type(code, phone);
    await stage.fact('platform.closed');
    assert.deepEqual(typesOf(stage), ['handshaken', 'code', 'paired', 'closed']);
  },

  async 'a code in place of a QR: on the same connection, and no QR after it'(stage) {
    stage.open();
    await stage.fact('platform.qr');
    const from = stage.facts.length;
    const phone = nextNumber();
    stage.link.pair(phone);
    const { code } = await stage.fact('platform.code');
    await stage.type(code, phone);
    await stage.fact('platform.closed');
    assert.deepEqual(typesOf(stage, from), ['code', 'paired', 'closed']);
  },

  async 'a code that is asked for when the link is closed, or the session live: nothing'(stage) {
    stage.link.pair(nextNumber());
    await live(stage);
    stage.link.pair(nextNumber());
    await stage.arrived();
    assert.deepEqual(typesOf(stage), ['handshaken', 'qr', 'paired', 'closed', 'handshaken', 'opened']);
  },
};

const connectionCases: Readonly<Record<string, (stage: LinkStage) => Promise<void>>> = {
  async 'a login with credentials: handshake, opened with the account'(stage) {
    await paired(stage);
    const from = stage.facts.length;
    stage.open();
    const { identity } = await stage.fact('platform.opened');
    assert.deepEqual(typesOf(stage, from), ['handshaken', 'opened']);
    assert.equal(identity.jid.startsWith(identity.owner), true);
  },

  async 'a connection that the platform ends: one close, the last fact, and it can be opened again'(stage) {
    await live(stage);
    const from = stage.facts.length;
    await stage.drop();
    await stage.fact('platform.closed');
    await stage.arrived();
    assert.deepEqual(typesOf(stage, from), ['closed']);
    stage.open();
    await stage.fact('platform.opened');
  },

  async 'a device that the phone unlinks: a close with 401, and the credentials stay'(stage) {
    await live(stage);
    await stage.unlink();
    assert.equal((await stage.fact('platform.closed')).close.code, 401);
    assert.equal(await stage.link.paired(), true);
  },

  async 'a close: idempotent, nothing is emitted after the call, and it can be opened again'(stage) {
    await live(stage);
    const from = stage.facts.length;
    await Promise.all([stage.link.close(), stage.link.close()]);
    await stage.link.close();
    await stage.arrived();
    assert.deepEqual(typesOf(stage, from), []);
    stage.open();
    await stage.fact('platform.opened');
  },

  async 'a close before anything was opened, and in the middle of an opening'(stage) {
    await stage.link.close();
    stage.open();
    await stage.link.close();
    await stage.arrived();
    assert.deepEqual(typesOf(stage), []);
    stage.open();
    await stage.fact('platform.qr');
  },

  async 'a request on a link that is not live: nothing is sent'(stage) {
    const presence = { name: 'account.presence', input: { presence: 'available' } } as const;
    const ask = async () => {
      const outcome = await stage.link.perform(presence, { signal: new AbortController().signal, deadline: Date.now() + 60_000 });
      return outcome.ok ? 'done' : outcome.refusal.reason;
    };
    assert.equal(await ask(), 'notSent');
    await live(stage);
    assert.equal(await ask(), 'done');
    await stage.link.close();
    assert.equal(await ask(), 'notSent');
  },

  async 'the time of the last frame: 0 before the first one'(stage) {
    assert.equal(stage.link.lastFrameAt(), 0);
    stage.open();
    await stage.fact('platform.handshaken');
    const heard = stage.link.lastFrameAt();
    assert.ok(heard > 0);
    await stage.link.close();
    assert.ok(stage.link.lastFrameAt() >= heard, 'it stays known');
  },
};

const logoutCases: Readonly<Record<string, (stage: LinkStage) => Promise<void>>> = {
  async 'a logout: the platform is told, nothing is emitted after the call, the credentials stay until they are discarded'(stage) {
    await live(stage);
    const from = stage.facts.length;
    assert.equal(await stage.link.logout(), true);
    await stage.arrived();
    assert.deepEqual([typesOf(stage, from), await stage.link.paired()], [[], true]);
    await stage.link.discard('delete', 'asked for');
    assert.equal(await stage.link.paired(), false);
    stage.open();
    await stage.fact('platform.qr');
  },

  async 'a logout without a live connection: the platform is not told'(stage) {
    assert.equal(await stage.link.logout(), false);
    stage.open();
    assert.equal(await stage.link.logout(), false);
    await paired(stage);
    assert.equal(await stage.link.logout(), false);
    assert.equal(await stage.link.paired(), true);
  },

  async 'credentials that are set aside: not used again by themselves'(stage) {
    await live(stage);
    await stage.link.close();
    await stage.link.discard('setAside', '401: logged out');
    assert.equal(await stage.link.paired(), false);
    stage.open();
    await stage.fact('platform.qr');
  },
};

/** Runs the suite. `stage` creates a new stage for each test. */
export const platformLinkSuite = (name: string, stage: () => LinkStage): void => {
  for (const [title, run] of Object.entries({ ...pairingCases, ...connectionCases, ...logoutCases }))
    test(`platform link, ${name}: ${title}`, () => run(stage()));
};
