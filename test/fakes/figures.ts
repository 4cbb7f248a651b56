/** Figures by the minute in memory. */
import type { FigureRow, FigureStep, FigureStore } from '#actors/ports.ts';

export class FakeFigures implements FigureStore {
  readonly rows = new Map<string, FigureStep>();
  /** The error with which the next write rejects. With `isLost` the rows are stored first, as if the reply was lost. */
  failNext: { readonly error: Error; readonly isLost: boolean } | null = null;

  put = async (node: string, rows: readonly FigureRow[]) => {
    const { failNext } = this;
    this.failNext = null;
    if (failNext === null || failNext.isLost) for (const row of rows) this.rows.set(`${node} ${row.minute}`, { ...row, node });
    if (failNext !== null) throw failNext.error;
  };
  find = async ({ from, to }: Parameters<FigureStore['find']>[0]) =>
    [...this.rows.values()]
      .filter(({ minute }) => minute >= from && minute < to)
      .toSorted((a, b) => a.node.localeCompare(b.node) || a.minute - b.minute);
  expire = async () => 0;
}

export const figurePorts = () => ({ loopLagMs: () => 0, memoryBytes: () => 1, figureRows: new FakeFigures() });
