/** Makes the shown messages from the stored messages. Reactions and edits are stored as messages, and are shown in the message that they name. Pure. */

/** @import { Item, Message, Reaction } from './types.ts' */

/** Kinds of messages that are only for programs. */
const silent = /^(?:PinInChat|KeepInChat|Protocol|EncReaction|EncComment|SenderKeyDistribution|UnknownMessageType)/;

/** @param {Message} message */
const isReaction = ({ messageType, reaction }) => reaction !== '' || messageType === 'ReactionMessage';

/** @param {Message} message */
const authorOf = ({ fromMe, sender_pn: number, sender }) => (fromMe ? '' : number || sender);

/**
 * Returns the last edit of each message by the id of the message, and the ids of all edits. In an edit, `edited` is the id of an older message. In an
 * edited message, `edited` is the id of a newer edit. An id that is not loaded belongs to an older message, because the newest messages are loaded first.
 * @param {readonly Message[]} rows Oldest first.
 */
const editsOf = (rows) => {
  const places = new Map(rows.map(({ messageid }, at) => [messageid, at]));
  /** @type {Map<string, Message>} */
  const edits = new Map();
  /** @type {Set<string>} */
  const ids = new Set();
  for (const [at, row] of rows.entries()) {
    if (row.edited === '' || row.edited === row.messageid || (places.get(row.edited) ?? -1) > at) continue;
    ids.add(row.messageid);
    edits.set(row.edited, row);
  }
  return { edits, ids };
};

/**
 * Returns the last reaction of each author, by the id of the message that has the reaction. An empty text removes a reaction.
 * @param {readonly Message[]} rows Oldest first.
 */
const reactionsOf = (rows) => {
  /** @type {Map<string, Map<string, string>>} */
  const all = new Map();
  for (const row of rows) {
    if (!isReaction(row) || row.status === 'Failed') continue;
    const given = all.get(row.reaction) ?? new Map();
    if (row.text === '') given.delete(authorOf(row));
    else given.set(authorOf(row), row.text);
    all.set(row.reaction, given);
  }
  return all;
};

/** @param {ReadonlyMap<string, string>} given @returns {readonly Reaction[]} */
const counted = (given) => {
  /** @type {Map<string, Reaction>} */
  const counts = new Map();
  for (const [author, emoji] of given) {
    const { count, isOwn } = counts.get(emoji) ?? { count: 0, isOwn: false };
    counts.set(emoji, { emoji, count: count + 1, isOwn: isOwn || author === '' });
  }
  return [...counts.values()];
};

/**
 * @param {readonly Message[]} rows Oldest first.
 * @returns {readonly Item[]}
 */
export const itemsOf = (rows) => {
  const { edits, ids } = editsOf(rows);
  const reactions = reactionsOf(rows);
  /** @type {Item[]} */
  const items = [];
  for (const message of rows) {
    const isSilent = silent.test(message.messageType) && message.text === '';
    if (isReaction(message) || ids.has(message.messageid) || isSilent) continue;
    const edit = edits.get(message.messageid);
    const given = reactions.get(message.messageid);
    items.push({
      message,
      text: edit?.text || message.text,
      isEdited: edit !== undefined || message.edited !== '',
      reactions: given === undefined ? [] : counted(given),
    });
  }
  return items;
};
