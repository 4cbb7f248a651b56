/** Tests both commands of the README on a minimal system with Git, curl, Node and npm. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { BareMachine, machineBase, machineUsers, withoutBareMachine, type MachineUser } from '#test/support/bare-machine.ts';
import { freePort } from '#test/support/ports.ts';
import { until } from '#test/support/until.ts';

/** Both start commands share one installation, which takes most of the time. They run at once, on ports and data folders of their own. */
const commands = 'npm ci && { npm start & PORT=$OTHER_PORT npm run sandbox; }';

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

before(() => (withoutBareMachine === '' ? machineBase() : undefined), { timeout: making });

for (const user of machineUsers)
  test(
    `bare machine: npm ci, npm start and npm run sandbox work for ${user.name} with Node ${user.node} and npm ${user.npm}${withoutBareMachine}`,
    { skip: withoutBareMachine !== '' },
    () => tryCommands(user),
  );
