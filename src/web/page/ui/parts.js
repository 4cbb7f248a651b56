/** Components that all views share. Their style is in `style/3-parts.css`. */
import { html } from 'htm/preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { textOfFailure } from '../core/api.js';
import { currentPath } from '../core/router.js';
import { t } from '../texts.js';

/** @import { ComponentChildren } from 'preact' */

/**
 * Shows a drawing of `icons.svg`. A drawing without a label is hidden from screen readers, because the text beside it says the same.
 * @param {{ name: string, label?: string, class?: string }} props
 */
export const Icon = ({ name, label, class: more = '' }) => html`
  <svg class=${`icon ${more}`} role=${label === undefined ? undefined : 'img'} aria-label=${label} aria-hidden=${label === undefined}>
    <use href=${`#i-${name}`} />
  </svg>
`;

/**
 * Shows a button. `kind`: any of the words `main` (the main action of the view), `danger`, `quiet` and `square`. While `busy`, the button shows a spinner and
 * is disabled.
 * @param {{ kind?: string, icon?: string, busy?: boolean, disabled?: boolean, type?: 'button' | 'submit', children?: ComponentChildren, [more: string]: unknown }} props
 */
export const Button = ({ kind = '', icon, busy = false, disabled = false, type = 'button', children, ...more }) => html`
  <button ...${more} type=${type} class=${`button ${kind}`} disabled=${disabled || busy} aria-busy=${busy}>
    ${busy ? html`<${Icon} name="connecting" class="turning" />` : icon !== undefined && html`<${Icon} name=${icon} />`} ${children}
  </button>
`;

/**
 * Shows an input with a label. `as`: the tag name of the input element. This element gets all further properties.
 * @param {{ label: string, hint?: string, error?: string, as?: string, autofocus?: boolean, children?: ComponentChildren, [more: string]: unknown }} props
 */
export const Field = ({ label, hint, error, as = 'input', autofocus = false, children, ...more }) => {
  const id = useId();
  useEffect(() => {
    if (autofocus) document.getElementById(id)?.focus();
  }, []);
  const described = [hint === undefined ? '' : `${id}-hint`, error ? `${id}-error` : ''].join(' ').trim();
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <${as} id=${id} ...${more} aria-invalid=${error ? 'true' : undefined} aria-describedby=${described || undefined}>${children}<//>
      ${hint !== undefined && html`<p class="note" id=${`${id}-hint`}>${hint}</p>`}
      ${error && html`<p class="error" role="alert" id=${`${id}-error`}>${error}</p>`}
    </div>
  `;
};

/**
 * Shows a state by colour, icon and word. Some readers cannot see the colour.
 * @param {{ state: string, word?: string }} props `state`: connected, connecting, hibernated, disconnected or person.
 */
export const StateBadge = ({ state, word }) => html`
  <span class=${`badge of-${state}`}><${Icon} name=${state} />${word ?? t(/** @type {'state_connected'} */ (`state_${state}`))}</span>
`;

/**
 * A guard that asks before Escape or a press beside a box closes the box. `ask` resolves with true if the box may be closed.
 * @typedef {{ isNeeded: (box: Element) => boolean, ask: (box: Element) => Promise<boolean> }} BoxGuard
 */

/** @type {BoxGuard} */
let guard = { isNeeded: () => false, ask: async () => true };

/** Sets the guard of all boxes. @param {BoxGuard} own */
export const guardBoxes = (own) => {
  guard = own;
};

/**
 * Shows a modal box. `onClose` is called for Escape, for the close button, for a press beside the box, and when another view is shown. Escape and the press
 * beside the box ask the guard first, because readers often do both by mistake.
 * @param {{ title: string, onClose: () => void, children?: ComponentChildren, class?: string }} props
 */
export const Dialog = ({ title, onClose, children, class: more = '' }) => {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  useEffect(() => {
    const [dialog, before] = [box.current, document.activeElement];
    dialog?.showModal();
    // Without an input, the title gets the focus, so that screen readers do not begin with the close button.
    /** @type {HTMLElement | null | undefined} */ (dialog?.querySelector('input') ?? dialog?.querySelector('h2'))?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const opened = currentPath.peek();
    return currentPath.subscribe((now) => {
      if (now !== opened) close.current();
    });
  }, []);
  const leave = async () => {
    const dialog = box.current;
    if (dialog === null || (guard.isNeeded(dialog) && !(await guard.ask(dialog)))) return;
    // The box may have been closed while the question waited.
    if (box.current === dialog) close.current();
  };
  /** @param {Event} event */
  const onCancel = (event) => {
    event.preventDefault();
    void leave();
  };
  /** Handles Escape by its key. A browser lets a page prevent one `cancel` event only, and closes the box at the next Escape. @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key === 'Escape' && !event.isComposing && !event.defaultPrevented) onCancel(event);
  };
  /** @param {MouseEvent} event */
  const onPress = (event) => {
    if (event.target === box.current) void leave();
  };
  return html`
    <dialog ref=${box} class=${`box ${more}`} aria-labelledby=${id} onCancel=${onCancel} onKeyDown=${onKey} onMouseDown=${onPress}>
      <div class="inner">
        <header>
          <h2 id=${id} tabindex="-1">${title}</h2>
          <${Button} kind="quiet square" icon="close" aria-label=${t('close')} onClick=${onClose} />
        </header>
        ${children}
      </div>
    </dialog>
  `;
};

/**
 * Shows an empty view, with its purpose and the next step. `heading`: `h1` if the view has no other heading of that level.
 * @param {{ icon?: string, heading?: 'h1' | 'h2', title: string, text?: string, children?: ComponentChildren }} props
 */
export const Empty = ({ icon = 'logo', heading = 'h2', title, text, children }) => html`
  <div class="blank">
    <${Icon} name=${icon} />
    <${heading}>${title}<//>
    ${text !== undefined && html`<p class="dim">${text}</p>`} ${children}
  </div>
`;

export const Loading = () => html`
  <div class="blank" role="status">
    <${Icon} name="connecting" class="turning" />
    <p class="dim">${t('loading')}</p>
  </div>
`;

/**
 * Shows that a request failed, with the sentence of the server and a button that retries.
 * @param {{ error: unknown, heading?: 'h1' | 'h2', onRetry?: () => void }} props
 */
export const Failed = ({ error, heading = 'h2', onRetry }) => html`
  <div class="blank" role="alert">
    <${Icon} name="person" />
    <${heading}>${t('failed')}<//>
    <p class="dim">${textOfFailure(error)}</p>
    ${onRetry !== undefined && html`<${Button} onClick=${onRetry}>${t('retry')}<//>`}
  </div>
`;

/**
 * Shows a table, which scrolls in its box on a narrow screen. `children`: the rows. `plain`: the last column has no buttons and scrolls with the others.
 * `stack`: on a phone each row is a card, and each cell shows its `data-head` as its heading.
 * @param {{ label: string, heads: readonly string[], plain?: boolean, stack?: boolean, children?: ComponentChildren }} props
 */
export const Table = ({ label, heads, plain = false, stack = false, children }) => html`
  <div class=${['nodes', plain && 'plain', stack && 'stack'].filter(Boolean).join(' ')}>
    <div class="scroll" tabindex="0" role="group" aria-label=${label}>
      <table>
        <thead>
          <tr>
            ${heads.map((head) => html`<th key=${head} scope="col">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${children}
        </tbody>
      </table>
    </div>
  </div>
`;

/**
 * Shows a group of buttons. The button of the chosen value is shown as pressed. `options`: pairs of a value and its text.
 * @param {{ label: string, options: readonly (readonly [unknown, ComponentChildren])[], chosen: unknown, onChoose: (value: never) => void }} props
 */
export const OneOf = ({ label, options, chosen, onChoose }) => html`
  <div class="filters" role="group" aria-label=${label}>
    ${options.map(
      ([value, text]) => html`
        <button key=${value} type="button" aria-pressed=${value === chosen} onClick=${() => onChoose(/** @type {never} */ (value))}>
          ${text}
        </button>
      `,
    )}
  </div>
`;
