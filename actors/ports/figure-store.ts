/** Figures of nodes by the minute: the counters that they are read from, and their store. */

/** Counters of this process since its start. */
export interface Totals {
  /** Messages from others, and messages of the account, by the API or on the phone. */
  readonly received: number;
  readonly sent: number;
  /** Posts to receivers with a 2xx, and all others. */
  readonly delivered: number;
  readonly failed: number;
  /** Lost sessions that were live again. */
  readonly reconnects: number;
}

/** The figures of a node over one time. Counters are sums, `memoryBytes` and `loopMs` are the highest values. */
export interface FigureRow extends Totals {
  /** The minute of the last reading: Unix milliseconds divided by 60,000. */
  readonly minute: number;
  /** The time that the counters cover. In milliseconds. */
  readonly spanMs: number;
  readonly memoryBytes: number;
  /** 99th percentile of the event loop's delay. In milliseconds. */
  readonly loopMs: number;
}

/** Figures of one node, within one step of a query. `minute` is the first minute of the step. */
export type FigureStep = FigureRow & { readonly node: string };

export interface FigureStore {
  /** Stores rows of a node. A row replaces an earlier one of its node and minute, so a repetition does no harm. No two rows have the same minute. */
  put(node: string, rows: readonly FigureRow[]): Promise<void>;
  /** Returns the figures of all nodes from minute `from` to minute `to`, in steps of so many minutes, at most `limit`, by node and time. */
  find(query: {
    readonly from: number;
    readonly to: number;
    readonly step: number;
    readonly limit: number;
  }): Promise<readonly FigureStep[]>;
  /** Removes at most `limit` rows that are older than this time (Unix milliseconds), or two days younger. Returns the number of removed rows. */
  expire(before: number, limit: number): Promise<number>;
}
