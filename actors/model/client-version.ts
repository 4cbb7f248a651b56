/** The version that connections to the platform name. */
export interface ClientVersionView {
  /** Such as `2.3000.1043857760`. */
  readonly version: string;
  /** `rolledBack`: the version that was looked up last is refused by the platform, and an older one is used. */
  readonly source: 'setting' | 'lookedUp' | 'builtIn' | 'rolledBack';
  /** Unix milliseconds of the last look-up that brought a version; 0: never. */
  readonly checkedAt: number;
  /** What was wrong with the last look-up, in a sentence; '' if it worked. */
  readonly error: string;
}
