/** Queries in JSON (`w:mex`), by the id of the query. Errors of a query stand in the JSON of its result, not in the stanza. */
import { SandboxError } from '../face.ts';
import { bytes, node } from '../nodes.ts';
import { cappingOf, timeLockOf } from '../restrictions.ts';
import { channelMex } from './channels.ts';
import { profileMex } from './profile-mex.ts';
import type { DeviceQueries, DeviceQuery, MexQueries, Variables } from './query.ts';

/** The quota of new chats of an account. Each query uses its own word for it. */
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

/** Largest text of variables, in bytes. A picture of a channel is the largest thing in them. */
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
