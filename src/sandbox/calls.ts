/** Calls: signalling only (offer, accept, reject, end), without sound. */
import { proto } from '@whiskeysockets/baileys';
import { jidOf } from './address.ts';
import type { CallStep } from './face.ts';
import { node, unixSeconds } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Person } from './people.ts';

const { CallOutcome } = proto.Message.CallLogMessage;

/** The outcome that the phone which was called writes into its call log after each step. */
const outcomes: Partial<Record<CallStep['step'], proto.Message.CallLogMessage.CallOutcome>> = {
  accept: CallOutcome.CONNECTED,
  reject: CallOutcome.REJECTED,
  timeout: CallOutcome.MISSED,
};

/** Sends a step of a call to the devices of the person who is called. */
export function stepCall(parts: Parts, from: Person, to: Person, { step, id = parts.random.messageId(), video = false }: CallStep): string {
  const caller = jidOf(from, 'lid');
  const attrs = { 'call-id': id, 'call-creator': caller, ...(step === 'offer' ? { caller_pn: jidOf(from, 'pn') } : {}) };
  const reason = step === 'timeout' ? { reason: 'timeout' } : {};
  const tag = step === 'timeout' ? 'terminate' : step;
  const media =
    step === 'offer' ? [node('audio', { enc: 'opus', rate: '16000' }), ...(video ? [node('video', { enc: 'vp8' })] : [])] : undefined;
  const stanza = node('call', { from: caller, id: parts.random.id(), t: unixSeconds(Date.now()) }, [
    node(tag, { ...attrs, ...reason }, media),
  ]);
  for (const device of parts.people.devices(to.number)) parts.links.deliver(device, stanza);
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
