/**
 * Stanzas of channels, taken from the library: it reads neither the number of a post nor whether it is new, changed or deleted, and of notifications it
 * knows forms that the platform does not send.
 */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { isChannel } from '../wire/jid.ts';
import type { BaileysEvent } from '../events/baileys-event.ts';
import type { Handlers } from './inbound-gate.ts';

export interface Readers {
  readonly tell: (event: BaileysEvent) => void;
  /** Called with the id of a message that the library does not get, when its content is known. */
  readonly read: (messageId: string) => void;
}

const isOfChannel = ({ attrs }: BinaryNode): boolean => isChannel(attrs['from'] ?? '');

/** Handles the stanzas of channels, and passes all others on. */
export const withChannelPosts = (handlers: Handlers, sock: Pick<WASocket, 'sendMessageAck'>, { tell, read }: Readers): Handlers => {
  // The tag of a notification is read once, to make its acknowledgement.
  const take = (tag: string, node: BinaryNode): Promise<void> => {
    const { attrs, content } = node;
    tell({ name: 'channel.stanza', data: { tag, attrs, ...(content === undefined ? {} : { content }) } });
    return sock.sendMessageAck(node);
  };
  return {
    ...handlers,
    message(node) {
      if (!isOfChannel(node)) return handlers.message(node);
      read(node.attrs['id'] ?? '');
      return take('message', node);
    },
    notification(node) {
      return node.attrs['type'] === 'newsletter' && isOfChannel(node) ? take('notification', node) : handlers.notification(node);
    },
  };
};
