/** Alerts: one row with settings, sealed secrets and state, and a report of troubles for each node. */
import { type AlertSecrets, type AlertSettings, noAlertSecrets, usualAlertSettings } from '#actors/model.ts';
import type { AlertStore, TroubleReport } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { alertPlace, type Opener } from '../vault/sealing.ts';

const id = 'server';

export const alertStatements = {
  read: { name: 'alert-read', text: `select settings, secrets, md5(secrets) as revision, state, version from alert where id = $1` },
  save: {
    name: 'alert-save',
    text: `insert into alert (id, settings, secrets) values ($1, $2::jsonb, $3::bytea)
      on conflict (id) do update set settings = excluded.settings, secrets = excluded.secrets where md5(alert.secrets) = $4
      returning 1`,
  },
  saveState: {
    name: 'alert-save-state',
    text: `update alert set state = $2::text, version = version + 1 where id = $1 and version = $3::int returning 1`,
  },
  report: {
    name: 'alert-report',
    text: `insert into node_trouble (node, at, started_at, troubles) values ($1, $2::bigint, $3::bigint, $4::jsonb)
      on conflict (node) do update set at = excluded.at, started_at = excluded.started_at, troubles = excluded.troubles`,
  },
  forget: { name: 'alert-forget', text: `delete from node_trouble where at < $1::bigint` },
  reports: {
    name: 'alert-reports',
    text: `select node, at::float8 as at, started_at::float8 as "startedAt", troubles from node_trouble where at >= $1::bigint order by node`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Stored {
  readonly settings: AlertSettings;
  readonly secrets: Buffer;
  readonly revision: string;
  readonly state: string | null;
  readonly version: number;
}

/** Returns null for a damaged state. */
const parsed = (state: string | null): unknown => {
  try {
    return state === null ? null : (JSON.parse(state) as unknown);
  } catch {
    return null;
  }
};

const secretsIn = (text: string): AlertSecrets => ({ ...noAlertSecrets, ...(JSON.parse(text) as Partial<AlertSecrets>) });

export const makeAlertStore = (database: Database, opener: Opener): AlertStore => ({
  async read() {
    const [row] = await database.rows<Stored>(alertStatements.read, [id]);
    if (row === undefined) return null;
    const secrets = opener.open(alertPlace(id), row.secrets, secretsIn, { id, field: 'alert secrets' }) ?? noAlertSecrets;
    // A setting of a newer release may be missing in an older row.
    return { ...row, settings: { ...usualAlertSettings, ...row.settings }, secrets, state: parsed(row.state) };
  },
  async save(settings, secrets, revision) {
    const values = [id, JSON.stringify(settings), opener.seal(alertPlace(id), JSON.stringify(secrets)), revision];
    return (await database.rows(alertStatements.save, values)).length === 1;
  },
  saveState: async (state, version) => (await database.rows(alertStatements.saveState, [id, JSON.stringify(state), version])).length === 1,
  async report({ node, at, startedAt, troubles }) {
    await database.rows(alertStatements.report, [node, at, startedAt, JSON.stringify(troubles)]);
  },
  async reports(since) {
    await database.rows(alertStatements.forget, [since]);
    return database.rows<TroubleReport>(alertStatements.reports, [since]);
  },
});
