/** From an empty server to the first message. */
import { html } from 'htm/preact';
import { t } from '../texts.js';
import { Loading } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';

export const Start = () => html`
  <${Shell} title=${t('sessions')}>
    <h1 class="hidden-text">${t('sessions')}</h1>
    <${Loading} />
  <//>
`;
