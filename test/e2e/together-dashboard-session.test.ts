/** Runs the tests of the dashboard on an empty server, and of the page of one session. The files of the folder share a process and a browser. */
import { Dashboard } from '#test/support/dashboard.ts';
import { runTogether } from '#test/support/together.ts';

Dashboard.keep();
runTogether('test/e2e/together/dashboard-session');
