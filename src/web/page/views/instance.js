/** One session. */
import { html } from 'htm/preact';
import { t } from '../texts.js';
import { Loading } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';

/** @param {{ id: string, tab?: string }} props */
export const Instance = ({ id }) => html`
  <${Shell} title=${id} crumbs=${[{ text: t('sessions'), href: '/admin' }, { text: id }]}>
    <h1 class="hidden-text">${id}</h1>
    <${Loading} />
  <//>
`;
