/** The view of a phone on a chat. Later messages change earlier messages, by the rules of real apps. */
import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { isGroupJid, jidOf } from '../address.ts';
import { viewSettings } from '../app-state/view.ts';
import { secretOf, textOf } from '../content.ts';
import type { Digits, ShownMessage } from '../interface.ts';
import { type Group, rankOf } from '../groups.ts';
import type { Parts } from '../parts.ts';
import type { People, Person } from '../people.ts';
import { openEdit } from './polls-and-events.ts';
import type { Stored } from '../store/messages.ts';

/** The age of a message after which a phone ignores its edits. In milliseconds. */
const editWindow = 20 * 60_000;

interface Kept {
  readonly stored: Stored;
  readonly author: string;
  shown: ShownMessage;
}

/** A message that changes another message. */
interface Change {
  readonly target: Kept;
  readonly by: string;
  readonly stored: Stored;
  readonly content: proto.IMessage;
  readonly group: Group | undefined;
}

type Rule = (change: Change) => Partial<ShownMessage> | null;

const { Type } = proto.Message.ProtocolMessage;

const react: Rule = ({ target: { shown }, by, stored, content }) => {
  const { [by]: _before, ...others } = shown.reactions;
  const emoji = content.reactionMessage?.text ?? '';
  if (emoji !== '') return { reactions: { ...others, [by]: emoji } };
  // Without `edit="7"`, real phones ignore the removal of a reaction.
  return stored.extra.edit === '7' ? { reactions: others } : null;
};

const edit: Rule = ({ target, by, stored, content }) => {
  const inTime = stored.at - target.stored.at <= editWindow;
  const isEdit = stored.extra.edit === '1' && target.author === by && inTime && !target.shown.deleted;
  return isEdit ? { text: textOf(content), edited: true } : null;
};

const remove: Rule = ({ target, by, stored, group }) => {
  const isOwn = stored.extra.edit === '7' && target.author === by;
  const isAdmin = stored.extra.edit === '8' && group !== undefined && Boolean(rankOf(group, by));
  return isOwn || isAdmin ? { deleted: true, text: '', reactions: {}, pinnedUntil: 0 } : null;
};

const pin: Rule = ({ stored, content }) => {
  if (stored.extra.edit !== '2') return null;
  const seconds = content.messageContextInfo?.messageAddOnDurationInSecs ?? 0;
  const isPinned = content.pinInChatMessage?.type === proto.Message.PinInChatMessage.Type.PIN_FOR_ALL && seconds > 0;
  return { pinnedUntil: isPinned ? stored.at + seconds * 1000 : 0 };
};

const keep: Rule = ({ content }) => ({ kept: content.keepInChatMessage?.keepType === proto.KeepType.KEEP_FOR_ALL });

/** Returns the target of a message and its effect on the target. Returns null for a message that changes no other message. */
const aimOf = (content: proto.IMessage): { readonly key: proto.IMessageKey | null | undefined; readonly rule: Rule } | null => {
  const { reactionMessage, protocolMessage, pinInChatMessage, keepInChatMessage } = content;
  if (reactionMessage) return { key: reactionMessage.key, rule: react };
  if (protocolMessage?.type === Type.REVOKE) return { key: protocolMessage.key, rule: remove };
  if (protocolMessage?.type === Type.MESSAGE_EDIT) return { key: protocolMessage.key, rule: edit };
  if (pinInChatMessage) return { key: pinInChatMessage.key, rule: pin };
  return keepInChatMessage ? { key: keepInChatMessage.key, rule: keep } : null;
};

/** Returns the messages that the phone shows. `all` has the messages of the chat, oldest first. */
export const shownIn = (all: readonly Stored[], owner: Person, people: People, group: Group | undefined): ShownMessage[] => {
  const kept = new Map<string, Kept>();

  /** Decrypts an edit that was encrypted under the secret of its target. Returns all other content unchanged. */
  const opened = (content: proto.IMessage, by: string): proto.IMessage => {
    const sealed = content.secretEncryptedMessage;
    const target = kept.get(sealed?.targetMessageKey?.id ?? '');
    const secret = secretOf(target?.stored.content);
    if (!sealed || !target || !secret) return content;
    const [author, editor] = [people.ensure(target.author), people.ensure(by)];
    const contexts = (['pn', 'lid'] as const).flatMap((one) =>
      (['pn', 'lid'] as const).map((other) => {
        return { messageId: target.stored.id, secret, author: jidOf(author, one), editor: jidOf(editor, other) };
      }),
    );
    return openEdit(sealed, contexts) ?? content;
  };

  for (const stored of all) {
    const by = stored.author === '' ? owner.number : stored.author;
    const content = opened(normalizeMessageContent(stored.content) ?? {}, by);
    const aim = aimOf(content);
    const target = aim && kept.get(aim.key?.id ?? '');
    if (aim && target) Object.assign(target, { shown: { ...target.shown, ...aim.rule({ target, by, stored, content, group }) } });
    if (aim || content.protocolMessage || content.secretEncryptedMessage) continue;
    const plain = {
      edited: false,
      deleted: false,
      reactions: {},
      pinnedUntil: 0,
      kept: false,
      read: ['read', 'played'].includes(stored.confirmed),
    };
    kept.set(stored.id, { stored, author: by, shown: { id: stored.id, from: by, text: textOf(content), ...plain } });
  }
  return [...kept.values()].map(({ shown }) => shown);
};

// Messages that the owner removed from the phone: by clearing or deleting the chat, or one by one.

const actions: readonly (string | undefined)[] = ['clearChat', 'deleteChat', 'deleteMessageForMe', 'star'];

/** Returns a function that returns true for the messages that the owner of the account removed. */
export function erasedOf(
  { appState, people, messages }: Pick<Parts, 'appState' | 'people' | 'messages'>,
  owner: Digits,
): (message: Stored) => boolean {
  const records = appState.records(owner).filter(({ action }) => actions.includes(action.index[0]));
  if (records.length === 0) return () => false;
  const view = viewSettings(owner, records, {}, { people, messages });
  const chats = new Map(view.chats.map((one) => [one.chat, one]));
  const single = new Set(view.messages.flatMap(({ id, deletedForMe }) => (deletedForMe ? [id] : [])));
  const stars = new Set(view.messages.flatMap(({ id, starred }) => (starred ? [id] : [])));
  return ({ id, chat, at }) => {
    const name = isGroupJid(chat) ? chat : (people.resolve(chat)?.person.number ?? '');
    const { clearedUntil = 0, deletedUntil = 0, keptStarred = false } = chats.get(name) ?? {};
    return single.has(id) || at <= deletedUntil || (at <= clearedUntil && !(keptStarred && stars.has(id)));
  };
}
