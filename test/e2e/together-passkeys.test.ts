/** Runs the tests of accounts with a passkey, on a gateway whose clock jumps. The files of the folder share a gateway. */
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';
import { Dashboard } from '#test/support/dashboard.ts';
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep({ NODE_OPTIONS: `--import=${join(root, 'test/support/monotonic-jump.ts')}`, CLOCK_JUMP_MS: '301000' });
Dashboard.keep();
runTogether('test/e2e/together/passkeys');
