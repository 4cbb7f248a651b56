/** One connection on the log of received messages, with the stanzas that the library gets and those that are acknowledged. */
import assert from 'node:assert/strict';
import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Close } from '#actors/ports.ts';
import { ackHeld } from '#src/platform/inbound/held-acks.ts';
import { type InboxLimits, DurableInbox, type StanzaKind } from '#src/platform/inbound/durable-inbox.ts';
import { finishedType, type Page } from '#src/platform/keys/finished-names.ts';
import { InboundLog } from '#src/platform/keys/inbound-log.ts';
import { createKeyWriter } from '#src/platform/keys/key-writer.ts';
import { hashOf, plainType } from '#src/platform/keys/ratchets.ts';
import type { FakeVault } from '#test/fakes/vault.ts';
import { until } from '#test/support/until.ts';
import { quietLog } from './setup.ts';

export const stanza = (id: string, tag: StanzaKind = 'message', attrs: Record<string, string> = {}): BinaryNode => ({
  tag,
  attrs: { id, from: '5511900000001@s.whatsapp.net', t: '1', ...attrs },
  content: [{ tag: 'enc', attrs: { v: '2', type: 'msg' }, content: Buffer.from(`cipher ${id}`) }],
});
export const hashOfStanza = (id: string): string => hashOf(Buffer.from(`cipher ${id}`));

export interface Run {
  readonly log: InboundLog;
  readonly inbox: DurableInbox;
  /** Stanzas that the library received, as `kind id`, and stanzas that were only acknowledged. */
  readonly handed: string[];
  /** Acknowledgements of receipts, notifications and calls that were sent: by the library, or held and sent later. */
  readonly acked: string[];
  readonly nodes: BinaryNode[];
  readonly closes: Close[];
  readonly errors: { readonly fields: object; readonly event: string }[];
  readonly crashes: unknown[];
  connected: boolean;
  /** The handling of a message by the library. */
  handle: (id: string) => Promise<void> | void;
  /** The handling of another stanza by the library, before its acknowledgement. */
  handleOther: (id: string) => Promise<void> | void;
  stored: () => Promise<boolean>;
  keysStored: () => Promise<boolean>;
  acknowledge: (node: BinaryNode) => Promise<void>;
  turn: () => Promise<void>;
  flushed(): Promise<void>;
}

const plain = {
  encode: (_type: string, _id: string, value: unknown) => JSON.stringify(value),
  credentials: () => '{}',
  onLost: () => undefined,
};

/** Starts a process on the vault, with one connection. */
export const start = async (vault: FakeVault, suspicious = true, limits: Partial<InboxLimits> = {}): Promise<Run> => {
  const errors: Run['errors'][number][] = [];
  const log = { ...quietLog, error: (fields: object, event: string) => void errors.push({ fields, event }) };
  const common = { vault, instance: 'r0', epoch: 1, log };
  const writer = createKeyWriter({ ...common, ...plain });
  const inbound = new InboundLog({ ...common, writer, suspicious, now: Date.now, failed: (error) => void run.crashes.push(error) });
  const stored = (type: string) => [...vault.stored.keys].filter(([key]) => key.startsWith(type));
  await inbound.load({
    plaintexts: new Map(stored(plainType).map(([key, text]) => [key.split(' ')[1] ?? '', Buffer.from(text)])),
    finished: stored(finishedType).map(([, text]) => JSON.parse(text) as Page),
  });
  const handler = (kind: StanzaKind) => async (node: BinaryNode) => {
    run.handed.push(`${kind} ${node.attrs['id']}`);
    run.nodes.push(node);
    if (kind === 'message') return run.handle(node.attrs['id'] ?? '');
    await run.handleOther(node.attrs['id'] ?? '');
    try {
      run.acked.push(`${node.tag} ${node.attrs['id']} by the library`);
    } catch (error) {
      assert.equal(error, ackHeld);
    }
  };
  const run: Run = {
    log: inbound,
    handed: [],
    acked: [],
    nodes: [],
    closes: [],
    crashes: [],
    errors,
    connected: true,
    handle: () => undefined,
    handleOther: () => undefined,
    stored: async () => true,
    keysStored: async () => true,
    acknowledge: async ({ tag, attrs }) => void run.acked.push(`${tag} ${attrs['id']}`),
    turn: async () => undefined,
    flushed: () => inbound.settled().then(() => writer.flush()),
    inbox: new DurableInbox({
      inbound,
      turn: () => run.turn(),
      confirm: async (node) => void run.handed.push(`confirmed ${node.attrs['id']}`),
      handlers: { message: handler('message'), receipt: handler('receipt'), notification: handler('notification'), call: handler('call') },
      connected: () => run.connected,
      acknowledge: (node) => run.acknowledge(node),
      stored: () => run.stored(),
      keysStored: () => run.keysStored(),
      failed: (close) => void run.closes.push(close),
      forged: () => undefined,
      crashed: (error) => void run.crashes.push(error),
      handlerFailed: () => undefined,
      limits: { bytes: 40_000, handling: 500, again: [1, 1], files: 3, ...limits },
    }),
  };
  return run;
};

export const happens = (run: Run, count: number) =>
  until(
    () => run.handed.length >= count,
    () => `${count} stanzas are handed over; ${run.handed.join(', ')}`,
  );
