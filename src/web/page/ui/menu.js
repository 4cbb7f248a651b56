/** A menu beside the element that opened it. Arrow keys move through the menu. Escape closes it and moves the focus back to the element. */
import { html } from 'htm/preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** @typedef {{ label: string, onChoose: () => void, danger?: boolean }} MenuItem */

/** The width of the widest menu in pixels. A menu that is opened nearer to the left edge grows to the right. */
const widest = 260;

/** @type {Readonly<Record<string, (at: number, of: number) => number>>} */
const moves = {
  ArrowDown: (at, of) => (at + 1) % of,
  ArrowUp: (at, of) => (at - 1 + of) % of,
  Home: () => 0,
  End: (_at, of) => of - 1,
};

/**
 * @param {{ label: string, items: readonly MenuItem[], near: DOMRect, onClose: () => void }} props `near`: the rectangle of the element that opened the menu.
 */
export const Menu = ({ label, items, near, onClose }) => {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  // The menu takes the focus before it is painted, so that no key goes to the element that opened it.
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current?.querySelector('button')?.focus();
    /** @param {Event} event */
    const onAway = (event) => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) onClose();
    };
    document.addEventListener('pointerdown', onAway, true);
    return () => {
      document.removeEventListener('pointerdown', onAway, true);
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const buttons = [...(box.current?.querySelectorAll('button') ?? [])];
    const move = moves[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else if (move !== undefined)
      buttons[
        move(
          buttons.findIndex((one) => one === document.activeElement),
          buttons.length,
        )
      ]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const above = near.bottom + items.length * 36 + 24 > innerHeight;
  const place = {
    ...(near.right < widest ? { left: `${near.left}px` } : { right: `${innerWidth - near.right}px` }),
    ...(above ? { bottom: `${innerHeight - near.top}px` } : { top: `${near.bottom}px` }),
  };
  return html`
    <div ref=${box} class="menu" role="menu" aria-label=${label} style=${place} onKeyDown=${onKey}>
      ${items.map(
        ({ label: text, onChoose, danger = false }) => html`
          <button
            type="button"
            role="menuitem"
            tabindex="-1"
            class=${danger ? 'danger' : ''}
            onClick=${() => {
              onClose();
              onChoose();
            }}
          >
            ${text}
          </button>
        `,
      )}
    </div>
  `;
};
