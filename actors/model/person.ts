/** People, as the platform names them. */

/** Somebody whom the platform names. */
export interface Person {
  /** As the platform wrote it; '' when it named nobody. */
  readonly id: string;
  /** Phone jid and LID, '' for what is unknown. */
  readonly pn: string;
  readonly lid: string;
}
