/** Facts about the server that its own pages show: settings in force, versions, and the use of storage. The composition root provides them. */

/** One setting as the administrator sees it. A secret has no value, only `isSet`. */
export interface SettingFact {
  /** Name in the environment. */
  readonly name: string;
  readonly group: string;
  readonly about: string;
  /** `program`: derived from other settings, or set by the way in which the program was started. */
  readonly source: 'environment' | 'file' | 'program' | 'default';
  readonly value: string;
  readonly default: string;
  readonly secret: boolean;
  readonly isSet: boolean;
}

/** The answer of the server that UPDATE_CHECK_URL names. */
export interface UpdateNotice {
  /** False: no address is set, and nothing was asked. */
  readonly checks: boolean;
  /** The newest release; '' if unknown. */
  readonly latest: string;
  readonly isNewer: boolean;
  /** The page of the release; '' if the answer named none. */
  readonly page: string;
  /** Unix milliseconds; 0 before the first answer. */
  readonly checkedAt: number;
  /** The reason why the last request failed; '' if it worked. */
  readonly error: string;
}

interface LargestUse {
  readonly isExact: boolean;
  /** The sum over all instances, in bytes. */
  readonly bytes: number;
  readonly instances: readonly { readonly instanceId: string; readonly rows: number; readonly bytes: number }[];
}

/** The use of the database. */
export interface DatabaseUse {
  readonly bytes: number;
  readonly version: string;
  readonly tables: readonly { readonly name: string; readonly bytes: number; readonly rows: number | null }[];
  readonly messages: LargestUse;
  readonly files: LargestUse;
}

export interface ServerFacts {
  readonly settings: readonly SettingFact[];
  /** The version of Baileys, which speaks with the platform. */
  readonly baileys: string;
  readonly node: string;
  /** Start of the service in Unix milliseconds. */
  readonly startedAt: number;
  /** Asks the address of the setting at most once in some hours. Never rejects. */
  update(): Promise<UpdateNotice>;
  /** Cheap enough for every view: the answer of the database is remembered for a while. */
  databaseUse(): Promise<DatabaseUse>;
  /** Bytes of all kept files in the store of this process; null until they were counted. */
  fileBytes(): number | null;
  /** The disk of the data folder, in bytes. */
  disk(): { readonly free: number; readonly size: number };
}
