/** The records that a phone writes when its owner changes a chat. */
import { createHash } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys';
import type { ChatChange, ChatEnd } from '#actors/model.ts';
import { isGroup } from '../wire/jid.ts';
import { type Mutation, setAction } from './actions.ts';

type Kind = ChatChange['kind'];
type Of<K extends Kind> = Extract<ChatChange, { readonly kind: K }>;

/** `jid`: of the chat, as phones index it. `now`: Unix milliseconds. */
interface About {
  readonly jid: string;
  readonly last: ChatEnd | null;
  readonly now: number;
}

/** Up to which message a change reaches; a phone ignores one without it. */
const rangeOf = ({ jid, last, now }: About): proto.SyncActionValue.ISyncActionMessageRange => {
  if (last === null) return { lastMessageTimestamp: Math.floor(now / 1000) };
  const participant = isGroup(jid) && !last.fromMe ? { participant: last.sender } : {};
  const key = { remoteJid: jid, id: last.messageId, fromMe: last.fromMe, ...participant };
  const timestamp = Math.floor(last.at / 1000);
  return { lastMessageTimestamp: timestamp, messages: [{ key, timestamp }] };
};

/** A chat has one note, under this id. */
const noteId = (jid: string): string => createHash('sha256').update(jid).digest('base64');

const pin = ({ jid }: About, pinned: boolean): Mutation => setAction('pin_v1', [jid], { pinAction: { pinned } });

const archive = (about: About, archived: boolean): Mutation =>
  setAction('archive', [about.jid], { archiveChatAction: { archived, messageRange: rangeOf(about) } });

type Mutations = readonly [Mutation, ...Mutation[]];

const writers: { readonly [K in Kind]: (change: Of<K>, about: About) => Mutations } = {
  read: ({ on }, about) => [setAction('markChatAsRead', [about.jid], { markChatAsReadAction: { read: on, messageRange: rangeOf(about) } })],
  archive: ({ on }, about) => [archive(about, on), ...(on ? [pin(about, false)] : [])],
  pin: ({ on }, about) => [pin(about, on), ...(on ? [archive(about, false)] : [])],
  mute: ({ until }, { jid }) => [
    setAction('mute', [jid], { muteAction: until === 0 ? { muted: false } : { muted: true, muteEndTimestamp: until } }),
  ],
  // Starred messages go too, files stay on the phone.
  clear: (_change, about) => [setAction('clearChat', [about.jid, '1', '0'], { clearChatAction: { messageRange: rangeOf(about) } })],
  delete: (_change, about) => [setAction('deleteChat', [about.jid, '1'], { deleteChatAction: { messageRange: rangeOf(about) } })],
  note: ({ text }, { jid, now }) => [
    setAction('note_edit', [noteId(jid)], {
      noteEditAction: {
        type: proto.SyncActionValue.NoteEditAction.NoteType.UNSTRUCTURED,
        chatJid: jid,
        createdAt: now,
        unstructuredContent: text,
        deleted: text === '',
      },
    }),
  ],
};

export const mutationsOf = (change: ChatChange, about: About): Mutations =>
  (writers[change.kind] as (change: ChatChange, about: About) => Mutations)(change, about);
