/** Gateway methods for the figures of the last day. */

/** The time for which figures are kept. In milliseconds. The page shows a day. */
export const figuresKeptMs = 86_400_000;

export const figureNames = ['received', 'sent', 'delivered', 'failed', 'reconnects', 'memoryBytes', 'loopMs'] as const;
export type FigureName = (typeof figureNames)[number];

/** The figures of one node. Each list has one value for each step; null if the node has no figures of that step. */
export type NodeSteps = Readonly<Record<FigureName | 'seconds', readonly (number | null)[]>> & {
  /** '' for a gateway without a cluster. */
  readonly name: string;
};

export interface FigureHistory {
  /** The beginning of the first step. In Unix milliseconds. */
  readonly from: number;
  /** The length of a step. In minutes. */
  readonly step: number;
  /** The number of steps. The last one is under way. */
  readonly steps: number;
  readonly nodes: readonly NodeSteps[];
}

export interface FigureFace {
  /** Returns the figures of all nodes over the last hours, from 1 to 24. */
  figureHistory(hours: number): Promise<FigureHistory>;
}
