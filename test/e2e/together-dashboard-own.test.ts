/** Runs the dashboard tests that need a gateway with settings, counts or users of its own. The files of the folder share a process and a browser. */
import { Dashboard } from '#test/support/dashboard.ts';
import { runTogether } from '#test/support/together.ts';

Dashboard.keep();
runTogether('test/e2e/together/dashboard-own');
