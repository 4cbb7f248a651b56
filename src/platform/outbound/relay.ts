/** Sends messages to chats: writes them in the order of the calls, and waits for the platform's acknowledgement. */
import type { proto } from '@whiskeysockets/baileys';
import { type Audience, refuse, type Refusal } from '#actors/model.ts';
import { closeOf, noMember, notSent, outcomeOfError, refused } from '../wire/outcomes.ts';
import type { LiveConnection } from './live-connection.ts';
import { type Directory, isGroup, isLid, isPerson } from '../wire/jid.ts';
import { readersOf } from './audience.ts';
import { givenForm, stanzaOf } from './stanza.ts';
import { addressRefused, refusalText, type Transmission } from './transmissions.ts';

export interface Outgoing {
  readonly jid: string;
  readonly messageId: string;
  readonly content: proto.IMessage;
  /** True if the message can be read from the storage. */
  readonly stored?: boolean;
  /** The audience of a status post; absent for other messages. */
  readonly audience?: Audience | null | undefined;
}

const noDevice = 'the recipient cannot be reached: the platform knows no device';
const forgedKeys = 'the keys of the recipient are not signed by it';

/** Returns the outcome for an error of the library before or during the write of the frame. */
const failure = (error: unknown, jid: string, { sock, hasForgedKeys }: LiveConnection): Transmission => {
  const outcome = outcomeOfError(error, sock.ws.isOpen) ?? refused(null, closeOf(error).message);
  const { connectionLost, code = null, message } = outcome.refusal;
  if (connectionLost) return notSent;
  if (code === 404) return refused(404, refusalText(404));
  // The library queries the group if its members are unknown. This code is then the refusal of that query.
  if (isGroup(jid) && (code === 401 || code === 403)) return noMember;
  if (message !== 'All encryptions failed') return outcome;
  return hasForgedKeys(jid) ? refused(null, forgedKeys) : refused(code, noDevice);
};

/** Returns the address for a message. A person's LID is used if known, because migrated accounts receive messages only by LID. */
const addressOf = ({ me, lid }: Directory, jid: string): string => (isPerson(jid) && jid !== me.pn ? lid(jid) || jid : jid);

/** Returns the attribute with the number of a person that is addressed by LID. It is absent for an unknown number, such as that of a person with a username. */
const namedNumber = ({ pn, me }: Directory, jid: string): Readonly<Record<string, string>> => {
  const number = isLid(jid) && jid !== me.lid ? pn(jid) : '';
  return number === '' ? {} : { peer_recipient_pn: number };
};

/** Adds the limits of the account to the refusal of a message to a stranger. */
const explained = async ({ standing }: LiveConnection, refusal: Refusal, code: number): Promise<Transmission> => {
  const limits = await standing.reasonOf(code);
  const isFree = code === 463 && limits.timeLock?.ok === true && !limits.timeLock.value.active;
  return refuse(refusal.reason, isFree ? addressRefused : refusal.message, { ...refusal, limits });
};

/** Sends a message and waits for its acknowledgement. The library writes messages one by one, in the order of the calls. Never rejects. */
export const relay = (
  connection: LiveConnection,
  { jid: chatId, messageId, content, audience = null, stored = false }: Outgoing,
): Promise<Transmission> => {
  const { transmissions, sock } = connection;
  if (transmissions.closed) return Promise.resolve(notSent);
  const jid = addressOf(connection.directory, chatId);
  connection.leaving({ jid, messageId, content: stored ? null : content });
  const answer = transmissions.wait(messageId).then((outcome) => {
    const code = outcome.ok ? undefined : outcome.refusal.code;
    return !outcome.ok && (code === 463 || code === 475) ? explained(connection, outcome.refusal, code) : outcome;
  });
  const { attributes, nodes } = stanzaOf(content, audience);
  const options = {
    messageId,
    additionalAttributes: { ...attributes, ...namedNumber(connection.directory, jid) },
    additionalNodes: [...nodes],
    ...(audience === null ? {} : { statusJidList: readersOf(audience, connection.directory) }),
  };
  sock.relayMessage(jid, givenForm(content), options).then(
    () => {
      transmissions.written(messageId);
      // The gateway notes the issued privacy token itself. The library's own note goes into a transaction that has ended, and is lost. Without a note, the
      // library would issue a token again after each text.
      if (isPerson(jid) || isLid(jid)) connection.tokenIssued(jid);
    },
    (error: unknown) => transmissions.failed(messageId, failure(error, jid, connection)),
  );
  return answer;
};
