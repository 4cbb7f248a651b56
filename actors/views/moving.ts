/** The methods for operators who move sessions between gateways. */
import type { InstanceId, Result } from '../model.ts';

/** The outcome for one session of a source. `ready`: a dry run found no fault. `here`: an instance already has this session. */
export const importOutcomes = ['imported', 'ready', 'here', 'refused'] as const;

export type ImportOutcome = (typeof importOutcomes)[number];

export interface ImportedSession {
  /** In the source. */
  readonly name: string;
  readonly outcome: ImportOutcome;
  /** The instance that has the session, or would be filled; '' when one would be made or was refused. */
  readonly instance: InstanceId;
  /** Token of that instance; '' without one. */
  readonly token: string;
  /** Digits of the account; '' when they could not be read. */
  readonly number: string;
  readonly keys: number;
  /** Chats and messages of the archive that this import added to the instance. */
  readonly chats: number;
  readonly messages: number;
  /** One sentence: why it is refused, or where it is. */
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
  /** Says what would happen, and changes nothing. */
  readonly dryRun: boolean;
  /** Id or name of the instance to be filled, for a source of one session; '': by the name of the session. */
  readonly into: string;
  /** Names of sessions in the source; empty: all. */
  readonly only: readonly string[];
  readonly signal: AbortSignal;
}

/** Parts of an archive that are left out unless they are asked for. `messages`: chats, messages and contacts. */
export const exportParts = ['messages'] as const;
export type ExportPart = (typeof exportParts)[number];

export interface ExportRequest {
  /** Empty: all. */
  readonly instances: readonly InstanceId[];
  readonly passphrase: string;
  /** Closes the sessions first, and leaves their instances disconnected. */
  readonly stop: boolean;
  readonly with: readonly ExportPart[];
}

export interface MovingFace {
  /**
   * Imports sessions one after the other, disconnected, and then the chats and messages of each if the source has them. A fault of one session does
   * not stop the others.
   */
  importSessions(upload: AsyncIterable<Uint8Array>, request: ImportRequest): Promise<Result<readonly ImportedSession[]>>;
  /** The bytes of an archive. Refused before the first byte: `notFound`, `conflict` for sessions that run. */
  exportSessions(request: ExportRequest): Promise<Result<AsyncIterable<Uint8Array>>>;
}
