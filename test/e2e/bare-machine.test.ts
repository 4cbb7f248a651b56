/** Tests both commands of the README on a minimal system with Git, curl, Node and npm. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { BareMachine, machineBase, machineUsers, withoutBareMachine, type MachineUser } from '#test/support/bare-machine.ts';
import { freePort } from '#test/support/ports.ts';
import { until } from '#test/support/until.ts';

/** Both start commands share one installation, which takes most of the time. They run at once, on ports and data folders of their own. */
const commands = 'npm ci && { npm start & PORT=$OTHER_PORT npm run sandbox; }';

/**
 * The versions of npm between the oldest and the newest must accept the lock file and run scripts with the Node of the project. The first command tries this in
 * a folder without packages, because npm changes the folder of the packages even in a dry run. The wrong port ends the start early.
 */
const scripts =
  'mkdir ../lock && cp --parents package.json package-lock.json .npmrc src/sandbox/package.json ../lock && (cd ../lock && npm ci --dry-run) ' +
  '&& npm exec --offline --call "node --print process.execPath" && ! PORT=none npm start';

/** The time-out in milliseconds. On an idle machine with two cores both commands take 20 s. */
const patience = 280_000;

/** The time limit of the base system, which is downloaded and unpacked once. In milliseconds. */
const making = 600_000;

const answersReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

const tryCommands = async (user: MachineUser): Promise<void> => {
  const [port, other, sandbox] = [await freePort(), await freePort(), await freePort()];
  const machine = await BareMachine.start(user, commands, { PORT: `${port}`, OTHER_PORT: `${other}`, SANDBOX_PORT: `${sandbox}` });
  const isReady = (one: number) => () => {
    assert.ok(!machine.hasEnded, `the commands ended: ${machine.printed}`);
    return answersReady(one);
  };
  try {
    await until(isReady(port), () => `npm start is ready: ${machine.printed}`, patience);
    await until(isReady(other), () => `npm run sandbox is ready: ${machine.printed}`, patience);
    assert.doesNotMatch(machine.printed, /npm (?:warn|error)/i);
  } finally {
    await machine.close();
  }
};

const tryScripts = async (user: MachineUser): Promise<void> => {
  const machine = await BareMachine.start(user, scripts, {});
  try {
    await until(
      () => machine.hasEnded,
      () => `the commands end: ${machine.printed}`,
      patience,
    );
  } finally {
    await machine.close();
  }
  const [before = '', start = ''] = machine.printed.split('> dormouse@');
  assert.match(before, /^\/srv\/user\/dormouse\/node_modules\/node\/bin\/node$/m, machine.printed);
  assert.doesNotMatch(before, /npm (?:warn|error)/i);
  assert.match(start, /PORT must be a whole number/, machine.printed);
};

before(() => (withoutBareMachine === '' ? machineBase() : undefined), { timeout: making });

for (const user of machineUsers) {
  const about = `${user.name} with Node ${user.node} and npm ${user.npm}${withoutBareMachine}`;
  const what = user.installs
    ? 'npm ci, npm start and npm run sandbox work for'
    : 'npm reads the lock file and starts the Node of the project for';
  test(`bare machine: ${what} ${about}`, { skip: withoutBareMachine !== '' }, () => (user.installs ? tryCommands(user) : tryScripts(user)));
}
