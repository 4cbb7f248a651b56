/** The client version that connections announce to the platform. */
export interface ClientVersionView {
  /** The version, such as `2.3000.1043857760`. */
  readonly version: string;
  /** The origin of the version. `rolledBack`: the platform refuses the version of the last look-up, so an older one is used. */
  readonly source: 'setting' | 'lookedUp' | 'builtIn' | 'rolledBack';
  /** The time of the last successful look-up. Unix milliseconds; 0 if there was none. */
  readonly checkedAt: number;
  /** The error of the last look-up, in a sentence; '' if the look-up worked. */
  readonly error: string;
}
