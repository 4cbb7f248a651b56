/** Runs the tests of dashboard pages in a real browser, with the default settings. The files of the folder share a gateway and a browser. */
import { Dashboard } from '#test/support/dashboard.ts';
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
Dashboard.keep();
runTogether('test/e2e/together/dashboard-pages');
