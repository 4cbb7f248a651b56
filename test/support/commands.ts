/** The import and export commands as an operator runs them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';
import { adminToken, type GatewayProcess } from './gateway.ts';

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** The facts of a gateway that a command needs. A test may use a fake gateway. */
export type CommandGateway = Pick<GatewayProcess, 'address' | 'dataDir'>;

/** Starts a program of `src/` beside the gateway. */
export const launchCommand = (
  gateway: CommandGateway,
  program: string,
  args: readonly string[],
): { child: ChildProcess; ended: Promise<Ran> } => {
  const env = { PATH: process.env['PATH'] ?? '', ADMIN_TOKEN: adminToken, DATA_DIR: gateway.dataDir };
  const child = spawn(process.execPath, [join(root, 'src', program), '--to', gateway.address, ...args], {
    cwd: gateway.dataDir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, ended: new Promise((done) => void child.once('close', (code) => done({ code, output }))) };
};

/** Runs the program to its end. */
export const runCommand = (gateway: CommandGateway, program: string, args: readonly string[]): Promise<Ran> =>
  launchCommand(gateway, program, args).ended;
