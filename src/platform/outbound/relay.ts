/** The one way in which a message of any kind leaves: written in the order of the calls, answered by the platform's ack. */
import type { proto } from '@whiskeysockets/baileys';
import { closeOf } from '../connection/close-cause.ts';
import type { LiveConnection } from '../connection/live-connection.ts';
import { isLid, isPerson } from '../jid.ts';
import { lateAnswer, notSent, refused } from '../outcomes.ts';
import { refusalText, type Transmission } from './transmissions.ts';

export interface Outgoing {
  readonly jid: string;
  readonly messageId: string;
  readonly content: proto.IMessage;
  /** Attributes of the stanza, such as `edit`. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** The library failed before the frame was written, or on writing it. */
const failure = (error: unknown, live: boolean): Transmission => {
  const { code, message } = closeOf(error);
  if (!live || code === 428) return notSent;
  // The library asked for keys or devices and had no answer: the message itself was not written, but that is not worth a case of its own.
  if (code === 408) return lateAnswer;
  const told = typeof error === 'object' && error !== null && 'data' in error && typeof error.data === 'number' ? error.data : code;
  const sentence = message === 'All encryptions failed' ? 'the recipient cannot be reached: the platform knows no device' : message;
  return refused(told, told === 404 ? refusalText(404) : sentence);
};

/** Order is kept by the library: it hands messages over one by one, in the order of the calls. Never rejects. */
export const relay = (connection: LiveConnection, { jid, messageId, content, attributes = {} }: Outgoing): Promise<Transmission> => {
  const { transmissions, sock } = connection;
  if (transmissions.closed) return Promise.resolve(notSent);
  const answer = transmissions.wait(messageId);
  sock.relayMessage(jid, content, { messageId, additionalAttributes: { ...attributes } }).then(
    () => {
      transmissions.written(messageId);
      // The library notes it too, in a transaction that is over by then: without us each text would be followed by another request.
      if (isPerson(jid) || isLid(jid)) connection.tokenIssued(jid);
    },
    (error: unknown) => transmissions.failed(messageId, failure(error, sock.ws.isOpen)),
  );
  return answer;
};
