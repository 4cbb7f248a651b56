/** Calls: signalling only (offer, accept, reject, end), without sound. */
import { proto } from '@whiskeysockets/baileys';
import { jidOf, toldPn } from './address.ts';
import type { CallStep } from './interface.ts';
import { child, firstChild, node, platformJid, unixSeconds, type BinaryNode } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Device, Person } from './people.ts';
import type { Connection } from './wire/connection.ts';

const { CallOutcome } = proto.Message.CallLogMessage;

/** The outcome that the called phone writes into its call log, by the step of the call. Other steps write nothing. */
const outcomes: Partial<Record<CallStep['step'], proto.Message.CallLogMessage.CallOutcome>> = {
  accept: CallOutcome.CONNECTED,
  reject: CallOutcome.REJECTED,
  timeout: CallOutcome.MISSED,
};

/** Sends a step of a call to the devices of the person who is called. */
export function stepCall(parts: Parts, from: Person, to: Person, { step, id = parts.random.messageId(), video = false }: CallStep): string {
  const caller = jidOf(from, 'lid');
  const attrs = { 'call-id': id, 'call-creator': caller, ...(step === 'offer' ? { caller_pn: toldPn(from) } : {}) };
  const reason = step === 'timeout' ? { reason: 'timeout' } : {};
  const tag = step === 'timeout' ? 'terminate' : step;
  const media =
    step === 'offer' ? [node('audio', { enc: 'opus', rate: '16000' }), ...(video ? [node('video', { enc: 'vp8' })] : [])] : undefined;
  const stanza = node('call', { from: caller, id: parts.random.id(), t: unixSeconds(Date.now()) }, [
    node(tag, { ...attrs, ...reason }, media),
  ]);
  for (const device of parts.people.devices(to.number)) parts.connections.deliver(device, stanza);
  parts.calls.add({ id, from: from.number, to: to.number, video }, step, step === 'accept' || step === 'reject' ? to.number : from.number);
  const callOutcome = outcomes[step];
  if (callOutcome !== undefined) remember(parts, from, to, id, { isVideo: video, callOutcome });
  return id;
}

function remember(parts: Parts, from: Person, to: Person, id: string, log: proto.Message.ICallLogMessage): void {
  const chat = jidOf(from, 'pn');
  const content = { callLogMesssage: log };
  const extra = { addressing: 'pn' } as const;
  parts.messages.put({ owner: to.number, id, chat, author: from.number, at: Date.now(), attempts: 0, confirmed: 'none', content, extra });
}

/**
 * Acknowledges a client's call stanza. Passes a rejection on to the caller's devices. The ack of a request for a call link contains its token. Other stanzas
 * are refused with 501.
 */
export function acceptCall(parts: Parts, connection: Connection, device: Device, stanza: BinaryNode): void {
  const { id, to } = stanza.attrs;
  const asked = firstChild(stanza);
  const ack = (error?: string, content?: BinaryNode[]): void =>
    connection.send(node('ack', { class: 'call', id, from: to?.replace(/^@/, '') ?? platformJid, error }, content));
  switch (asked?.tag) {
    case 'reject':
      // A rejection with a privacy token is acknowledged, but the call continues to ring (tulir/whatsmeow 1182).
      return ack(child(asked, 'tctoken') ? undefined : reject(parts, device, asked.attrs['call-id'] ?? ''));
    case 'link_create':
      return ack(undefined, [node('link_create', { token: Buffer.from(`${device.number} ${id}`).toString('base64url') })]);
    default:
      parts.counters.unknown(`call/${asked?.tag ?? ''}`);
      return ack('501');
  }
}

/** Handles a rejection. Returns an error code if the client's account did not receive a call with this id. */
function reject(parts: Parts, device: Device, id: string): string | undefined {
  const call = parts.calls.find(id);
  if (!call || call.to !== device.number) return '404';
  const called = parts.people.ensure(call.to);
  parts.calls.add(call, 'reject', call.to);
  const attrs = { 'call-id': id, 'call-creator': jidOf(parts.people.ensure(call.from), 'lid') };
  const heading = { from: jidOf(called, 'lid'), id: parts.random.id(), t: unixSeconds(Date.now()) };
  // The caller's devices get the rejection. The other devices of the called person stop ringing.
  parts.db.atomically(() => {
    for (const one of parts.people.devices(call.from)) parts.connections.deliver(one, node('call', heading, [node('reject', attrs)]));
    for (const one of parts.people.devices(call.to)) {
      if (one !== device)
        parts.connections.deliver(one, node('call', heading, [node('terminate', { ...attrs, reason: 'rejected_elsewhere' })]));
    }
  });
  remember(parts, parts.people.ensure(call.from), called, id, { isVideo: call.video, callOutcome: CallOutcome.REJECTED });
  return undefined;
}
