/** Events as phones handle them: answers and changes are encrypted once more, under the secret of the event. */
import { aesDecryptGCM, aesEncryptGCM, hkdf, hmacSign, proto } from '@whiskeysockets/baileys';

/** Jids without device. `creator` made the event, `other` answers or changes it. */
export interface EventContext {
  readonly eventId: string;
  readonly secret: Uint8Array;
  readonly creator: string;
  readonly other: string;
}

export const responses = { going: 1, notGoing: 2, maybe: 3 } as const;

export type Answer = keyof typeof responses;

export function encryptAnswer(
  answer: Answer,
  extraGuests: number,
  { eventId, secret, creator, other }: EventContext,
  iv: Uint8Array,
): Pick<proto.Message.IEncEventResponseMessage, 'encPayload' | 'encIv'> {
  const usage = Buffer.concat([Buffer.from(`${eventId}${creator}${other}Event Response`), Buffer.from([1])]);
  const key = hmacSign(usage, hmacSign(secret, new Uint8Array(32)));
  const plain = proto.Message.EventResponseMessage.encode({
    response: responses[answer],
    timestampMs: Date.now(),
    extraGuestCount: extraGuests,
  }).finish();
  return { encPayload: aesEncryptGCM(plain, key, iv, Buffer.from(`${eventId}\u0000${other}`)), encIv: iv };
}

const none = Buffer.alloc(0);

const editKey = ({ eventId, secret, creator, other }: EventContext): Buffer =>
  Buffer.from(hkdf(Buffer.from(secret), 32, { salt: Buffer.alloc(32), info: `${eventId}${creator}${other}Event Edit` }));

export const encryptEdit = (
  event: proto.Message.IEventMessage,
  context: EventContext,
  iv: Uint8Array,
): proto.Message.ISecretEncryptedMessage => ({
  secretEncType: proto.Message.SecretEncryptedMessage.SecretEncType.EVENT_EDIT,
  encPayload: aesEncryptGCM(proto.Message.encode({ eventMessage: event }).finish(), editKey(context), iv, none),
  encIv: iv,
});

/** The event as it is after the change; undefined when no context opens it. */
export function decryptEdit(
  { encPayload, encIv }: proto.Message.ISecretEncryptedMessage,
  contexts: readonly EventContext[],
): proto.IMessage | undefined {
  if (!encPayload || !encIv) return undefined;
  for (const context of contexts) {
    try {
      return proto.Message.decode(aesDecryptGCM(encPayload, editKey(context), encIv, none));
    } catch {
      // It was made with other jids (number or LID). The next context is tried.
      continue;
    }
  }
  return undefined;
}
