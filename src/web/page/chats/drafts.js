/** Stores and sends drafts, which are the unsent texts and files of chats. */
import { useEffect, useState } from 'preact/hooks';
import { dataUrlOf, newKey, post } from '../core/api.js';

/** @import { Chat, Item, Message } from './types.ts' */

/** @typedef {{ text: string, file: File | null, key: string }} Draft `key`: the idempotency key, so that repeated presses send the draft only once. */

/** Drafts of chats, by session and chat. Drafts are lost when the page is closed. @type {Map<string, Draft>} */
const drafts = new Map();

/** The origin of messages that a person writes in the dashboard. The chatbot pauses after such a message (`actors/chatbot/chatbot.ts`). */
const trackSource = 'dormouse-dashboard';

/** @param {File} file */
const mediaTypeOf = ({ type }) => /^(image|video|audio)\/(?!svg)/.exec(type)?.[1] ?? 'document';

/**
 * Sends a draft. Returns the message.
 * @param {string} instance
 * @param {Chat} chat
 * @param {Draft} draft
 * @param {Item | null} answered
 * @returns {Promise<Message>}
 */
export const send = async (instance, { wa_chatid: number }, { text, file, key }, answered) => {
  const options = { instance, headers: { 'idempotency-key': key } };
  const common = {
    number,
    readchat: true,
    track_source: trackSource,
    ...(answered === null ? {} : { replyid: answered.message.messageid }),
  };
  if (file === null) return post('/send/text', { ...common, text }, options);
  const type = mediaTypeOf(file);
  const named = type === 'document' ? { docName: file.name, mimetype: file.type } : {};
  return post('/send/media', { ...common, type, file: await dataUrlOf(file), ...(text === '' ? {} : { text }), ...named }, options);
};

/**
 * Returns the draft of one chat. The draft is kept when the reader leaves the chat. Every change gives the draft a new idempotency key.
 * @param {string} place The session and the chat.
 */
export const useDraft = (place) => {
  const [draft, setDraft] = useState(() => drafts.get(place) ?? { text: '', file: null, key: newKey() });
  useEffect(() => {
    if (draft.text === '' && draft.file === null) drafts.delete(place);
    else drafts.set(place, draft);
  }, [draft]);
  /** @param {Partial<Draft>} change */
  const change = (change) => setDraft((now) => ({ ...now, ...change, key: newKey() }));
  /** Clears the draft after it was sent. The reader may have left the chat meanwhile, so the kept draft is deleted too. */
  const sent = () => {
    drafts.delete(place);
    change({ text: '', file: null });
  };
  return { draft, change, sent };
};
