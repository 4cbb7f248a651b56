/**
 * Lays the statecharts out and writes what the dashboard draws: `npm run charts`, after a machine was changed. The program itself has no layout
 * engine; it ships these files.
 */
import { writeFileSync } from 'node:fs';
import { charts } from '#actors/session/charts.ts';
import { fileOf, textOf } from './files.ts';
import { layoutOf, shapes } from './layout.ts';

for (const machine of Object.values(charts)) {
  for (const shape of shapes) {
    const layout = await layoutOf(machine, shape);
    writeFileSync(fileOf(machine.id, shape), textOf(layout));
    process.stdout.write(`${machine.id}, ${shape}: ${layout.width} × ${layout.height} px\n`);
  }
}
