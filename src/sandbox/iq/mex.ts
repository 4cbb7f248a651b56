/**
 * Queries in JSON (`w:mex`), by the id of the query. If the handler of a query refuses it, the error is in the JSON of the result. The stanza itself then
 * reports no error.
 */
import { SandboxError } from '../interface.ts';
import { bytes, node } from '../nodes.ts';
import { maySee } from '../account.ts';
import { cappingOf, timeLockOf } from '../restrictions.ts';
import { channelMex } from './channels.ts';
import type { DeviceQueries, DeviceQuery, MexQueries, Variables } from './query.ts';

// Queries in JSON about profiles: about texts, usernames, reports of channels. Ids, variables and answers are those of vinikjkkj/zapo (`spec/mex/`, WhatsApp
// Web 2.3000.1043028647). The form of the about text is also in tulir/whatsmeow (662b0121, `types/user.go`, `SetStatusInput`).

const maxAbout = 500;
const nameFormat = /^[a-z0-9._]{3,35}$/;

const objectOf = (value: unknown): Variables => (typeof value === 'object' && value !== null ? (value as Variables) : {});

/**
 * Sets the about text. `text` is null for no text. The emoji is optional. The seconds until the text disappears are required, but the simulated text never
 * disappears.
 */
function setAbout({ parts, device }: DeviceQuery, { input }: Variables): unknown {
  const { text, emoji, ephemeral_duration_sec: seconds } = objectOf(input);
  const isText = text === null || (typeof text === 'string' && text.length <= maxAbout);
  const isEmoji = emoji === undefined || typeof objectOf(emoji)['content'] === 'string';
  if (!isText || !isEmoji || !Number.isInteger(seconds) || Number(seconds) < 0) throw new SandboxError(400, 'bad-request');
  const person = parts.people.ensure(device.number);
  person.about = text ?? '';
  parts.people.save(person);
  return { xwa2_update_text_status: { result: 'SUCCESS' } };
}

/** Returns the about text of a person. A text that the account may not see is left out. */
function about({ parts, device }: DeviceQuery, { user }: Variables): unknown {
  const id = objectOf(user)['user_id'];
  const person = typeof id === 'string' ? parts.people.resolve(id)?.person : undefined;
  if (!person) throw new SandboxError(404, 'item-not-found');
  const visible = maySee(parts, person, parts.people.ensure(device.number), 'status');
  return { xwa2_users_updates_since: [{ updates: visible ? [{ text: person.about }] : [] }] };
}

/**
 * Answers whether a username is free. The source does not show the platform's answer for a name that is taken. The simulated answer then has no
 * result, and suggests another name.
 */
function usernameFree({ parts, device }: DeviceQuery, { input }: Variables): unknown {
  if (typeof input !== 'string') throw new SandboxError(400, 'bad-request');
  const taken = parts.people.all().some(({ username, number }) => username === input && number !== device.number);
  const free = !taken && nameFormat.test(input);
  return { xwa2_username_check: free ? { result: 'SUCCESS', suggestions: [] } : { suggestions: [`${input}.1`] } };
}

const profileMex: MexQueries = {
  '9152604461510864': setAbout,
  '24535500086059408': about,
  '25347099718279209': ({ parts, device }) => {
    const { username } = parts.people.ensure(device.number);
    return { xwa2_username_get: { username_info: username === undefined ? null : { username, state: 'SET' } } };
  },
  '26122779627399568': usernameFree,
  // The simulated platform does not handle reports of channels.
  '35936238352686172': () => ({ xwa2_channels_reports: { channels_reports: [] } }),
};

/** Makes the handler of a query for an account's quota of new chats. `type` is the name of the quota in this query. */
const capping =
  (type: string) =>
  ({ parts, device }: DeviceQuery, { input }: Variables): unknown => {
    if ((input as Variables | null | undefined)?.['type'] !== type) throw new SandboxError(400, 'bad-request');
    return { xwa2_message_capping_info: cappingOf(parts.people.ensure(device.number)) };
  };

/** Queries about restrictions of the account. */
const standing: MexQueries = {
  '23983697327930364': ({ parts, device }) => ({
    xwa2_fetch_account_reachout_timelock: timeLockOf(parts.people.ensure(device.number)),
  }),
  '24503548349331633': capping('INDIVIDUAL_NEW_CHAT_MSG'),
  '27910975521856601': (query, variables) => {
    if (query.parts.people.find(query.device.number)?.restrictions?.oldQueries) throw new SandboxError(404, 'item-not-found');
    return capping('INDIVIDUAL_NEW_CHAT_MSG_THREAD')(query, variables);
  },
};

const queries: MexQueries = { ...standing, ...channelMex, ...profileMex };

/** Largest size of the variables, in bytes. The picture of a channel is their largest value. */
const maxVariables = 2 * 1024 * 1024;

function variablesOf({ request }: DeviceQuery): Variables {
  const text = bytes(request);
  if (!text || text.length > maxVariables) throw new SandboxError(400, 'bad-request');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.toString('utf8'));
  } catch {
    throw new SandboxError(400, 'bad-request');
  }
  const variables = typeof parsed === 'object' && parsed !== null && 'variables' in parsed ? parsed.variables : undefined;
  if (typeof variables !== 'object' || variables === null) throw new SandboxError(400, 'bad-request');
  return variables as Variables;
}

function ask(query: DeviceQuery, variables: Variables): unknown {
  const id = query.request?.attrs['query_id'] ?? '';
  const known = Object.hasOwn(queries, id) ? queries[id] : undefined;
  if (known) return { data: known(query, variables) };
  query.parts.counters.unknown(`w:mex/${id}`);
  throw new SandboxError(501, 'feature-not-implemented');
}

export const mexQueries: DeviceQueries = {
  'w:mex/get/query': (query) => {
    const variables = variablesOf(query);
    try {
      return [node('result', {}, Buffer.from(JSON.stringify(ask(query, variables))))];
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      const errors = [{ message: error.message, extensions: { error_code: error.status } }];
      return [node('result', {}, Buffer.from(JSON.stringify({ data: null, errors })))];
    }
  },
};
