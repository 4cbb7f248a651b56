/** The parts of a session beside its chart: the state of each part, and the action that helps a part in trouble. */
import { html } from 'htm/preact';
import { spaced } from '../chart/words.js';
import { may } from '../core/session.js';
import { said, t } from '../texts.js';
import { Button, Icon } from '../ui/parts.js';
import { sendEvent } from './acts.js';

/** @import { Live, Part } from './live.js' */

/** @type {Readonly<Record<Part['state'], string>>} */
const tones = { ok: 'connected', busy: 'connecting', off: 'disconnected', trouble: 'person' };

/** @type {Readonly<Record<string, string>>} */
const names = {
  supervisor: t('part_supervisor'),
  link: t('part_link'),
  operations: t('part_operations'),
  recorder: t('part_recorder'),
  recordKeeper: t('part_recordKeeper'),
  queue: t('part_queue'),
  campaigns: t('part_campaigns'),
};

/** @param {Part} part */
const ownName = ({ id, courier }) => (courier === undefined ? (names[id] ?? id) : t('partCourier', { host: courier.host }));

/** Returns the name of a part in the log and in the metrics. @param {Part} part */
const termOf = ({ id, courier }) => (courier === undefined ? spaced(id) : 'courier');

/** Returns the shown name of a part. Couriers to one host are told apart by the end of their webhook's id. @param {Part} part @param {readonly Part[]} all */
const nameOf = (part, all) => {
  const name = ownName(part);
  const isAlone = all.filter((one) => ownName(one) === name).length === 1;
  return isAlone ? name : `${name} …${(part.courier?.webhookId ?? part.id).slice(-4)}`;
};

/** @typedef {{ event: Record<string, string>, text: string, done: string }} Help */

/** Returns the help for a part in trouble; null if none is needed. @param {Part} part @returns {Help | null} */
const helpFor = ({ id, state, courier }) => {
  if (courier?.circuit.open)
    return { event: { type: 'clearCircuit', webhook: courier.webhookId }, text: t('clearCircuit'), done: t('clearCircuitDone') };
  if (state !== 'trouble' || courier !== undefined) return null;
  return { event: { type: 'restartWorker', worker: id }, text: t('restart'), done: t('restartDone') };
};

/** @param {{ live: Live, part: Part, all: readonly Part[] }} props */
const Row = ({ live, part, all }) => {
  const help = helpFor(part);
  return html`
    <li class=${`of-${tones[part.state]}`}>
      <${Icon} name=${tones[part.state]} label=${t(/** @type {'partState_ok'} */ (`partState_${part.state}`))} />
      <span class="name">${nameOf(part, all)}${termOf(part) !== ownName(part) && html` <span class="note">${termOf(part)}</span>`}</span>
      <span class="dim">${said(part.note)}</span>
      ${help !== null && may('operator') && html`<${Button} onClick=${() => sendEvent(live, help.event, help.done)}>${help.text}<//>`}
    </li>
  `;
};

/** @param {{ live: Live }} props */
export const Parts = ({ live }) => {
  const detail = live.detail.value;
  if (detail === null) return null;
  return html`
    <section class="panel parts" aria-labelledby="parts-title">
      <h2 id="parts-title">${t('parts')}</h2>
      ${
        detail.parts.length === 0
          ? html`<p class="dim">${t('partsResting')}</p>`
          : html`<ul>
              ${detail.parts.map((part) => html`<${Row} key=${part.id} live=${live} part=${part} all=${detail.parts} />`)}
            </ul>`
      }
    </section>
  `;
};
