/** The part of a conversation that has HTML elements. The part moves when the reader scrolls to one of its ends. Older messages are loaded at the upper end. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { t } from '../texts.js';
import { toast } from '../ui/asking.js';
import { useScrollPosition } from './scroll-position.js';

/** @import { Conversation } from './conversation.js' */
/** @import { Item } from './types.ts' */

/** The largest number of messages that have HTML elements. */
const most = 150;
/** The number of messages by which the part moves. */
const step = 50;
/** The distance from an end at which the part moves. In pixels. */
const near = 300;

/**
 * Returns the range of the part. `lastId`: the id of the last message of the part; '' for the newest message.
 * @param {readonly Item[]} items
 * @param {string} lastId
 */
const rangeOf = (items, lastId) => {
  const found = lastId === '' ? -1 : items.findLastIndex(({ message }) => message.messageid === lastId);
  const end = found === -1 ? items.length : found + 1;
  return { start: Math.max(0, end - most), end };
};

/** @param {readonly Item[]} items @param {number} end */
const lastIdAt = (items, end) => {
  const within = Math.max(Math.min(most, items.length), end);
  return within >= items.length ? '' : (items[within - 1]?.message.messageid ?? '');
};

/**
 * Returns the part of the conversation to show, and moves the part when the reader scrolls.
 * @param {Conversation} conversation
 * @param {{ current: HTMLElement | null }} box The element that scrolls.
 */
export const usePart = (conversation, box) => {
  const [lastId, setLastId] = useState('');
  const [isFar, setFar] = useState(false);
  const { position, note, restore, elementOf } = useScrollPosition(box, lastId === '');
  const items = conversation.items.value;
  const { start, end } = rangeOf(items, lastId);

  const move = () => {
    const list = box.current;
    if (list === null || list.clientHeight === 0) return;
    const below = list.scrollHeight - list.scrollTop - list.clientHeight;
    if (list.scrollTop < near && start > 0) setLastId(lastIdAt(items, end - step));
    else if (list.scrollTop < near && conversation.failure.value === null) void conversation.loadOlder();
    else if (lastId !== '' && below < near) setLastId(lastIdAt(items, end + step));
  };
  const onScroll = () => {
    note();
    setFar(!position.current.isAtEnd);
    move();
  };
  useLayoutEffect(() => {
    restore();
    onScroll();
  }, [items, lastId]);
  // A picture that loads, or a change of the window's size, moves messages. The scroll position is then restored.
  useEffect(() => {
    const resized = new ResizeObserver(restore);
    const list = box.current;
    if (list !== null) for (const one of [list, ...list.children]) resized.observe(one);
    return () => resized.disconnect();
  }, [items.length === 0]);

  const toNewest = () => {
    position.current = { isAtEnd: true, id: '', top: 0 };
    setLastId('');
    requestAnimationFrame(restore);
  };
  /** Scrolls to a message, and loads older messages until this message is loaded. Shows a notice if the message is not found. @param {string} id */
  const goTo = async (id) => {
    const at = (await conversation.find(id)) ? conversation.items.value.findIndex(({ message }) => message.messageid === id) : -1;
    if (at === -1) {
      toast(t('chatQuoteFar'), 'bad');
      return;
    }
    position.current = { isAtEnd: false, id, top: near / 2 };
    setLastId(lastIdAt(conversation.items.value, at + step));
    requestAnimationFrame(() => {
      restore();
      elementOf(id)?.focus({ preventScroll: true });
    });
  };
  return { items, part: items.slice(start, end), isWhole: start === 0, isFar, onScroll, toNewest, goTo, elementOf };
};
