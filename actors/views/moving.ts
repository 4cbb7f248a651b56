/** The methods for operators who move sessions between gateways. */
import type { InstanceId, Result } from '../model.ts';

/** The outcome for one session of a source. `ready`: a dry run found no fault. `here`: an instance already has this session. */
export const importOutcomes = ['imported', 'ready', 'here', 'refused'] as const;

export type ImportOutcome = (typeof importOutcomes)[number];

export interface ImportedSession {
  /** The name of the session in the source. */
  readonly name: string;
  readonly outcome: ImportOutcome;
  /** The instance that has the session, that a dry run would fill, or that refuses the session; '' if there is no such instance. */
  readonly instance: InstanceId;
  /** The token of this instance; '' without an instance. */
  readonly token: string;
  /** The phone number of the account in digits; '' if the number could not be read. */
  readonly number: string;
  readonly keys: number;
  /** The numbers of chats and messages of an archive that this import added to the instance. */
  readonly chats: number;
  readonly messages: number;
  /** A sentence with the reason of the refusal, the instance that has the session, or the instance that an import would create or fill. */
  readonly reason: string;
  readonly notes: readonly string[];
  readonly lost: readonly string[];
}

/** Returns the outcome of a session that was refused before it reached an instance. */
export const refusedSession = ({ name, reason }: Pick<ImportedSession, 'name' | 'reason'>): ImportedSession => ({
  name,
  outcome: 'refused',
  instance: '',
  token: '',
  number: '',
  keys: 0,
  chats: 0,
  messages: 0,
  reason,
  notes: [],
  lost: [],
});

export interface ImportRequest {
  readonly from: string;
  readonly secret: string;
  /** True to return the outcomes of an import without any change. */
  readonly dryRun: boolean;
  /** The id or name of the instance to fill, for a source with one session; '' to select the instance by the name of the session. */
  readonly into: string;
  /** The names of the sessions to import; empty for all. */
  readonly only: readonly string[];
  readonly signal: AbortSignal;
}

/** Parts of an archive that are left out unless the request names them. `messages`: chats, messages and contacts. */
export const exportParts = ['messages'] as const;
export type ExportPart = (typeof exportParts)[number];

export interface ExportRequest {
  /** The instances to export; empty for all that have a session. */
  readonly instances: readonly InstanceId[];
  readonly passphrase: string;
  /** True to close the sessions first. The instances then stay disconnected. */
  readonly stop: boolean;
  readonly with: readonly ExportPart[];
}

export interface MovingMethods {
  /**
   * Imports sessions one after the other, each followed by its chats and messages if the source has them. The imported sessions are disconnected. A fault
   * of one session does not stop the import of the other sessions.
   */
  importSessions(upload: AsyncIterable<Uint8Array>, request: ImportRequest): Promise<Result<readonly ImportedSession[]>>;
  /** Returns the bytes of an archive. Refuses before the first byte, with `notFound`, or with `conflict` for a session that runs. */
  exportSessions(request: ExportRequest): Promise<Result<AsyncIterable<Uint8Array>>>;
}
