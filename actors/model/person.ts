/** People as the platform addresses them. */

/** A person with the addresses that the platform gave. */
export interface Person {
  /** The address as the platform wrote it; '' if the platform named no person. */
  readonly id: string;
  /** The phone jid and the LID; '' for an unknown one. */
  readonly pn: string;
  readonly lid: string;
}
