/** For `node --import`: moves the monotonic clock of this process by CLOCK_JUMP_MS at each SIGUSR2. Timers do not change. */
const jump = Number(process.env['CLOCK_JUMP_MS'] ?? 0);
const now = performance.now.bind(performance);
let shift = 0;
process.on('SIGUSR2', () => void (shift += jump));
Object.defineProperty(performance, 'now', { value: () => now() + shift });
