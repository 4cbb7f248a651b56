/** Gateways that are killed with the default settings: each file of the folder leaves the gateway running for the next. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
runTogether('test/e2e/together/kills');
