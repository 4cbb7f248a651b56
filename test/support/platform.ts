/** The simulated platform inside the test process. It survives every kill of a gateway, and tests assert on its counters. */
import type { History, Sandbox } from '#src/sandbox/interface.ts';
import { type SandboxOptions, startSandbox } from '#src/sandbox/server.ts';
import { silenceSignal } from '#src/sandbox/silence.ts';
import { removeFolder, temporaryFolder } from './processes.ts';

export interface TestPlatform {
  /** The WebSocket address for the gateway. */
  readonly url: string;
  readonly sandbox: Sandbox;
  /** Scans the picture of a QR code with the phone, over the control interface. */
  scan(input: { readonly qrcode: string; readonly number: string; readonly name?: string; readonly history?: History }): Promise<void>;
  close(): Promise<void>;
}

/** Opens the platform. `tap` is called with every encoded stanza. `kept` is a folder with data of an earlier platform, which the caller removes. */
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
