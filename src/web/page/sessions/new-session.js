/** Creates a session and links it, in one dialog. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { post } from '../core/api.js';
import { go, sessionAddress } from '../core/router.js';
import { t } from '../texts.js';
import { useForm } from '../ui/forms.js';
import { Button, Dialog, Field } from '../ui/parts.js';
import { Pairing } from './pairing.js';

/** @typedef {{ id: string, name: string }} Made */

/**
 * @param {{ onMade: (made: Made) => void, submit?: string }} props
 */
export const NameForm = ({ onMade, submit = t('newCreate') }) => {
  const { busy, error, onSubmit } = useForm(async (fields) => {
    const name = String(fields.get('name')).trim();
    if (name === '') throw new Error(t('newNameMissing'));
    const { instance } = /** @type {{ instance: { id: string } }} */ (await post('/instance/create', { name }));
    onMade({ id: instance.id, name });
  });
  return html`
    <form class="name-form" onSubmit=${onSubmit} novalidate>
      <${Field}
        label=${t('newName')}
        hint=${t('newNameHint')}
        error=${error}
        name="name"
        maxlength="200"
        required
        autofocus
        autocomplete="off"
      />
      <${Button} kind="main" type="submit" busy=${busy}>${submit}<//>
    </form>
  `;
};

/**
 * The dialog that links one session. Without `made`, the dialog creates the session first.
 * @param {{ made?: Made, onMade?: (made: Made) => void, onClose: () => void }} props
 */
export const ConnectDialog = ({ made: given, onMade = () => undefined, onClose }) => {
  const [made, setMade] = useState(given);
  if (made === undefined) {
    /** @param {Made} fresh */
    const take = (fresh) => {
      setMade(fresh);
      onMade(fresh);
    };
    return html`
      <${Dialog} title=${t('newSession')} onClose=${onClose}>
        <${NameForm} onMade=${take} />
        <p class="note"><a href="/admin/moving">${t('movingStart')}</a></p>
      <//>
    `;
  }
  return html`
    <${Dialog} key="pair" title=${t('pairTitle', { name: made.name })} class="wide" onClose=${onClose}>
      <p>${t('pairHow')}</p>
      <${Pairing} id=${made.id} />
      <div class="actions">
        <${Button} onClick=${() => go(sessionAddress(made.id))}>${t('openSession')}<//>
        <${Button} kind="main" onClick=${onClose}>${t('done')}<//>
      </div>
    <//>
  `;
};
