/** Prevents the visible messages from moving while messages are added above and below, and while pictures load. */
import { useRef } from 'preact/hooks';

/** The distance from the newest message, in pixels, within which the list scrolls to new messages. */
const atEnd = 40;

/** @typedef {{ isAtEnd: boolean, id: string, top: number }} ScrollPosition `top`: pixels between the upper edges of the box and of the message. */

/**
 * Returns `note`, which stores the scroll position, and `restore`, which scrolls back to this position. `follows`: true if the newest message has an HTML
 * element.
 * @param {{ current: HTMLElement | null }} box
 * @param {boolean} follows
 */
export const useScrollPosition = (box, follows) => {
  const position = useRef(/** @type {ScrollPosition} */ ({ isAtEnd: true, id: '', top: 0 }));
  /** @param {string} id @returns {HTMLElement | null} */
  const elementOf = (id) => box.current?.querySelector(`[data-message="${CSS.escape(id)}"]`) ?? null;
  const note = () => {
    const list = box.current;
    if (list === null) return;
    const { top } = list.getBoundingClientRect();
    const first = [...list.querySelectorAll('[data-message]')].find((one) => one.getBoundingClientRect().bottom > top);
    position.current = {
      isAtEnd: follows && list.scrollHeight - list.scrollTop - list.clientHeight < atEnd,
      id: first?.getAttribute('data-message') ?? '',
      top: (first?.getBoundingClientRect().top ?? 0) - top,
    };
  };
  const restore = () => {
    const list = box.current;
    if (list === null) return;
    const { isAtEnd, id, top } = position.current;
    const element = elementOf(id);
    if (isAtEnd) list.scrollTop = list.scrollHeight;
    else if (element !== null) list.scrollTop += element.getBoundingClientRect().top - list.getBoundingClientRect().top - top;
  };
  return { position, note, restore, elementOf };
};
