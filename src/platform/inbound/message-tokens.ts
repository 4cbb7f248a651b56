/** Privacy tokens that come with the messages of contacts. The library stores those of notifications alone (WhiskeySockets/Baileys 2752). */
import { areJidsSameUser, getBinaryNodeChild, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import { bare, isLid, isPerson } from '../wire/jid.ts';
import { type ContactToken, keepToken } from '../keys/contact-tokens.ts';
import type { Handlers } from './inbound-gate.ts';

type Sock = Pick<WASocket, 'authState' | 'signalRepository'>;

/** The token in a message of a chat with one person; null when there is none. */
const tokenIn = (node: BinaryNode): ContactToken | null => {
  const given = getBinaryNodeChild(node, 'tctoken');
  const { content } = given ?? {};
  if (given === undefined || content === undefined || Array.isArray(content) || content.length === 0) return null;
  return { token: Buffer.from(content as Uint8Array), at: Number(given.attrs['t'] ?? node.attrs['t']) || 0 };
};

/** The LID of the contact that wrote a message; '' for groups, for own messages, and when it is not known. */
const writerOf = async ({ attrs }: BinaryNode, { authState, signalRepository }: Sock): Promise<string> => {
  const { me } = authState.creds;
  const from = bare(attrs['from']);
  if (areJidsSameUser(from, me?.id) || areJidsSameUser(from, me?.lid)) return '';
  if (isLid(from)) return from;
  if (!isPerson(from)) return '';
  return bare(attrs['sender_lid'] ?? (await signalRepository.lidMapping.getLIDForPN(from)));
};

/** The token is stored before the message is handed on, so that the first answer has it. A failure to store it holds nothing up. */
export const withMessageTokens = (handlers: Handlers, sock: Sock): Handlers => {
  const keep = async (node: BinaryNode, token: ContactToken): Promise<void> => {
    const lid = await writerOf(node, sock);
    if (lid !== '') await keepToken(sock.authState.keys, lid, token);
  };
  return {
    ...handlers,
    message(node) {
      const token = tokenIn(node);
      if (token === null) return handlers.message(node);
      return keep(node, token)
        .catch(() => undefined)
        .then(() => handlers.message(node));
    },
  };
};
