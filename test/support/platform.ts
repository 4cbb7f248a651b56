/** The simulated platform inside the test's process: it outlives every gateway that is killed, and its counters are the oracle. */
import type { History, Sandbox } from '#src/sandbox/face.ts';
import { type SandboxOptions, startSandbox } from '#src/sandbox/server.ts';
import { silenceSignal } from '#src/sandbox/silence.ts';
import { removeFolder, temporaryFolder } from './processes.ts';

export interface TestPlatform {
  /** WebSocket address for the gateway. */
  readonly url: string;
  readonly sandbox: Sandbox;
  /** The phone scans the picture itself, over the control interface. */
  scan(input: { readonly qrcode: string; readonly number: string; readonly name?: string; readonly history?: History }): Promise<void>;
  close(): Promise<void>;
}

/** `tap`: called with every stanza, encoded. `kept`: the folder of what the platform knows already; the caller removes it. */
export const openPlatform = async (tap?: SandboxOptions['tap'], kept?: string): Promise<TestPlatform> => {
  silenceSignal();
  const dataDir = kept ?? temporaryFolder();
  const { port, sandbox, stop } = await startSandbox({ port: 0, dataDir, tap });
  return {
    url: `ws://127.0.0.1:${port}/ws/chat`,
    sandbox,
    async scan(input) {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`http://127.0.0.1:${port}/phones/scan`, { method: 'POST', headers, body: JSON.stringify(input) });
      if (!response.ok) throw new Error(`the phone could not scan the picture: ${await response.text()}`);
    },
    async close() {
      await stop();
      if (kept === undefined) await removeFolder(dataDir);
    },
  };
};
