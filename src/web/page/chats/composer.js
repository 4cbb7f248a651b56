/** The form that sends a text or a file to a chat, also as an answer to a message. */
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isUnanswered } from '../core/api.js';
import { size, t } from '../texts.js';
import { useFailure } from '../ui/forms.js';
import { Button, Icon } from '../ui/parts.js';
import { send, useDraft } from './drafts.js';
import { glanceOf } from './message.js';
import { senderOf } from './names.js';

/** @import { Draft } from './drafts.js' */
/** @import { Chat, Item, Message } from './types.ts' */

/** The largest size of a file, in bytes. The page sends a file as base64 in one request. For a larger file, the API accepts an address. */
const largestFile = 16_000_000;

/** @param {{ answered: Item, onEnd: () => void }} props */
const Answered = ({ answered, onEnd }) => html`
  <div class="attached">
    <${Icon} name="reply" />
    <p>
      <bdi>${t('chatReplyingTo', { name: answered.message.fromMe ? t('chatYou') : senderOf(answered.message) })}</bdi>
      <span class="dim" dir="auto">${glanceOf(answered)}</span>
    </p>
    <${Button} kind="quiet square" icon="close" aria-label=${t('chatUnquote')} onClick=${onEnd} />
  </div>
`;

/** @param {{ file: File, onEnd: () => void }} props */
const Attached = ({ file, onEnd }) => html`
  <div class="attached">
    <${Icon} name="file" />
    <p><bdi>${file.name}</bdi> <span class="dim">${size(file.size)}</span></p>
    <${Button} kind="quiet square" icon="close" aria-label=${t('chatUnattach', { name: file.name })} onClick=${onEnd} />
  </div>
`;

/**
 * Writes and sends messages. `onSent` gets each message that was sent.
 * @param {{ instance: string, chat: Chat, answered: Item | null, onAnswered: (item: Item | null) => void, onSent: (message: Message) => void }} props
 */
export const Composer = ({ instance, chat, answered, onAnswered, onSent }) => {
  const { draft, change, sent } = useDraft(`${instance} ${chat.id}`);
  const [busy, setBusy] = useState(false);
  const { error, setFailure } = useFailure();
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => {
    if (answered === null) return;
    // An answer is not the same message as a plain text, even with the same words, so it needs a new idempotency key.
    change({});
    field.current?.focus();
  }, [answered]);

  const submit = async () => {
    if (busy || (draft.text.trim() === '' && draft.file === null)) return;
    setBusy(true);
    setFailure(null);
    try {
      onSent(await send(instance, chat, draft, answered));
      sent();
      onAnswered(null);
    } catch (problem) {
      // A notice about lost contact disappears when the contact is back. This notice must stay until the reader has read it.
      setFailure(isUnanswered(problem) ? new Error(t('chatSendUnknown')) : problem);
    }
    setBusy(false);
    field.current?.focus();
  };
  /** @param {Partial<Draft>} changes */
  const edit = (changes) => {
    setFailure(null);
    change(changes);
  };
  const unquote = () => {
    change({});
    onAnswered(null);
  };
  /** @param {File | undefined} file */
  const attach = (file) => {
    if (file === undefined) return;
    const isTooLarge = file.size > largestFile;
    setFailure(isTooLarge ? new Error(t('chatFileTooLarge', { size: size(file.size), most: size(largestFile) })) : null);
    if (!isTooLarge) change({ file });
  };
  return html`
    <form
      class="composer"
      data-unguarded
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        void submit();
      }}
    >
      ${answered !== null && html`<${Answered} answered=${answered} onEnd=${unquote} />`}
      ${draft.file !== null && html`<${Attached} file=${draft.file} onEnd=${() => change({ file: null })} />`}
      ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
      <${Fields} field=${field} draft=${draft} busy=${busy} change=${edit} attach=${attach} onEnter=${submit} />
    </form>
  `;
};

/**
 * @param {{ field: { current: HTMLTextAreaElement | null }, draft: Draft, busy: boolean, change: (change: Partial<Draft>) => void, attach: (file: File | undefined) => void, onEnter: () => void }} props
 */
const Fields = ({ field, draft, busy, change, attach, onEnter }) => html`
  <div class="fields">
    <label class="button quiet square" title=${t('chatAttach')}>
      <${Icon} name="clip" />
      <span class="hidden-text">${t('chatAttach')}</span>
      <input
        type="file"
        class="hidden-text"
        disabled=${busy}
        onChange=${(/** @type {Event} */ event) => {
          const input = /** @type {HTMLInputElement} */ (event.currentTarget);
          attach(input.files?.[0]);
          // If the value stayed, choosing the same file again would cause no event.
          input.value = '';
        }}
      />
    </label>
    <textarea
      ref=${field}
      rows="1"
      dir="auto"
      aria-label=${t('chatWrite')}
      aria-description=${t('chatWriteKeys')}
      placeholder=${t('chatWrite')}
      value=${draft.text}
      readonly=${busy}
      maxlength="65536"
      onInput=${(/** @type {Event} */ event) => change({ text: /** @type {HTMLTextAreaElement} */ (event.currentTarget).value })}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
        // An Enter that ends the input of composed characters does not send.
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        onEnter();
      }}
      onPaste=${(/** @type {ClipboardEvent} */ event) => attach(event.clipboardData?.files[0])}
    />
    <${Button} type="submit" kind="main" busy=${busy}>${t('chatSend')}<//>
  </div>
`;
