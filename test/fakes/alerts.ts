/** Alerts in memory: settings, state with its version, reports of nodes, and a mail server that keeps received mails. */
import { type AlertSecrets, type AlertSettings, done, usualAlertSettings } from '#actors/model.ts';
import type { AlertRow, AlertStore, Mail, Mailer, TroubleReport } from '#actors/ports.ts';
import type { AlertMethods, FigureMethods } from '#actors/views/operators.ts';
import { figurePorts } from './figures.ts';
import type { Attempt } from './definitions.ts';

export class FakeAlerts implements AlertStore {
  row: AlertRow | null = null;
  readonly kept = new Map<string, TroubleReport>();
  /** Called before each write of the state. A test can simulate the write of another node in this function. */
  beforeSave: () => void = () => undefined;

  read = async () => structuredClone(this.row);
  save = async (settings: AlertSettings, secrets: AlertSecrets, revision = this.row?.revision ?? '') => {
    if (revision !== (this.row?.revision ?? '')) return false;
    this.row = { state: null, version: 0, ...this.row, settings, secrets, revision: String(Number(revision) + 1) };
    return true;
  };
  saveState = async (state: object, version: number) => {
    this.beforeSave();
    if (this.row?.version !== version) return false;
    this.row = { ...this.row, state: structuredClone(state), version: version + 1 };
    return true;
  };
  report = async (report: TroubleReport) => void this.kept.set(report.node, structuredClone(report));
  reports = async (since: number) => [...this.kept.values()].filter(({ at }) => at >= since);
}

export class FakeMailer implements Mailer {
  readonly mails: Mail[] = [];
  /** The error of the mail server. Empty if the server accepts mails. */
  error = '';

  send = async (_server: unknown, mail: Mail) => {
    if (this.error !== '') return { sent: false, error: this.error };
    this.mails.push(mail);
    return { sent: true, error: '' };
  };
}

export const watchPorts = () => ({ ...figurePorts(), alertRows: new FakeAlerts(), mailer: new FakeMailer() });

const view = { settings: usualAlertSettings, secrets: [], troubles: [], total: 0, outcomes: [] };

export const alertCalls = (attempt: Attempt): AlertMethods & FigureMethods => ({
  figureHistory: async () => ({ from: 0, step: 5, steps: 0, nodes: [] }),
  alerts: async () => view,
  saveAlerts: (settings) => attempt(() => done({ ...view, settings })),
  testAlert: () => attempt(() => done({ sent: true, error: '' })),
});
