/** The file of a message. When the reader asks for the file, the gateway downloads and stores it, and the page loads it from the gateway. */
import { useState } from 'preact/hooks';
import { html } from 'htm/preact';
import { post, textOfFailure } from '../core/api.js';
import { size, t } from '../texts.js';
import { Button } from '../ui/parts.js';
import { fileOf, mediaKindOf } from './content.js';
import { kindOf } from './names.js';

/** @import { Message } from './types.ts' */

/** The largest width and height of a picture, in CSS pixels. */
const widest = 300;
const highest = 320;

/**
 * Returns the address of a stored file on the host of the page. The address from the gateway may name another host.
 * @param {string} url
 */
const localAddress = (url) => {
  const name = url.split('/').at(-1) ?? '';
  return /^[\w.-]{1,200}$/.test(name) ? `/files/${name}` : '';
};

/** Returns the size of a picture before it is loaded, so that nothing moves when the picture appears. @param {{ width: number, height: number }} size */
const roomOf = ({ width, height }) => {
  if (width === 0 || height === 0) return { width: `${widest}px`, aspectRatio: '4 / 3' };
  const ratio = Math.min(3, Math.max(0.4, width / height));
  return { width: `${Math.round(Math.max(120, Math.min(widest, width, highest * ratio)))}px`, aspectRatio: String(ratio) };
};

/**
 * Shows a file by its kind. `onGone` is called if the server no longer has the file.
 * @param {{ message: Message, address: string, onGone: () => void }} props
 */
const Shown = ({ message, address, onGone }) => {
  const [kind, file] = [mediaKindOf(message), fileOf(message)];
  const label = kindOf(message.messageType);
  if (kind === 'video')
    return html`<video controls preload="metadata" style=${roomOf(file)} src=${address} aria-label=${label} onError=${onGone} />`;
  if (kind === 'sound') return html`<audio controls preload="metadata" src=${address} aria-label=${label} onError=${onGone} />`;
  return html`
    <a class="picture" href=${address} target="_blank" rel="noopener noreferrer" style=${roomOf(file)}>
      <img src=${address} alt=${label} loading="lazy" decoding="async" onError=${onGone} />
    </a>
  `;
};

/** Saves a file under the name in the server's answer. @param {string} address */
const save = (address) => {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  link.click();
};

/** @param {{ message: Message, instance: string }} props */
export const Media = ({ message, instance }) => {
  const [asked, setAsked] = useState('');
  const [isGone, setGone] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const [kind, file] = [mediaKindOf(message), fileOf(message)];
  if (kind === null) return null;
  const address = asked || (isGone ? '' : localAddress(message.fileURL));
  if (address !== '' && kind !== 'file') {
    const onGone = () => {
      setAsked('');
      setGone(true);
      setError(t('chatFileGone'));
    };
    return html`<${Shown} message=${message} address=${address} onGone=${onGone} />`;
  }
  const load = async () => {
    setBusy(true);
    setError('');
    try {
      /** @type {{ fileURL: string }} */
      const { fileURL } = await post('/message/download', { id: message.id, generate_mp3: false }, { instance });
      const kept = localAddress(fileURL);
      if (kept === '') setError(t('chatFileGone'));
      else if (kind === 'file') save(kept);
      else setAsked(kept);
    } catch (problem) {
      setError(textOfFailure(problem));
    }
    setBusy(false);
  };
  const facts = [file.bytes > 0 ? size(file.bytes) : '', file.seconds > 0 ? t('ageSeconds', { n: Math.round(file.seconds) }) : '']
    .filter(Boolean)
    .join(' · ');
  const what = file.name || kindOf(message.messageType);
  const isDrawn = file.thumbnail !== '' && kind !== 'file' && kind !== 'sound';
  return html`
    <div class=${isDrawn ? 'unloaded drawn' : 'unloaded'} style=${isDrawn ? roomOf(file) : undefined}>
      ${isDrawn && html`<img alt="" src=${file.thumbnail} />`}
      <${Button} icon=${kind === 'file' ? 'file' : 'down'} busy=${busy} onClick=${load}>
        <bdi class="what">${t(kind === 'file' ? 'chatDownload' : 'chatShow', { what })}</bdi>
        ${facts !== '' && html` <span class="dim">${facts}</span>`}
      <//>
    </div>
    ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
  `;
};
