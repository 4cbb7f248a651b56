/**
 * Lays out the statecharts and writes the files that the dashboard draws: `npm run charts`, after a change of a machine. The program itself has no layout
 * engine and ships these files.
 */
import { writeFileSync } from 'node:fs';
import { charts } from '#actors/session/charts.ts';
import { fileOf, textOf } from './files.ts';
import { layoutOf, variantsOf } from './layout.ts';

for (const machine of Object.values(charts)) {
  for (const { name, drawn, shape } of variantsOf(machine)) {
    const layout = await layoutOf(drawn, shape);
    writeFileSync(fileOf(machine.id, name), textOf(layout));
    process.stdout.write(`${machine.id}, ${name}: ${layout.width} × ${layout.height} px\n`);
  }
}
