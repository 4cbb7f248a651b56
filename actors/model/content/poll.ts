/** Polls. */

export interface PollContent {
  readonly kind: 'poll';
  readonly question: string;
  readonly options: readonly string[];
  /** The largest number of options that one person may choose; 0 for all. */
  readonly selectable: number;
}
