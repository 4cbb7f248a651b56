/** Questions about where instances are and how they came there. */
import type { Gateway } from '../face.ts';
import { charts } from '../session/charts.ts';
import type { Supervisor } from '../supervisor.ts';

type InspectorCommands = Pick<Gateway, 'charts' | 'chartSource' | 'actors' | 'actor'>;

export const inspectorCommands = ({ inspection }: Supervisor): InspectorCommands => ({
  charts: () => [charts.lifecycle, charts.instance],
  chartSource: () => null,
  actors: (query) => inspection.page(query),
  actor: (id) => inspection.detail(id),
});
