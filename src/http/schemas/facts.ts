/** Shapes of the pages about the server: settings in force, versions, storage, and the proxies of all instances. */
import { Type } from 'typebox';
import { Count, fields, Flag, OneOf, optional, Text } from './common.ts';
import { ProxyState } from './proxy.ts';

const At = (description: string) => Type.Integer({ description: `Unix milliseconds; ${description}` });

export const SettingsAnswer = Type.Object({
  settings: Type.Array(
    Type.Object({
      ...fields('name group about', Type.String()),
      source: OneOf(['environment', 'file', 'program', 'default'], {
        description: '`program`: derived from other settings, or set by the way in which the program was started',
      }),
      value: Type.String({ description: 'Value in the form of the environment; empty if there is none, and for every secret' }),
      default: Type.String(),
      secret: Flag('The value is never shown'),
      isSet: Flag('There is a value'),
    }),
  ),
});

export const VersionAnswer = Type.Object({
  ...fields('version baileys node', Type.String()),
  startedAt: At('start of the service'),
  clientVersion: Type.Object({
    version: Type.String({ description: 'Version of the web client that new connections name' }),
    source: OneOf(['setting', 'lookedUp', 'builtIn', 'rolledBack']),
    checkedAt: At('0 before the first look-up'),
    error: Type.String({ description: 'Error of the last look-up; empty if it worked' }),
  }),
  update: Type.Object({
    checks: Flag('UPDATE_CHECK_URL names an address. Without it no server is asked'),
    latest: Type.String({ description: 'The newest release; empty if unknown' }),
    isNewer: Flag('The newest release is newer than this one'),
    page: Type.String({ description: 'Page of the release; empty if unknown' }),
    checkedAt: At('0 before the first answer'),
    error: Type.String({ description: 'Error of the last request; empty if it worked' }),
  }),
});

const Bytes = (description: string) => Type.Number({ description: `Bytes ${description}` });

const Largest = Type.Object({
  isExact: Flag('false: the figures are scaled from a sample of the table'),
  bytes: Bytes('of all instances together'),
  instances: Type.Array(
    Type.Object({
      ...fields('id name', Type.String()),
      rows: Type.Number({ description: 'Messages, or files' }),
      bytes: Bytes('of them'),
    }),
    { description: 'At most 20, the largest first' },
  ),
});

export const StorageAnswer = Type.Object({
  database: Type.Object({
    bytes: Bytes('of the whole database'),
    version: Type.String({ description: 'Version of the PostgreSQL server' }),
    tables: Type.Array(
      Type.Object({
        name: Type.String(),
        bytes: Bytes('with its indexes'),
        rows: optional(Type.Number({ description: 'The estimate of the database; absent before its first statistics' })),
      }),
    ),
  }),
  messages: Largest,
  files: Largest,
  fileBytes: optional(Bytes('of all kept files of this node, each counted once; absent until they were counted')),
  disk: Type.Object({ free: Bytes('that are free on the disk of the data folder'), size: Bytes('of that disk') }),
  rules: Type.Array(Type.Object(fields('name value about', Type.String())), { description: 'Settings that remove rows and files' }),
});

export const ProxiesQuery = Type.Object({
  q: optional(Text(200, 'Part of a name, an id, an address or an error')),
  show: optional(OneOf(['all', 'trouble', 'custom', 'internal', 'none'], { description: 'A mode, or those in `trouble` alone' })),
  limit: optional(Count(1, 500, '100 when absent')),
  offset: optional(Count(0, 999_999, 'So many of the first are left out')),
});

export const ProxiesAnswer = Type.Object({
  total: Type.Integer({ description: 'Number of entries that match the query' }),
  counts: Type.Object(fields('all trouble custom internal none', Type.Integer())),
  catalogue: Flag('The server has a catalogue of managed proxies'),
  rows: Type.Array(
    Type.Object({
      ...fields('id name', Type.String()),
      status: OneOf(['disconnected', 'connecting', 'connected', 'hibernated']),
      reason: Type.String({ description: 'Reason why the session is not connected; empty if it is' }),
      proxy: ProxyState,
    }),
  ),
});
