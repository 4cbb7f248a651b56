/** Polls. */

export interface PollContent {
  readonly kind: 'poll';
  readonly question: string;
  readonly options: readonly string[];
  /** Options that one person may choose at most; 0 for all of them. */
  readonly selectable: number;
}
