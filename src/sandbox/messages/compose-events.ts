/** Events that simulated people make, change and answer. */
import type { proto } from '@whiskeysockets/baileys';
import { secretOf } from '../content.ts';
import { encryptAnswer, encryptEdit, type EventContext } from '../events.ts';
import { SandboxError, type Content } from '../face.ts';
import type { Random } from '../random.ts';
import type { Stored } from '../store/messages.ts';

type Of<K extends Content['kind']> = Extract<Content, { readonly kind: K }>;

/** A message with an event, as its reader names it. */
interface Known {
  readonly stored: Stored;
  readonly key: proto.IMessageKey;
  readonly creator: string;
  readonly me: string;
}

export const composeEvent = ({ kind: _kind, ...event }: Of<'event'>, random: Random): proto.IMessage => ({
  eventMessage: { isCanceled: false, ...event },
  messageContextInfo: { messageSecret: random.bytes(32) },
});

const contextOf = ({ stored, creator, me }: Known): EventContext => {
  const secret = secretOf(stored.content);
  if (!stored.content?.eventMessage || !secret) throw new SandboxError(400, `not an event: ${stored.id}`);
  return { eventId: stored.id, secret, creator, other: me };
};

export const composeAnswer = (known: Known, { answer, extraGuests = 0 }: Of<'eventAnswer'>, random: Random): proto.IMessage => ({
  encEventResponseMessage: {
    eventCreationMessageKey: known.key,
    ...encryptAnswer(answer, extraGuests, contextOf(known), random.bytes(12)),
  },
});

export function composeEventEdit(known: Known, { name, isCanceled }: Of<'eventEdit'>, random: Random): proto.IMessage {
  if (known.stored.author !== '') throw new SandboxError(400, 'only an own event can be changed');
  const context = contextOf(known);
  const changed = {
    ...known.stored.content?.eventMessage,
    ...(name === undefined ? {} : { name }),
    ...(isCanceled === undefined ? {} : { isCanceled }),
  };
  return { secretEncryptedMessage: { targetMessageKey: known.key, ...encryptEdit(changed, context, random.bytes(12)) } };
}
